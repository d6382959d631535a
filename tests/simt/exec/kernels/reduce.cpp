// SPDX-License-Identifier: Apache-2.0
// barrier.red, and named barriers between a producer and consumers.
#include "kernel.h"

struct Params {
  std::uint32_t *out;               // 4 words per warp
  const std::uint32_t *predicates;  // per warp
  std::uint32_t items;
};

extern "C" void strata_entry(Warp *warp) {
  const auto &p = params<Params>(warp);
  const Block *block = warp->block;
  std::uint32_t *out = p.out + warp->index * 4;
  const std::uint32_t predicates = p.predicates[warp->index] & warp->lanes;
  for (std::uint32_t op = 0; op < 3; ++op)
    out[op] = runtime(warp).barrierReduce(warp, 3, 0, warp->lanes, predicates, op);

  // Warp 0 produces: it waits until all have emptied the slot (barrier 1) and announces a value (barrier 2).
  auto *slot = reinterpret_cast<volatile std::uint32_t *>(block->shared);
  const std::uint32_t all = block->warps * 32;
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < p.items; ++i) {
    if (warp->index == 0) {
      runtime(warp).barrier(warp, 1, all, warp->lanes);
      *slot = i * i;
      runtime(warp).barrierArrive(warp, 2, all, warp->lanes);
    } else {
      runtime(warp).barrierArrive(warp, 1, all, warp->lanes);
      runtime(warp).barrier(warp, 2, all, warp->lanes);
      sum += *slot;
    }
  }
  out[3] = sum;
}
