// SPDX-License-Identifier: Apache-2.0
// Device code in two files: functions, variables and kernels across them, statics of the same name in each, and
// calls through a pointer to a function of the other file; initialisers that name variables of the other file.
#include "separate_compilation.h"

#include "check.h"

static __device__ int seed = 100;  // the other file has one too
static __device__ int scale(int x) { return x * 10; }
__device__ int shared = 1;
__device__ Node here = {3, &there};

static __global__ void apply(int *data) {
  Function function = pick(threadIdx.x % 2);
  data[threadIdx.x] = scale(twice(threadIdx.x)) + function(seed) + shared;
}

static __global__ void follow(int *data) {
  const Node *node = threadIdx.x % 2 ? &here : &there;
  data[threadIdx.x] = *third + operations[threadIdx.x % 2](threadIdx.x) + 1000 * (node->value * 10 + node->next->value) + 100000 * (node->next->next == node);
}

static __global__ void useConstants(int *data) { data[threadIdx.x] = weights[threadIdx.x] * factor + offset; }

int main() {
  int *data, host[32], bump = 5;
  CHECK_CUDA(cudaMalloc(&data, sizeof host));
  CHECK_CUDA(cudaMemcpyToSymbol(seed, &bump, sizeof bump));
  CHECK_CUDA(cudaMemcpyToSymbol(shared, &bump, sizeof bump));
  apply<<<1, 32>>>(data);
  CHECK_CUDA(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) CHECK(host[i] == 20 * i + (i % 2 ? 5 + 7 : 5 * 7) + 5);
  applyOther<<<1, 32>>>(data);
  CHECK_CUDA(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) CHECK(host[i] == i + 7 + 5);
  runStatic(data);
  CHECK_CUDA(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) CHECK(host[i] == 7 * i);
  follow<<<1, 32>>>(data);
  CHECK_CUDA(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) CHECK(host[i] == 33 + (i % 2 ? 7 * i + 34000 : i + 7 + 43000) + 100000);
  useConstants<<<1, 32>>>(data);
  CHECK_CUDA(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  const int first[] = {2, 3, 5, 7, 11, 13};
  for (int i = 0; i < 32; ++i) CHECK(host[i] == (i < 6 ? first[i] * 3 : 0) + 40);
  CHECK(hiddenAsExpected(data));
  CHECK_CUDA(cudaFree(data));
  return 0;
}
