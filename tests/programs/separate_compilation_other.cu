// SPDX-License-Identifier: Apache-2.0
#include "separate_compilation.h"

static __device__ int seed = 7;
static __device__ int scale(int x) { return x * seed; }
static __device__ int add(int x) { return x + seed; }

static __device__ int numbers[] = {11, 22, 33};
__device__ const int *third = numbers + 2;
__device__ Function operations[2] = {add, scale};
__device__ Node there = {4, &here};

__device__ int twice(int x) { return 2 * x; }
__device__ Function pick(bool adds) { return adds ? add : scale; }

__global__ void applyOther(int *data) { data[threadIdx.x] = add(threadIdx.x) + shared; }

static __global__ void apply(int *data) { data[threadIdx.x] = scale(threadIdx.x); }

void runStatic(int *data) { apply<<<1, 32>>>(data); }
