// SPDX-License-Identifier: Apache-2.0
// Collectives of lane mode.
#pragma once

#include "simt/exec/launch_run.h"

namespace strata::simt {

std::uint64_t laneCollective(Warp *warp, std::uint32_t kind, std::uint32_t mask, std::uint64_t value, std::uint32_t b,
                             std::uint32_t c, std::uint32_t *predicate);
// Completes collectives. True if any lane may go on.
enum class Resolve {
  complete,   // those whose members have all arrived
  converged,  // also activemask: the other lanes only spin
  forced,     // also those that wait for lanes which cannot come: no lane can move
};
bool resolveCollectives(BlockRun &block, Resolve which);

}  // namespace strata::simt
