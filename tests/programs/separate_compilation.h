// SPDX-License-Identifier: Apache-2.0
#pragma once

using Function = int (*)(int);

extern __device__ int shared;
extern __device__ int twice(int x);
extern __device__ Function pick(bool add);
extern __global__ void applyOther(int *data);
void runStatic(int *data);
