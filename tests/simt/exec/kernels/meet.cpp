// SPDX-License-Identifier: Apache-2.0
// Barrier-free: each block is busy for a time, then waits until so many blocks have come.
#include "kernel.h"

struct Params {
  std::uint32_t *running, *most;  // blocks that run now; the most that did at a time
  std::uint32_t *arrived;
  std::uint32_t microseconds, wanted;
};

extern "C" void strata_entry(Block *block, Warp *warp) {
  warp->block = block;
  const auto &p = params<Params>(warp);
  const std::uint32_t now = __atomic_add_fetch(p.running, 1, __ATOMIC_RELAXED);
  std::uint32_t most = __atomic_load_n(p.most, __ATOMIC_RELAXED);
  while (now > most && !__atomic_compare_exchange_n(p.most, &most, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
  const std::uint64_t end = runtime(warp).globaltimer() + std::uint64_t{1000} * p.microseconds;
  while (runtime(warp).globaltimer() < end) {}
  __atomic_fetch_add(p.arrived, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(p.arrived, __ATOMIC_RELAXED) < p.wanted) runtime(warp).yield(warp);
  __atomic_fetch_sub(p.running, 1, __ATOMIC_RELAXED);
}
