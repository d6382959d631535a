// SPDX-License-Identifier: Apache-2.0
// Blocks of a cluster read each other's shared memory between cluster barriers.
#include "kernel.h"

struct Params {
  std::uint32_t *out;  // per block of the grid: what the next rank wrote
};

extern "C" void strata_entry(Warp *warp) {
  const auto &p = params<Params>(warp);
  const Block *block = warp->block;
  const std::uint32_t *extent = block->launch->clusterDim;
  const std::uint32_t size = extent[0] * extent[1] * extent[2], rank = block->clusterCtaRank;
  auto *mine = reinterpret_cast<volatile std::uint32_t *>(block->shared);
  if (warp->index == 0) *mine = static_cast<std::uint32_t>(blockNumber(block)) + 1;
  runtime(warp).clusterArrive(warp, warp->lanes);
  runtime(warp).clusterWait(warp, warp->lanes);
  const std::uint32_t next = (rank + 1) % size;
  const std::uint8_t *other =
      block->shared + (std::int64_t(next) - std::int64_t(rank)) * std::int64_t(block->launch->sharedStride);
  if (warp->index == 0) p.out[blockNumber(block)] = *reinterpret_cast<const volatile std::uint32_t *>(other);
  runtime(warp).clusterArrive(warp, warp->lanes);
  runtime(warp).clusterWait(warp, warp->lanes);
}
