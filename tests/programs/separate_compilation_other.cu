// SPDX-License-Identifier: Apache-2.0
#include "separate_compilation.h"

static __device__ int seed = 7;
static __device__ int scale(int x) { return x * seed; }
static __device__ int add(int x) { return x + seed; }

static __device__ int numbers[] = {11, 22, 33};
__device__ const int *third = numbers + 2;
__device__ Function operations[2] = {add, scale};
__device__ const int factor = 3;
__device__ const int weights[32] = {2, 3, 5, 7, 11, 13};
__constant__ int offset = 40;
static __device__ const int hidden[32] = {1, 4, 9};  // found by the host, too
__device__ Node there = {4, &here};

__device__ int twice(int x) { return 2 * x; }
__device__ Function pick(bool adds) { return adds ? add : scale; }

__global__ void applyOther(int *data) { data[threadIdx.x] = add(threadIdx.x) + shared; }

static __global__ void apply(int *data) { data[threadIdx.x] = scale(threadIdx.x); }

void runStatic(int *data) { apply<<<1, 32>>>(data); }

static __global__ void useHidden(int *data) { data[threadIdx.x] = hidden[threadIdx.x] + weights[threadIdx.x] * factor; }
bool hiddenAsExpected(int *data) {
  int host[32], out[32];
  useHidden<<<1, 32>>>(data);
  if (cudaMemcpyFromSymbol(host, hidden, sizeof host) != cudaSuccess || cudaMemcpy(out, data, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return false;
  for (int i = 0; i < 32; ++i)
    if (host[i] != (i < 3 ? (i + 1) * (i + 1) : 0) || (i > 5 && out[i] != host[i]) || (i == 1 && out[i] != 4 + 3 * 3)) return false;
  return true;
}
