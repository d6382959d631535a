// SPDX-License-Identifier: Apache-2.0
// A module of 200 kernels that share variables and functions; a program that launches those it is given.
//   many_kernels [N...]
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "check.h"

__device__ int launched[200];
__device__ int runs;
__constant__ int table[4] = {3, 1, 4, 1};

__device__ __noinline__ int collatz(unsigned n) {
  int steps = 0;
  for (; n != 1; ++steps) n = n % 2 ? 3 * n + 1 : n / 2;
  return steps;
}

template <int N>
__global__ void kernel() {
  if (threadIdx.x) return;
  atomicAdd(&runs, 1);
  launched[N] = collatz(N + 2) + table[N % 4];
}

using Kernel = void (*)();
template <std::size_t... n>
Kernel kernelOf(int number, std::index_sequence<n...>) {
  static const Kernel all[] = {kernel<n>...};
  return all[number];
}

int steps(unsigned n) { return n == 1 ? 0 : 1 + steps(n % 2 ? 3 * n + 1 : n / 2); }

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) kernelOf(std::atoi(argv[i]), std::make_index_sequence<200>())<<<1, 32>>>();
  int got[200] = {}, count = -1;
  const int digits[4] = {3, 1, 4, 1};
  CHECK_CUDA(cudaMemcpyFromSymbol(got, launched, sizeof got));
  CHECK_CUDA(cudaMemcpyFromSymbol(&count, runs, sizeof count));
  int wrong = count != argc - 1;
  for (int i = 1; i < argc; ++i) {
    const int n = std::atoi(argv[i]);
    wrong += std::exchange(got[n], 0) != steps(n + 2) + digits[n % 4];
  }
  for (int value : got) wrong += value != 0;
  std::puts(wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
