// SPDX-License-Identifier: Apache-2.0
// Where lanes of a warp may wait in collectives for others that come from elsewhere (simt/analysis/meeting_lanes.h), a
// region around these becomes a loop with one place for all its collectives. A round lets each lane run up to its next
// collective; those whose mask's lanes have all come to one of the same kind and mask go on behind theirs, others wait
// for the next round.
//
//   entry: br %c, a, b                      gather: %state = phi [0, %entry], [1, a], [2, b], [%state, wait]
//   a: … %x = shfl(%m, %v) …                        %here = activemask()
//   b: … %y = shfl(%n, %w) …                        %group = match(%here, %mask and kind)
//                                       →           br %mask & %here is in %group, or nobody's is, fires, wait
//                                           fires:  %r = shfl(%group, %value);  switch %state: after.a, after.b, …
//                                           a: … br gather           after.a: %x = %r …
//
// Lanes that have left the region have ended, or cannot come to what others wait at. If no lane's mask is complete,
// activemask gives its lanes, one place of the program after the other, and then all others go on with those that are
// there: as in lane mode.
//
// Before: a function in the form of simt/passes/lane/prepare.h, but that divergent loops may have several exits. After:
// the same, but for loops, which are brought into form afterwards.
#pragma once

#include <optional>
#include <string>

#include "simt/analysis/thread_index.h"

namespace llvm {
class Function;
}

namespace strata::simt {

// Metadata of the jump from a collective that was gathered, at its line.
inline constexpr const char *kGathered = "strata.gathered";

// Attribute of a function in which no lanes meet: nothing is to be done.
inline constexpr const char *kTogether = "strata.together";

// Whether lanes may meet. Loops are simplified.
bool lanesMeet(llvm::Function &function, const ThreadIndex &threads);

// Returns why lanes cannot be gathered, with the lines: the function needs lane mode.
std::optional<std::string> gatherCollectives(llvm::Function &function, const ThreadIndex &threads);

}  // namespace strata::simt
