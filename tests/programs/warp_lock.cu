// SPDX-License-Identifier: Apache-2.0
// A lock that a whole warp holds, as in a concurrent tree: all lanes write what it protects, a fence, and one lane
// gives it back, without __syncwarp() in between.
#include <random>
#include <vector>

#include "check.h"

constexpr unsigned kAll = ~0u;

__device__ unsigned toil[32];  // rounds of each lane; the lane that gives the lock back has none

__global__ void work(unsigned *lock, volatile unsigned *node, unsigned *torn, unsigned rounds) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned r = 0; r < rounds; ++r) {
    int locked = 1;
    while (locked) {
      if (lane == 1) locked = atomicExch(lock, 1u) != 0;
      locked = __shfl_sync(kAll, locked, 1);
    }
    __threadfence();
    const unsigned before = node[lane];
    if (before != __shfl_sync(kAll, before, 0)) atomicAdd(torn, 1u);
    unsigned busy = ~before;  // so that lanes which write late are late
    for (unsigned i = 0; i < toil[lane]; ++i) busy = busy * 1664525 + 1013904223 + (busy >> 7);
    node[lane] = busy == 77 ? before : before + 1;
    __threadfence();
    if (lane == 1) atomicExch(lock, 0u);
  }
}

int main() {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  const unsigned blocks = 2 + random() % 6, warps = 1 + random() % 4, rounds = 20 + random() % 20;
  std::printf("seed %u: %u blocks of %u warps, %u rounds\n", seed, blocks, warps, rounds);
  std::vector<unsigned> toilOf(32, 10000);
  toilOf[0] = toilOf[1] = 0;
  CHECK_CUDA(cudaMemcpyToSymbol(toil, toilOf.data(), sizeof toil));
  unsigned *memory;  // the lock, the count of torn reads, the node
  CHECK_CUDA(cudaMalloc(&memory, 34 * sizeof(unsigned)));
  CHECK_CUDA(cudaMemset(memory, 0, 34 * sizeof(unsigned)));
  work<<<blocks, warps * 32>>>(memory, memory + 2, memory + 1, rounds);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::vector<unsigned> result(34);
  CHECK_CUDA(cudaMemcpy(result.data(), memory, 34 * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(result[1] == 0);
  for (int lane = 0; lane < 32; ++lane) CHECK(result[2 + lane] == blocks * warps * rounds);
  CHECK_CUDA(cudaFree(memory));
  return 0;
}
