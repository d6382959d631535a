// SPDX-License-Identifier: Apache-2.0
// Which lane-IR intrinsic a declared function is.
#pragma once

#include <cstdint>

namespace llvm {
class Function;
class Instruction;
}  // namespace llvm

namespace strata::simt {

enum class LaneIntrinsic : std::uint8_t {
#define LANE_INTRINSIC(id, name, kind) id,
#include "simt/analysis/lane_intrinsics.def"
#undef LANE_INTRINSIC
  elementwise,   // pure maths: computed in every lane by itself
  laneFunction,  // a function with a body
  unknown,
};

// LLVM's own intrinsics (llvm.*) are not asked about here.
LaneIntrinsic laneIntrinsic(const llvm::Function &function);
// The one that is called; unknown if it is something else.
LaneIntrinsic calledIntrinsic(const llvm::Instruction &i);

bool isVote(LaneIntrinsic id);        // same result in lanes with the same members
bool isWarpWide(LaneIntrinsic id);    // same result in all active lanes
bool isBarrier(LaneIntrinsic id);     // of the block or the cluster: arrives, waits or both
bool isCollective(LaneIntrinsic id);  // of the warp: lanes wait for the others of their mask

}  // namespace strata::simt
