// SPDX-License-Identifier: Apache-2.0
#include "simt/analysis/lane_intrinsics.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>

namespace strata::simt {
namespace {

const llvm::StringMap<LaneIntrinsic> &intrinsicsByName() {
  static const auto *names = [] {
    auto *made = new llvm::StringMap<LaneIntrinsic>;
    for (const IntrinsicRow &row : kIntrinsics) (*made)[row.name] = row.id;
    return made;
  }();
  return *names;
}

bool hasResult(LaneIntrinsic id, IntrinsicRow::Result result) {
  const IntrinsicRow *row = rowOf(id);
  return row && row->result == result;
}

bool waits(LaneIntrinsic id, IntrinsicRow::Waits waits) {
  const IntrinsicRow *row = rowOf(id);
  return row && row->waits == waits;
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

bool isVote(LaneIntrinsic id) { return hasResult(id, IntrinsicRow::Result::members); }
bool isWarpWide(LaneIntrinsic id) { return hasResult(id, IntrinsicRow::Result::warp); }
bool isBarrier(LaneIntrinsic id) { return inGroup(id, IntrinsicRow::Group::barrier); }
bool isCollective(LaneIntrinsic id) { return waits(id, IntrinsicRow::Waits::warp); }
bool inGroup(LaneIntrinsic id, IntrinsicRow::Group group) {
  const IntrinsicRow *row = rowOf(id);
  return row && row->group == group;
}

bool gathersWarp(const llvm::Instruction &i) {
  if (!isCollective(calledIntrinsic(i))) return false;
  auto *mask = llvm::dyn_cast<llvm::ConstantInt>(llvm::cast<llvm::CallBase>(i).getArgOperand(0));
  return mask && mask->isMinusOne();
}

bool gathersBlock(const llvm::Instruction &i) {
  if (!waits(calledIntrinsic(i), IntrinsicRow::Waits::block)) return false;
  auto &call = llvm::cast<llvm::CallBase>(i);
  auto *count = call.arg_size() > 1 ? llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(1)) : nullptr;
  return count && count->isZero();
}

}  // namespace strata::simt
