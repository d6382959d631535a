// SPDX-License-Identifier: Apache-2.0
// Which lane-IR intrinsic a declared function is.
#pragma once

#include "simt/intrinsics.h"

namespace llvm {
class Function;
class Instruction;
}  // namespace llvm

namespace strata::simt {

// LLVM's own intrinsics (llvm.*) are not asked about here.
LaneIntrinsic laneIntrinsic(const llvm::Function &function);
// The one that is called; unknown if it is something else.
LaneIntrinsic calledIntrinsic(const llvm::Instruction &i);

bool isVote(LaneIntrinsic id);        // same result in lanes with the same members
bool isWarpWide(LaneIntrinsic id);    // same result in all active lanes
bool isBarrier(LaneIntrinsic id);     // of the block or the cluster: arrives, waits or both
bool isCollective(LaneIntrinsic id);  // of the warp: lanes wait for the others of their mask
// Lanes that come to it go on only when others of their warp or block have come, too.
bool gathersLanes(LaneIntrinsic id);
bool inGroup(LaneIntrinsic id, IntrinsicRow::Group group);

}  // namespace strata::simt
