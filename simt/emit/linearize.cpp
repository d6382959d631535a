// SPDX-License-Identifier: Apache-2.0
#include "simt/emit/linearize.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

namespace strata::simt {

using llvm::BasicBlock;
using llvm::Loop;

LinearPlan::LinearPlan(llvm::Function &function, const llvm::LoopInfo &loops, const BlockOrder &order,
                       const Uniformity &uniformity, const llvm::DominatorTree &dominators, MayRunEmpty mayRunEmpty)
    : loops_(loops),
      order_(order),
      control_(uniformity.control()),
      dominators_(dominators),
      postDominators_(loops, order),
      mayRunEmpty_(std::move(mayRunEmpty)),
      entry_(&function.getEntryBlock()) {
  for (BasicBlock *block : order_.blocks()) planBlock(block);
}

// Pending blocks that belong to the surroundings of `loop`, not to what its own branches left behind.
const LinearPlan::Pending &LinearPlan::framePending(const Loop *loop) const {
  static const Pending none;
  return loop ? loopPending_.at(loop) : none;
}

bool LinearPlan::isBackEdge(const BasicBlock *from, const BasicBlock *to) const {
  const Loop *loop = loops_.getLoopFor(from);
  return loop && loop->getHeader() == to;
}

// The innermost divergent loop, from `loop` outwards, that does not contain `to`; or null.
const Loop *LinearPlan::divergentLoopLeft(const Loop *loop, const BasicBlock *to) const {
  for (; loop && !loop->contains(to); loop = loop->getParentLoop())
    if (control_.isDivergent(loop)) return loop;
  return nullptr;
}

// Lanes left `loop` and all around it that do not contain `to`: as a subset, or without a test for any left.
void LinearPlan::park(const Loop *loop, const BasicBlock *to, bool tested) {
  for (; loop && !loop->contains(to); loop = loop->getParentLoop()) {
    if (!control_.isDivergent(loop)) continue;
    reduced_.insert(loop);
    if (!tested) maybeEmptied_.insert(loop);
  }
}

// The first of `target` (may be null) and the pending blocks; the others become pending there.
BasicBlock *LinearPlan::go(const Pending &pending, BasicBlock *target) {
  Pending all = pending;
  if (target) all.insert(order_.index(target));
  BasicBlock *first = order_.blocks()[*all.begin()];
  all.erase(all.begin());
  pending_[first].insert(all.begin(), all.end());
  return first;
}

// Where control goes when all active lanes go to `to`, leaving loops from `loop` outwards.
BasicBlock *LinearPlan::leave(const Loop *loop, const Pending &pending, BasicBlock *to) {
  const Loop *left = divergentLoopLeft(loop, to);
  if (!left) return go(pending, to);
  if (pending == framePending(left)) return afterLoop(left);
  park(left, to, /*tested=*/false);
  return go(pending, nullptr);
}

// Where control goes when no lane is left in a divergent loop.
BasicBlock *LinearPlan::afterLoop(const Loop *loop) {
  return leave(loop->getParentLoop(), framePending(loop), loop->getUniqueExitBlock());
}

// A block has the mask of its frame's first block (loop header, function entry) as long as no lane of the
// frame waits elsewhere; else that of the nearest dominating block, if it post-dominates that one; else its own. (One
// further up that it post-dominates sends all its lanes through the nearest, so that it post-dominates that as well.)
const BasicBlock *LinearPlan::chooseMask(BasicBlock *block) const {
  const Loop *loop = loops_.getLoopFor(block);
  if (loop && loop->getHeader() == block) {
    if (control_.isDivergent(loop)) return block;
    return masks_.at(loop->getLoopPreheader());
  }
  auto pending = pending_.find(block);
  bool inFrame = pending == pending_.end() ? framePending(loop).empty() : pending->second == framePending(loop);
  if (inFrame && !reduced_.count(loop)) return masks_.at(loop ? loop->getHeader() : entry_);
  for (auto *node = dominators_.getNode(block)->getIDom(); node; node = node->getIDom()) {
    BasicBlock *above = node->getBlock();
    if (loop && !loop->contains(above)) break;
    if (loops_.getLoopFor(above) == loop) return postDominators_.dominates(block, above) ? masks_.at(above) : block;
  }
  return block;
}

void LinearPlan::planBlock(BasicBlock *block) {
  BlockPlan &plan = plans_[block];
  const Pending pending = pending_[block];
  const Loop *loop = loops_.getLoopFor(block);
  bool isHeader = loop && loop->getHeader() == block;
  if (isHeader) loopPending_[loop] = pending;
  masks_[block] = block == entry_ ? block : chooseMask(block);

  plan.nonEmpty = pending == framePending(loop) && !maybeEmptied_.count(loop);
  if (!plan.nonEmpty && !mayRunEmpty_(*block)) {
    plan.guarded = plan.nonEmpty = true;
    // Without pending blocks, lanes of this loop have been parked: none is left in this round.
    plan.skipTo = pending == framePending(loop) ? afterLoop(loop) : go(pending, nullptr);
  }

  auto *branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
  if (!branch) {
    plan.end = BlockPlan::End::ret;
    return;
  }
  if (branch->isConditional() && control_.divergentBranch(block)) return planDivergent(block, plan);
  plan.end = branch->isConditional() ? BlockPlan::End::branch : BlockPlan::End::jump;
  for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) {
    BasicBlock *to = branch->getSuccessor(i);
    if (!isBackEdge(block, to)) {
      plan.next[i] = leave(loop, pending, to);
      continue;
    }
    plan.next[i] = to;
    if (control_.isDivergent(loop)) plan.otherwise[i] = afterLoop(loop);
  }
}

void LinearPlan::planDivergent(BasicBlock *block, BlockPlan &plan) {
  const Pending pending = pending_[block];
  const Loop *loop = loops_.getLoopFor(block);
  auto *branch = llvm::cast<llvm::BranchInst>(block->getTerminator());
  BasicBlock *staying = nullptr;
  const Loop *left = nullptr;
  Pending all = pending;
  for (unsigned i = 0; i < 2; ++i) {
    BasicBlock *to = branch->getSuccessor(i);
    if (const Loop *leaves = divergentLoopLeft(loop, to)) {
      left = leaves;
      continue;
    }
    staying = to;
    plan.tested = i;
    if (!isBackEdge(block, to)) all.insert(order_.index(to));
  }
  if (!left) {
    plan.next[0] = go(all, nullptr);
    return;
  }
  if (!staying) {  // all lanes leave, by two edges to the same exit
    plan.next[0] = leave(loop, pending, branch->getSuccessor(0));
    return;
  }
  bool tested = pending == framePending(left);
  park(left, branch->getSuccessor(1 - plan.tested), tested);
  if (tested) {
    plan.end = BlockPlan::End::test;
    plan.next[1] = afterLoop(left);
  }
  plan.next[0] = isBackEdge(block, staying) ? staying : go(all, nullptr);
}

}  // namespace strata::simt
