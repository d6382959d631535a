// SPDX-License-Identifier: Apache-2.0
// A cooperative launch: the grid's barrier as cooperative_groups builds it, by atomics on global memory.
#include "kernel.h"

struct Params {
  std::uint32_t *values;  // per block
  std::uint32_t *errors;
  std::uint32_t rounds;
};

extern "C" void strata_entry(Warp *warp) {
  const auto &p = params<Params>(warp);
  const Block *block = warp->block;
  const std::uint32_t *grid = block->launch->gridDim;
  const std::uint32_t blocks = grid[0] * grid[1] * grid[2], number = static_cast<std::uint32_t>(blockNumber(block));
  auto *arrived = reinterpret_cast<std::uint32_t *>(block->launch->gridWorkspace) + 1;
  for (std::uint32_t round = 1; round <= p.rounds; ++round) {
    if (warp->index == 0) __atomic_store_n(&p.values[number], round * (number + 1), __ATOMIC_RELAXED);
    runtime(warp).barrier(warp, 0, 0, warp->lanes);
    if (warp->index == 0) {
      __atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL);
      while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < (2 * round - 1) * blocks) runtime(warp).nanosleep(warp, 64);
    }
    runtime(warp).barrier(warp, 0, 0, warp->lanes);
    const std::uint32_t other = (number + round + warp->index) % blocks;
    if (__atomic_load_n(&p.values[other], __ATOMIC_RELAXED) != round * (other + 1))
      __atomic_fetch_add(p.errors, 1, __ATOMIC_RELAXED);
    runtime(warp).barrier(warp, 0, 0, warp->lanes);
    if (warp->index == 0) {
      __atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL);
      while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < 2 * round * blocks) runtime(warp).nanosleep(warp, 64);
    }
    runtime(warp).barrier(warp, 0, 0, warp->lanes);
  }
}
