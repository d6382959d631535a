// SPDX-License-Identifier: Apache-2.0
// Scheduling points: barriers of blocks and clusters, yielding, and the end of a member.
#pragma once

#include "simt/exec/launch_run.h"

namespace strata::simt {

std::uint32_t arriveAtBarrier(Warp *warp, std::uint32_t id, std::uint32_t count, std::uint32_t lanes,
                              std::uint32_t predicates, std::uint32_t op, bool wait);
void memberEnded(Member &member);
void clusterArrive(Warp *warp);
void clusterWait(Warp *warp);
void yieldMember(Warp *warp);

}  // namespace strata::simt
