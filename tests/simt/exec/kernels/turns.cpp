// SPDX-License-Identifier: Apache-2.0
// Counts each block, lets others take turns, and notes how many blocks had begun by then on this thread.
#include "kernel.h"

struct Params {
  std::uint32_t *counts;   // per block
  std::uint32_t *besides;  // per block: of its neighbours in the launch, how many had begun when its turn was over
  std::uint32_t blocks, turns;
};

extern "C" void strata_entry(Block *block, Warp *warp) {
  const auto &p = params<Params>(warp);
  const std::uint64_t number = blockNumber(block);
  auto *own = reinterpret_cast<std::uint32_t *>(block->shared);
  *own = static_cast<std::uint32_t>(number);
  p.counts[number] += 1;
  for (std::uint32_t turn = 0; turn < p.turns; ++turn) runtime(warp).turn(warp);
  if (*own != number) p.counts[number] += 100;  // shared memory is each block's own
  for (std::uint64_t other = number; other < number + 4 && other < p.blocks; ++other)
    p.besides[number] += p.counts[other] != 0;
}
