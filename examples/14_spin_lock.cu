// SPDX-License-Identifier: Apache-2.0
// A spin lock taken by all lanes of a warp: it finishes only if lanes make progress independently
// (CUDA's rule since Volta).
#include "check.h"

__device__ int lock = 0;

__global__ void count(volatile int *total, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence();
    *total = *total + 1;  // not atomic: the lock protects it
    __threadfence();
    atomicExch(&lock, 0);
  }
}

int main(int argc, char **argv) {
  int blocks = argument(argc, argv, 1, 3), rounds = argument(argc, argv, 2, 4);
  const int threads = 64;
  int *total = toDevice(std::vector<int>(1, 0));

  count<<<blocks, threads>>>(total, rounds);
  CHECK(cudaGetLastError());

  int got = toHost(total, 1)[0], want = blocks * threads * rounds;
  Verdict verdict;
  verdict.expect(got == want, "total", 0, got, want);
  CHECK(cudaFree(total));
  return verdict.report("spin lock");
}
