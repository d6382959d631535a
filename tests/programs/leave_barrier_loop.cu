// SPDX-License-Identifier: Apache-2.0
// Threads that leave a loop with barriers at different rounds, write, and end: those that stay count on it, since a barrier waits for
// all threads that have not ended.
#include <random>
#include <vector>

#include "check.h"

// Thread t leaves in round leaves[t]. In each round the others count those that have said so.
__global__ void countGone(const int *leaves, int *gone, int *counts, int rounds) {
  __shared__ int said[256];
  int t = threadIdx.x;
  said[t] = 0;
  __syncthreads();
  for (int round = 0; round < rounds; ++round) {
    if (leaves[blockIdx.x * 256 + t] == round) {
      said[t] = 1;
      gone[blockIdx.x * 256 + t] = round;
      return;
    }
    __syncthreads();
    int count = 0;
    for (int i = 0; i < 256; ++i) count += said[i];
    counts[(blockIdx.x * rounds + round) * 256 + t] = count;
    __syncthreads();
  }
}

// Each thread waits in the loop for the one before it.
__global__ void chain(int *order) {
  __shared__ volatile int next;
  int t = threadIdx.x;
  if (t == 0) next = 0;
  __syncthreads();
  for (int round = 0;; ++round) {
    bool mine = next == t;
    __syncthreads();
    if (mine) {
      order[t] = round;
      next = t + 1;
      break;
    }
    __syncthreads();
  }
}

int main() {
  constexpr int kBlocks = 5, kRounds = 9;
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  std::vector<int> leaves(kBlocks * 256);
  for (int &round : leaves) round = static_cast<int>(random() % (kRounds + 3));
  int *dLeaves, *dGone, *dCounts, *dOrder;
  CHECK_CUDA(cudaMalloc(&dLeaves, leaves.size() * 4));
  CHECK_CUDA(cudaMalloc(&dGone, leaves.size() * 4));
  CHECK_CUDA(cudaMalloc(&dCounts, leaves.size() * kRounds * 4));
  CHECK_CUDA(cudaMalloc(&dOrder, 96 * 4));
  CHECK_CUDA(cudaMemcpy(dLeaves, leaves.data(), leaves.size() * 4, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(dGone, 0xff, leaves.size() * 4));
  CHECK_CUDA(cudaMemset(dCounts, 0xff, leaves.size() * kRounds * 4));
  countGone<<<kBlocks, 256>>>(dLeaves, dGone, dCounts, kRounds);
  chain<<<1, 96>>>(dOrder);
  std::vector<int> gone(leaves.size()), counts(leaves.size() * kRounds), order(96);
  CHECK_CUDA(cudaMemcpy(gone.data(), dGone, gone.size() * 4, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(counts.data(), dCounts, counts.size() * 4, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(order.data(), dOrder, order.size() * 4, cudaMemcpyDeviceToHost));
  for (int b = 0; b < kBlocks; ++b)
    for (int t = 0; t < 256; ++t) {
      const int round = leaves[b * 256 + t];
      CHECK(gone[b * 256 + t] == (round < kRounds ? round : -1));
      for (int r = 0; r < kRounds; ++r) {
        int left = 0;
        for (int i = 0; i < 256; ++i) left += leaves[b * 256 + i] <= r;
        CHECK(counts[(b * kRounds + r) * 256 + t] == (round <= r ? -1 : left));
      }
    }
  for (int t = 0; t < 96; ++t) CHECK(order[t] == t);
  return 0;
}
