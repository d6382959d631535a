// SPDX-License-Identifier: Apache-2.0
// Functions that call one another twice, so often that no compiler could inline them all.
#include <random>
#include <vector>

#include "check.h"

template <int depth>
__host__ __device__ __noinline__ unsigned mix(unsigned x) {
  return mix<depth - 1>(mix<depth - 1>(x ^ depth) * 0x9e3779b1u + (x >> 3));
}
template <>
__host__ __device__ __noinline__ unsigned mix<0>(unsigned x) {
  return x * 1664525u + 1013904223u;
}

__global__ void work(unsigned *values, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = mix<16>(values[i]);
}

int main() {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  std::vector<unsigned> values(1 + random() % 100), result(values.size(), 0xdeadbeef);
  for (unsigned &value : values) value = random();
  const std::size_t bytes = values.size() * sizeof(unsigned);
  unsigned *memory;
  CHECK_CUDA(cudaMalloc(&memory, bytes));
  CHECK_CUDA(cudaMemcpy(memory, values.data(), bytes, cudaMemcpyHostToDevice));
  work<<<4, 32>>>(memory, static_cast<unsigned>(values.size()));
  CHECK_CUDA(cudaMemcpy(result.data(), memory, bytes, cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(result[i] == mix<16>(values[i]));
  CHECK_CUDA(cudaFree(memory));
  return 0;
}
