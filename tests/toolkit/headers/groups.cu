// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: tiles, coalesced groups, partitions, reductions, scans, copies, and a grid that synchronises
// again and again.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

// Each check that fails adds 1 to failures[its number].
__device__ void expect(bool holds, int *failures, int number) {
  if (!holds) atomicAdd(&failures[number], 1);
}

__global__ void groups(const int *input, int *failures) {
  __shared__ int copied[256];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  auto tile = cg::tiled_partition<8>(warp);
  int rank = static_cast<int>(block.thread_rank()), lane = rank % 32;
  expect(warp.thread_rank() == static_cast<unsigned>(lane) && warp.meta_group_rank() == static_cast<unsigned>(rank / 32), failures, 0);
  expect(tile.meta_group_size() == 4 && tile.meta_group_rank() == static_cast<unsigned>(lane / 8), failures, 1);
  expect(cg::reduce(warp, lane, cg::plus<int>()) == 496, failures, 2);
  expect(cg::reduce(tile, static_cast<float>(lane), cg::greater<float>()) == static_cast<float>(lane / 8 * 8 + 7), failures, 3);
  expect(cg::reduce(tile, 1ull << lane, cg::bit_or<unsigned long long>()) == 0xffull << lane / 8 * 8, failures, 4);
  expect(cg::inclusive_scan(tile, 1) == lane % 8 + 1, failures, 5);
  expect(cg::exclusive_scan(warp, lane, cg::plus<int>()) == lane * (lane - 1) / 2, failures, 6);
  expect(tile.ballot(lane % 3 == 0) == ([&] {
           unsigned bits = 0;
           for (int i = 0; i < 8; ++i) bits |= static_cast<unsigned>((lane / 8 * 8 + i) % 3 == 0) << i;
           return bits;
         })(),
         failures, 7);
  double moved = tile.shfl_down(static_cast<double>(lane) + 0.5, 1);
  expect(moved == (lane % 8 == 7 ? lane : lane + 1) + 0.5, failures, 8);
  if (lane % 3 == 1) {
    cg::coalesced_group some = cg::coalesced_threads();
    expect(some.size() == 11 && some.thread_rank() == static_cast<unsigned>(lane / 3), failures, 9);
    expect(some.shfl(lane, 2) == 7, failures, 10);
    expect(cg::reduce(some, lane, cg::plus<int>()) == 176, failures, 11);
    expect(cg::inclusive_scan(some, 1) == lane / 3 + 1, failures, 12);
    expect(some.ballot(lane > 15) == 0x7e0u, failures, 13);
  }
  warp.sync();
  auto label = cg::labeled_partition(warp, lane / 5);
  expect(label.size() == (lane < 30 ? 5u : 2u) && label.meta_group_size() == 7, failures, 14);
  auto half = cg::binary_partition(warp, lane < 10);
  expect(half.size() == (lane < 10 ? 10u : 22u), failures, 15);
  cg::thread_group dynamic = cg::tiled_partition(block, 16);
  expect(dynamic.size() == 16 && dynamic.thread_rank() == static_cast<unsigned>(rank % 16), failures, 16);
  cg::memcpy_async(block, copied, input, sizeof copied);
  cg::wait(block);
  expect(copied[255 - rank] == input[255 - rank], failures, 17);
  struct Three {
    int a;
    short b;
    char c[5];
  } three = {lane, static_cast<short>(-lane), "abc"};
  Three other = warp.shfl_xor(three, 3);
  expect(other.a == (lane ^ 3) && other.b == -(lane ^ 3) && other.c[2] == 'c', failures, 18);
}

// Every block adds 1 to the slot of the round; after the barrier each must see all of them.
__global__ void rounds(unsigned *slots, int count, int *failures) {
  cg::grid_group grid = cg::this_grid();
  for (int round = 0; round < count; ++round) {
    if (threadIdx.x == 0) atomicAdd(&slots[round], 1u);
    grid.sync();
    unsigned seen = *reinterpret_cast<volatile unsigned *>(&slots[round]);
    expect(seen == gridDim.x, failures, 19);
    grid.sync();
  }
}

int main() {
  const int kChecks = 20;
  int *input, *failures;
  unsigned *slots;
  std::vector<int> host(256);
  for (int i = 0; i < 256; ++i) host[i] = i * 7919;
  cudaMalloc(&input, sizeof(int) * 256);
  cudaMalloc(&failures, sizeof(int) * kChecks);
  cudaMalloc(&slots, sizeof(unsigned) * 64);
  cudaMemcpy(input, host.data(), sizeof(int) * 256, cudaMemcpyHostToDevice);
  cudaMemset(failures, 0, sizeof(int) * kChecks);
  groups<<<3, 256>>>(input, failures);
  for (int launch = 0; launch < 5; ++launch) {
    cudaMemset(slots, 0, sizeof(unsigned) * 64);
    int count = 64;
    void *arguments[] = {&slots, &count, &failures};
    cudaError_t error = cudaLaunchCooperativeKernel(rounds, dim3(launch + 1), dim3(64), arguments, 0, 0);
    if (error) return std::printf("launch: %s\n", cudaGetErrorString(error)), 1;
  }
  std::vector<int> found(kChecks, -1);
  cudaError_t error = cudaMemcpy(found.data(), failures, sizeof(int) * kChecks, cudaMemcpyDeviceToHost);
  if (error) return std::printf("%s\n", cudaGetErrorString(error)), 1;
  int wrong = 0;
  for (int i = 0; i < kChecks; ++i)
    if (found[i] && ++wrong) std::printf("check %d failed in %d threads\n", i, found[i]);
  std::printf("%s\n", wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
