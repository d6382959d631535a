// SPDX-License-Identifier: Apache-2.0
#include "simt/analysis/lane_intrinsics.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>

namespace strata::simt {
namespace {

enum class ResultKind { perLane, vote, warpWide, effect };

constexpr ResultKind kResultKinds[] = {
#define LANE_INTRINSIC(id, name, kind) ResultKind::kind,
#include "simt/analysis/lane_intrinsics.def"
#undef LANE_INTRINSIC
};

ResultKind resultKind(LaneIntrinsic id) {
  return id < LaneIntrinsic::elementwise ? kResultKinds[static_cast<unsigned>(id)] : ResultKind::perLane;
}

const llvm::StringMap<LaneIntrinsic> &intrinsicsByName() {
  static const llvm::StringMap<LaneIntrinsic> names = {
#define LANE_INTRINSIC(id, name, kind) {name, LaneIntrinsic::id},
#include "simt/analysis/lane_intrinsics.def"
#undef LANE_INTRINSIC
  };
  return names;
}

}  // namespace

LaneIntrinsic laneIntrinsic(const llvm::Function &function) {
  if (!function.isDeclaration()) return LaneIntrinsic::laneFunction;
  llvm::StringRef name = function.getName();
  if (!name.consume_front("strata.")) return LaneIntrinsic::unknown;
  auto at = intrinsicsByName().find(name);
  if (at != intrinsicsByName().end()) return at->second;
  return function.hasFnAttribute("strata.elementwise") ? LaneIntrinsic::elementwise : LaneIntrinsic::unknown;
}

LaneIntrinsic calledIntrinsic(const llvm::Instruction &i) {
  auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
  const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee && !callee->isIntrinsic() ? laneIntrinsic(*callee) : LaneIntrinsic::unknown;
}

bool isVote(LaneIntrinsic id) { return resultKind(id) == ResultKind::vote; }
bool isWarpWide(LaneIntrinsic id) { return resultKind(id) == ResultKind::warpWide; }
bool isBarrier(LaneIntrinsic id) { return id >= LaneIntrinsic::barrier && id <= LaneIntrinsic::clusterWait; }
bool isCollective(LaneIntrinsic id) { return id >= LaneIntrinsic::shflIdx && id <= LaneIntrinsic::elect; }

}  // namespace strata::simt
