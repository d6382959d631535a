// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/warp/sink_values.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include <vector>

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using Blocks = llvm::SmallPtrSet<BasicBlock *, 16>;

constexpr unsigned kMostPlaces = 12;

bool mayMove(const Instruction &i) {
  if (llvm::isa<llvm::BinaryOperator>(i)) return !i.isIntDivRem();
  return llvm::isa<llvm::CastInst, llvm::GetElementPtrInst, llvm::FreezeInst, llvm::CmpInst, llvm::SelectInst,
                   llvm::ShuffleVectorInst, llvm::InsertElementInst>(i);
}

BasicBlock *usedIn(const llvm::Use &use) {
  auto *user = llvm::cast<Instruction>(use.getUser());
  auto *phi = llvm::dyn_cast<llvm::PHINode>(user);
  return phi ? phi->getIncomingBlock(use) : user->getParent();
}

class ValueSinker {
public:
  explicit ValueSinker(llvm::Function &function) : function_(function), dominators_(function), loops_(dominators_) {}

  bool run() {
    bool changed = false;
    const llvm::ReversePostOrderTraversal<llvm::Function *> order(&function_);
    for (BasicBlock *block : order) {
      if (block->getTerminator()->getNumSuccessors() < 2) continue;
      for (Instruction &i : llvm::make_early_inc_range(llvm::reverse(*block)))
        if (mayMove(i)) changed |= sink(i);
    }
    return changed;
  }

private:
  bool sink(Instruction &i) {
    Blocks places;
    if (!findPlaces(i, places) || !isAvoidable(*i.getParent(), places)) return false;
    for (BasicBlock *place : places)
      if (reachesOther(*place, places)) return false;
    for (BasicBlock *place : places) {
      Instruction *copy = i.clone();
      copy->insertInto(place, place->getFirstInsertionPt());
      copy->takeName(&i);
      i.replaceUsesWithIf(copy, [&](llvm::Use &use) { return dominators_.dominates(place, usedIn(use)); });
    }
    i.eraseFromParent();
    return true;
  }

  // The blocks that use it, but for those behind another of them. False: too many, its own, or in a loop that it is not
  // in.
  bool findPlaces(const Instruction &i, Blocks &places) const {
    Blocks users;
    for (const llvm::Use &use : i.uses()) {
      BasicBlock *block = usedIn(use);
      const llvm::Loop *loop = loops_.getLoopFor(block);
      if (block == i.getParent() || (loop && !loop->contains(i.getParent()))) return false;
      users.insert(block);
      if (users.size() > kMostPlaces) return false;
    }
    for (BasicBlock *block : users)
      if (llvm::none_of(users, [&](BasicBlock *other) { return dominators_.properlyDominates(other, block); }))
        places.insert(block);
    return !places.empty();
  }

  // Calls `visit` with each block that follows `from` in a round of its loop, and null where the round ends; not with
  // those behind a block for which it returns false.
  template <class Visit>
  void follow(BasicBlock &from, const Visit &visit) const {
    const llvm::Loop *loop = loops_.getLoopFor(&from);
    Blocks seen;
    std::vector<BasicBlock *> open = {&from};
    while (!open.empty()) {
      BasicBlock *block = open.back();
      open.pop_back();
      for (BasicBlock *next : llvm::successors(block)) {
        const bool ends = loop && (next == loop->getHeader() || !loop->contains(next));
        if (visit(ends ? nullptr : next) && !ends && seen.insert(next).second) open.push_back(next);
      }
    }
  }

  // Some way through the round, or out of the function, comes to none of the places.
  bool isAvoidable(BasicBlock &from, const Blocks &places) const {
    bool avoidable = false;
    follow(from, [&](BasicBlock *next) {
      avoidable |= !next || (!places.contains(next) && llvm::isa<llvm::ReturnInst>(next->getTerminator()));
      return next && !places.contains(next);
    });
    return avoidable;
  }

  bool reachesOther(BasicBlock &place, const Blocks &places) const {
    bool reaches = false;
    follow(place, [&](BasicBlock *next) {
      reaches |= next && places.contains(next);
      return true;
    });
    return reaches;
  }

  llvm::Function &function_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
};

}  // namespace

bool sinkValues(llvm::Function &function) { return !function.isDeclaration() && ValueSinker(function).run(); }

}  // namespace strata::simt
