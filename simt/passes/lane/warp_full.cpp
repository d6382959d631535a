// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/warp_full.h"

#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include "simt/analysis/lane_intrinsics.h"

namespace strata::simt {

using llvm::BasicBlock;
using llvm::dyn_cast;

llvm::Value *copyCondition(llvm::IRBuilder<> &builder, llvm::Value *condition, bool inverted) {
  auto *compare = dyn_cast<llvm::CmpInst>(condition);
  if (!compare) return inverted ? builder.CreateNot(condition) : condition;
  auto *copy = llvm::cast<llvm::CmpInst>(builder.Insert(compare->clone()));
  if (inverted) copy->setPredicate(copy->getInversePredicate());
  return copy;
}

llvm::Value *createWarpFull(llvm::IRBuilder<> &builder, llvm::Value *condition, bool inverted) {
  llvm::Module *module = builder.GetInsertBlock()->getModule();
  llvm::FunctionCallee full = module->getOrInsertFunction(
      "strata.warp.full", llvm::FunctionType::get(builder.getInt1Ty(), {builder.getInt1Ty()}, false));
  return builder.CreateCall(full, {copyCondition(builder, condition, inverted)});
}

const BasicBlock *behindWarpFull(const BasicBlock *block, const llvm::DominatorTree &dominators, unsigned side) {
  for (auto *node = dominators.getNode(block); node; node = node->getIDom()) {
    const BasicBlock *from = node->getBlock()->getSinglePredecessor();
    auto *branch = from ? dyn_cast<llvm::BranchInst>(from->getTerminator()) : nullptr;
    if (!branch || !branch->isConditional() || branch->getSuccessor(side) != node->getBlock()) continue;
    auto *condition = dyn_cast<llvm::Instruction>(branch->getCondition());
    if (condition && calledIntrinsic(*condition) == LaneIntrinsic::warpFull) return node->getBlock();
  }
  return nullptr;
}

}  // namespace strata::simt
