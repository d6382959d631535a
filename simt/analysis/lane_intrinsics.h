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
bool inGroup(LaneIntrinsic id, IntrinsicRow::Group group);

// A collective whose mask names all lanes: those that come there wait for all of their warp that have not ended.
bool gathersWarp(const llvm::Instruction &i);
// A barrier that waits for all threads of the block.
bool gathersBlock(const llvm::Instruction &i);

}  // namespace strata::simt
