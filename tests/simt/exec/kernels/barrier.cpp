// SPDX-License-Identifier: Apache-2.0
// Warps pass values around through shared memory, a barrier after each step; warps end at different times.
#include "kernel.h"

struct Params {
  std::uint32_t *out;  // per warp of the grid
  std::uint32_t rounds;
};

extern "C" void strata_entry(Warp *warp) {
  const auto &p = params<Params>(warp);
  const Block *block = warp->block;
  auto *shared = reinterpret_cast<volatile std::uint32_t *>(block->shared);
  const std::uint32_t warps = block->warps;
  std::uint32_t value = warp->index + static_cast<std::uint32_t>(blockNumber(block)) * 1000;
  for (std::uint32_t round = 0; round < p.rounds; ++round) {
    shared[warp->index] = value;
    runtime(warp).barrier(warp, 0, 0, warp->lanes);
    value = shared[(warp->index + 1) % warps];
    runtime(warp).barrier(warp, 0, 0, warp->lanes);
  }
  // The last warp is gone: the others' barriers do not wait for it.
  if (warp->index + 1 != warps)
    for (std::uint32_t round = 0; round < 3; ++round) runtime(warp).barrier(warp, 15, 0, warp->lanes);
  p.out[blockNumber(block) * warps + warp->index] = value;
}
