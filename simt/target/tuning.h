// SPDX-License-Identifier: Apache-2.0
// Numbers that were found by measuring, for the processors that x86_tuning.h names. What they mean:
#pragma once

#include <cstdint>

namespace strata::simt {

struct PrefetchReach {
  unsigned rounds;         // ahead
  std::uint64_t followed;  // a fixed stride below this (in what the loop counts) the hardware follows itself
  unsigned level;          // 3: into the first level, 2: into the second
};

struct Tuning {
  std::uint64_t line;       // bytes of a cache line
  unsigned emptyBlockCost;  // vector instructions that cost less than a mispredicted branch

  PrefetchReach plainLoop;
  unsigned fewRounds;  // of a turn (turn: farStep): up to so many, the loop may go on afterwards
  PrefetchReach fewRoundsTurn;
  unsigned longTurnRounds;  // up to so many: rows that are apart by a large power of two meet in few sets of the first
  PrefetchReach longTurn;   // level, which other warps need too
  // Other warps come between, which the hardware does not see through, and whose shared memory and frames the first
  // level is for.
  PrefetchReach barrierLoop;
  unsigned blocksAhead;  // whose first lines are asked for
  unsigned rowsAhead;    // of a block of rows, whose lines will be stored to

  std::uint64_t farStep;  // of a counter or address, from round to round: warps take turns in such a loop
  unsigned turnRounds, narrowTurnRounds;  // narrow: a round reads parts of lines
};

}  // namespace strata::simt

#if defined(__x86_64__)
#include "simt/target/x86_tuning.h"  // IWYU pragma: export
#else
#error "Strata has no simt/target/*_tuning.h for this processor"
#endif
