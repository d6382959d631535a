// SPDX-License-Identifier: Apache-2.0
#pragma once

using Function = int (*)(int);

struct Node {
  int value;
  const Node *next;
};

extern __device__ int shared;
extern __device__ const int *third;  // defined behind the static variable that it points into
extern __device__ Function operations[2];
extern __device__ Node here, there;  // a ring through both files
extern __device__ const int factor;  // constants too are global memory
extern __device__ const int weights[32];
extern __constant__ int offset;
extern __device__ int twice(int x);
extern __device__ Function pick(bool add);
extern __global__ void applyOther(int *data);
void runStatic(int *data);
bool hiddenAsExpected(int *data);
