// SPDX-License-Identifier: Apache-2.0
// Gives a loop that lanes leave at different times a version for the rounds that all 32 lanes run, as the rounds of
// a grid-stride loop are but for the last: masks are constant there, accesses need none, and "does every lane stay?" is
// one scalar comparison where the lanes' counters differ by constants.
//
//   p: br h                                 p:      br strata.warp.full(true), p.full, p.some
//   h: …                                →   h.full: …; br strata.warp.full(%stay), h.full, h.rest
//      br %stay, h, exit                    h.rest: br %stay, p.some, exit          ; the lanes that stay go on
//                                           p.some: br h                            ; the loop as it was
//
// Where such a loop steps far from round to round, warps take turns in it (strata.turn), each for some rounds.
//
// An exit elsewhere than at the end of a round starts the round again in the loop as it was, if nothing before it has
// an effect. Before and after: a function in the form of simt/passes/lane/prepare.h.
#pragma once

#include "simt/analysis/thread_index.h"

namespace llvm {
class Function;
}

namespace strata::simt {

// A kernel's attribute: turns are so long that other blocks may have theirs in between (Runtime::turn).
inline constexpr const char *kSideBySide = "strata.side_by_side";

void specializeFullRounds(llvm::Function &function, const ThreadIndex &threads);

}  // namespace strata::simt
