// SPDX-License-Identifier: Apache-2.0
// Lane mode: each lane does a list of collectives under its half's mask.
#include "kernel.h"

struct Call {
  std::uint32_t kind, b, c, pad;
};
struct Params {
  const Call *calls;
  std::uint32_t count;
  std::uint32_t split;          // lanes below it form one group, the others another
  const std::uint64_t *values;  // [call][thread]
  std::uint64_t *results;       // [call][thread]
  std::uint32_t *predicates;    // [call][thread]
};

extern "C" void strata_entry(Warp *warp) {
  const auto &p = params<Params>(warp);
  const std::uint32_t threads = warp->block->threads, thread = warp->index * 32 + warp->lane;
  const std::uint32_t low = p.split >= 32 ? ~0u : (1u << p.split) - 1;
  const std::uint32_t mask = warp->lanes & (warp->lane < p.split ? low : ~low);
  for (std::uint32_t i = 0; i < p.count; ++i) {
    // Lanes come at different times.
    for (std::uint32_t n = 0; n < (warp->lane * 7 + i) % 5; ++n) runtime(warp).yield(warp);
    std::uint32_t predicate = 77;
    std::uint64_t at = std::uint64_t(i) * threads + thread;
    p.results[at] =
        runtime(warp).laneCollective(warp, p.calls[i].kind, mask, p.values[at], p.calls[i].b, p.calls[i].c, &predicate);
    p.predicates[at] = predicate;
  }
}
