// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/warp/raise_operations.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::dyn_cast;
using llvm::Instruction;

constexpr std::size_t kMostBlocks = 16;  // between two that an operation moves between

class OperationRaiser {
public:
  explicit OperationRaiser(llvm::Function &function)
      : function_(function), dominators_(function), loops_(dominators_) {}

  void run() {
    for (BasicBlock *block : llvm::ReversePostOrderTraversal<llvm::Function *>(&function_))
      for (Instruction &i : llvm::make_early_inc_range(*block))
        if (Instruction *after = wouldFollow(i)) move(i, *after);
  }

private:
  Instruction *wouldFollow(Instruction &i);
  bool runEquallyOften(BasicBlock *above, BasicBlock *below);
  bool alwaysLeads(BasicBlock *above, BasicBlock *below) const;

  static void move(Instruction &i, Instruction &after) {
    if (llvm::isa<llvm::PHINode>(after)) i.moveBefore(&*after.getParent()->getFirstInsertionPt());
    else i.moveAfter(&after);
  }

  llvm::Function &function_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::DenseMap<std::pair<BasicBlock *, BasicBlock *>, bool> known_;
};

// All ways from `above` come to `below`, but those that end in a fault.
bool OperationRaiser::alwaysLeads(BasicBlock *above, BasicBlock *below) const {
  llvm::SmallPtrSet<BasicBlock *, 16> seen;
  llvm::SmallVector<BasicBlock *, 16> todo{above};
  while (!todo.empty()) {
    BasicBlock *block = todo.pop_back_val();
    if (llvm::isa<llvm::UnreachableInst>(block->getTerminator())) continue;
    if (llvm::succ_empty(block)) return false;
    for (BasicBlock *to : llvm::successors(block)) {
      if (to == below) continue;
      if (to == above || seen.size() >= kMostBlocks) return false;
      if (seen.insert(to).second) todo.push_back(to);
    }
  }
  return true;
}

// `above` dominates `below`; step by step, since there may be many blocks between.
bool OperationRaiser::runEquallyOften(BasicBlock *above, BasicBlock *below) {
  if (loops_.getLoopFor(above) != loops_.getLoopFor(below)) return false;
  for (BasicBlock *block = below; block != above;) {
    BasicBlock *next = dominators_.getNode(block)->getIDom()->getBlock();
    auto [known, isNew] = known_.try_emplace({next, block}, false);
    if (isNew) known->second = alwaysLeads(next, block);
    if (!known->second) return false;
    block = next;
  }
  return true;
}

// The last of the operands, if it is in another block, and the operation had better be there; or null.
Instruction *OperationRaiser::wouldFollow(Instruction &i) {
  if (!i.getType()->isVectorTy() || llvm::isa<llvm::PHINode>(i) || i.mayReadOrWriteMemory() ||
      !llvm::isSafeToSpeculativelyExecute(&i))
    return nullptr;
  Instruction *last = nullptr;
  bool ends = false;
  for (llvm::Value *operand : i.operands()) {
    auto *from = dyn_cast<Instruction>(operand);
    if (!from) continue;
    if (from->getParent() == i.getParent() || from->isTerminator()) return nullptr;
    ends |= from->hasOneUse();
    if (!last || dominators_.dominates(last, from)) last = from;
  }
  return last && ends && runEquallyOften(last->getParent(), i.getParent()) ? last : nullptr;
}

}  // namespace

void raiseOperations(llvm::Function &function) { OperationRaiser(function).run(); }

}  // namespace strata::simt
