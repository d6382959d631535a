// SPDX-License-Identifier: Apache-2.0
// Lane mode: the lanes of all warps take a lock in turn, a barrier in the middle; half the lanes end early.
#include "kernel.h"

struct Params {
  std::uint32_t *lock;
  std::uint32_t *counter;
  std::uint32_t *active;  // per thread: activemask where the even lanes are
};

static void increment(Warp *warp, const Params &p) {
  std::uint32_t expected = 0;
  while (!__atomic_compare_exchange_n(p.lock, &expected, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    expected = 0;
    runtime(warp).yield(warp);
  }
  const std::uint32_t before = *p.counter;
  runtime(warp).yield(warp);
  *p.counter = before + 1;
  __atomic_store_n(p.lock, 0, __ATOMIC_RELEASE);
}

extern "C" void strata_entry(Warp *warp) {
  const auto &p = params<Params>(warp);
  increment(warp, p);
  if (warp->lane % 2) return;
  runtime(warp).barrier(warp, 0, 0, 1u << warp->lane);
  p.active[warp->index * 32 + warp->lane] =
      static_cast<std::uint32_t>(runtime(warp).laneCollective(warp, 20, 0, 0, 0, 0, nullptr));
  increment(warp, p);
}
