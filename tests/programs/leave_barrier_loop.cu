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

// Ways out of a loop with barriers: thread t, with key k, leaves in round r, and what it wrote is in said[t].
#define SAY(value) (said[t] = (value), left[t] = r)
#define STAY_UNLESS_LEFT(...)               \
  said[t] = -7;                             \
  __syncthreads();                          \
  for (int r = 0;; ++r) {                   \
    __VA_ARGS__                             \
    __syncthreads();                        \
    sums[t] += said[(t + 3) % blockDim.x];  \
    __syncthreads();                        \
  }
template <int form>
__device__ void leave(int *said, int k, int *left, int *sums, int rounds) {
  const int t = threadIdx.x;
  if constexpr (form == 0) {
    STAY_UNLESS_LEFT(if (k == 0) { SAY(1); break; } if (r == 2) { SAY(6); break; })
  } else if constexpr (form == 1) {
    STAY_UNLESS_LEFT(if (r > rounds) return; if (k == 0) { SAY(r); return; } if (k == 1 && r == 2) { SAY(r * 3); return; })
  } else if constexpr (form == 2) {
    STAY_UNLESS_LEFT(if (k < 2) { if (k == 0) { SAY(r + 1); return; } if (r == rounds) { SAY(5); break; } } if (r > rounds) { SAY(9); break; })
  } else if constexpr (form == 3) {
    STAY_UNLESS_LEFT(switch (k + (r > rounds ? 10 : 0)) {
      case 0: SAY(r); return;
      case 1: if (r == 2) { SAY(r * 3); return; } break;
      case 2: case 3: break;
      default: return;
    })
  } else if constexpr (form == 4) {
    STAY_UNLESS_LEFT(if (k == 0 || (k == 1 && r == 2)) { SAY(r * 3); return; } if (r > rounds) return;)
  } else {
    for (int base = 0;; base += 3) {  // out of two loops at once
      for (int i = 0; i < 3; ++i) {
        const int r = base + i;
        if (r == 0) said[t] = -7, __syncthreads();
        if (r > rounds) {
          if (k == 2) SAY(4);
          goto out;
        }
        switch (k) {
          case 0: SAY(r); goto out;
          case 1: if (r == 2) { SAY(r * 3); return; } break;
          default: break;
        }
        __syncthreads();
        sums[t] += said[(t + 3) % blockDim.x];
        __syncthreads();
      }
    }
  out:;
  }
}
template <int form>
__global__ void leaveShared(const int *keys, int *, int *left, int *sums, int rounds) {
  __shared__ int said[64];
  leave<form>(said, keys[threadIdx.x], left, sums, rounds);
}
template <int form>
__global__ void leaveGlobal(const int *keys, int *said, int *left, int *sums, int rounds) {
  leave<form>(said, keys[threadIdx.x], left, sums, rounds);
}

constexpr int kStays = -100, kSilent = -200;
// What a thread says in round r.
int says(int form, int k, int r, int rounds) {
  switch (form) {
  case 0: return k == 0 ? 1 : r == 2 ? 6 : kStays;
  case 1: return r > rounds ? kSilent : k == 0 ? r : k == 1 && r == 2 ? 6 : kStays;
  case 2: return k == 0 ? r + 1 : k == 1 && r == rounds ? 5 : r > rounds ? 9 : kStays;
  case 3: return r > rounds ? kSilent : k == 0 ? r : k == 1 && r == 2 ? 6 : kStays;
  case 4: return k == 0 || (k == 1 && r == 2) ? r * 3 : r > rounds ? kSilent : kStays;
  default: return r > rounds ? (k == 2 ? 4 : kSilent) : k == 0 ? r : k == 1 && r == 2 ? 6 : kStays;
  }
}

using Leave = void (*)(const int *, int *, int *, int *, int);

void checkForm(int form, Leave kernel, int threads, std::mt19937 &random) {
  const int rounds = 1 + static_cast<int>(random() % 5);
  std::vector<int> keys(64), said(64, -7), left(64, -1), sums(64, 0), got(64);
  for (int &key : keys) key = static_cast<int>(random() % 4);
  int *memory[4];
  for (int *&m : memory) CHECK_CUDA(cudaMalloc(&m, 256));
  CHECK_CUDA(cudaMemcpy(memory[0], keys.data(), 256, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(memory[2], 0xff, 256));
  CHECK_CUDA(cudaMemset(memory[3], 0, 256));
  kernel<<<1, threads>>>(memory[0], memory[1], memory[2], memory[3], rounds);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::vector<bool> gone(64);
  for (int r = 0; r <= rounds + 2; ++r) {
    for (int t = 0; t < threads; ++t) {
      const int value = says(form, keys[t], r, rounds);
      if (gone[t] || value == kStays) continue;
      gone[t] = true;
      if (value != kSilent) said[t] = value, left[t] = r;
    }
    for (int t = 0; t < threads; ++t)
      if (!gone[t]) sums[t] += said[(t + 3) % threads];
  }
  CHECK_CUDA(cudaMemcpy(got.data(), memory[2], 256, cudaMemcpyDeviceToHost));
  CHECK(got == left);
  CHECK_CUDA(cudaMemcpy(got.data(), memory[3], 256, cudaMemcpyDeviceToHost));
  CHECK(got == sums);
  for (int *m : memory) CHECK_CUDA(cudaFree(m));
}

template <int form>
void checkForms(std::mt19937 &random) {
  for (int threads : {32, 40, 64})
    for (Leave kernel : {leaveShared<form>, leaveGlobal<form>}) checkForm(form, kernel, threads, random);
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
  checkForms<0>(random);
  checkForms<1>(random);
  checkForms<2>(random);
  checkForms<3>(random);
  checkForms<4>(random);
  checkForms<5>(random);
  return 0;
}
