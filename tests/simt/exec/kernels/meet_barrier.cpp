// SPDX-License-Identifier: Apache-2.0
// Blocks wait until so many have come, with a barrier in every round of the waiting loop; the first end at once.
#include "kernel.h"

struct Params {
  std::uint32_t *arrived;
  std::uint32_t first, wanted;
};

extern "C" void strata_entry(Warp *warp) {
  const auto &p = params<Params>(warp);
  if (blockNumber(warp->block) < p.first) return;
  if (warp->index == 0) __atomic_fetch_add(p.arrived, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(p.arrived, __ATOMIC_RELAXED) < p.wanted) {
    runtime(warp).barrier(warp, 0, 0, warp->lanes);
    runtime(warp).yield(warp);
  }
}
