// SPDX-License-Identifier: Apache-2.0
// A variable that only the leader has set is handed to a shuffle: the idiom of warp-aggregated atomics. What the other
// lanes give does not matter, and must not make the compiler think that all lanes are leaders.
#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;
constexpr int kThreads = 96, kBlocks = 4;

__global__ void byShuffle(int *count, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int base;
  if (i % 32 == 0) base = atomicAdd(count, 32);
  base = __shfl_sync(~0u, base, 0);
  out[base + i % 32] = i;
}

__global__ void byTile(int *count, int *out) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int base;
  if (tile.thread_rank() == 0) base = atomicAdd(count, 16);
  base = tile.shfl(base, 0);
  out[base + tile.thread_rank()] = i;
}

template <typename T>
__device__ T fromLeader(const cg::coalesced_group &group, T value) { return group.shfl(value, 0); }

__global__ void byCoalesced(int *count, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 3 == 1) return;
  auto group = cg::coalesced_threads();
  int base;
  if (group.thread_rank() == 0) base = atomicAdd(count, (int)group.size());
  out[fromLeader(group, base) + group.thread_rank()] = i;
}

// Every index that `expected` names stands in `out` exactly once.
void check(void (*kernel)(int *, int *), bool (*expected)(int)) {
  int *memory;
  CHECK_CUDA(cudaMallocManaged(&memory, (1 + kThreads * kBlocks) * sizeof(int)));
  for (int i = 0; i <= kThreads * kBlocks; ++i) memory[i] = i ? -1 : 0;
  kernel<<<kBlocks, kThreads>>>(memory, memory + 1);
  CHECK_CUDA(cudaDeviceSynchronize());
  int seen[kThreads * kBlocks] = {}, total = 0;
  for (int i = 0; i < kThreads * kBlocks; ++i) total += expected(i);
  CHECK(memory[0] == total);
  for (int i = 0; i < total; ++i) ++seen[memory[1 + i]];
  for (int i = 0; i < kThreads * kBlocks; ++i) CHECK(seen[i] == (expected(i) ? 1 : 0));
  CHECK_CUDA(cudaFree(memory));
}

int main() {
  check(byShuffle, [](int) { return true; });
  check(byTile, [](int) { return true; });
  check(byCoalesced, [](int i) { return i % 3 != 1; });
  return 0;
}
