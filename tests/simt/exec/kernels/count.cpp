// SPDX-License-Identifier: Apache-2.0
// Barrier-free: counts each thread of the grid once.
#include "kernel.h"

struct Params {
  std::uint32_t *counts;  // per thread of the grid
  std::uint64_t *smIds;   // a bit per %smid seen
};

extern "C" void strata_entry(Block *block, Warp *warp) {
  warp->block = block;
  const auto &p = params<Params>(warp);
  std::uint32_t *counts = p.counts + blockNumber(block) * block->threads;
  for (std::uint32_t w = 0; w < block->warps; ++w) {
    warp->index = w;
    for (std::uint32_t lane = 0; lane < 32 && w * 32 + lane < block->threads; ++lane) counts[w * 32 + lane] += 1;
  }
  __atomic_fetch_or(p.smIds, std::uint64_t{1} << block->smId, __ATOMIC_RELAXED);
}
