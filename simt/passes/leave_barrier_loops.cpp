// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/leave_barrier_loops.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

#include <vector>

#include "simt/analysis/lane_intrinsics.h"
#include "simt/analysis/uniformity.h"
#include "simt/passes/clone_blocks.h"

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Loop;

using Region = llvm::SetVector<BasicBlock *>;

bool mayGatherLanes(const Instruction &i) {
  const LaneIntrinsic id = calledIntrinsic(i);
  return isBarrier(id) || isCollective(id) || id == LaneIntrinsic::laneFunction;
}

bool writes(const Instruction &i) {
  if (!i.mayWriteToMemory()) return false;
  auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
  return !store || !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store->getPointerOperand()));
}

bool hasBarrier(const BasicBlock &block) {
  return llvm::any_of(block, [](const Instruction &i) { return isBarrier(calledIntrinsic(i)); });
}

// Whether a path leads from `start` to a block that `wanted` holds for, without one before it that `stops` holds for.
template <class Wanted, class Stops>
bool reaches(BasicBlock &start, Wanted wanted, Stops stops) {
  Region reached;
  reached.insert(&start);
  for (std::size_t n = 0; n < reached.size(); ++n) {
    if (wanted(*reached[n])) return true;
    if (!stops(*reached[n])) reached.insert(llvm::succ_begin(reached[n]), llvm::succ_end(reached[n]));
  }
  return false;
}
template <class Wanted>
bool reaches(BasicBlock &start, Wanted wanted) {
  return reaches(start, wanted, [](const BasicBlock &) { return false; });
}

// Where compilers let ways out meet a way on and part again by what a phi says, who leaves goes directly.
//
//   x: br join                                                    x: br out
//   join: %f = phi [true, %x], [false, %y]; br %f, out, next  →   join: br next
class ExitThreader {
public:
  explicit ExitThreader(llvm::Function &function) : function_(function) {}

  bool run() {
    bool any = false;
    for (bool again = true; again; any |= again) {
      again = false;
      for (BasicBlock &block : function_)
        if (BasicBlock *from = leaving(block)) {
          goDirectly(*from, block);
          again = true;
          break;
        }
    }
    return any;
  }

private:
  // Phis, at most comparisons of them, and a branch.
  static bool onlyDecides(const BasicBlock &block) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    return branch && branch->isConditional() && llvm::isa<llvm::PHINode>(block.front()) && llvm::all_of(block, [&](const Instruction &i) {
      return &i == branch || llvm::isa<llvm::PHINode>(i) || (llvm::isa<llvm::ICmpInst>(i) && !i.isUsedOutsideOfBlock(&block));
    });
  }

  // The way that `block` takes for those that come from `from`, if phis say so.
  static BasicBlock *wayFrom(const BasicBlock &from, BasicBlock &block) {
    const auto known = [&](llvm::Value *value) -> llvm::Constant * {
      auto *phi = llvm::dyn_cast<llvm::PHINode>(value);
      return llvm::dyn_cast<llvm::Constant>(phi && phi->getParent() == &block ? phi->getIncomingValueForBlock(&from) : value);
    };
    auto *branch = llvm::cast<llvm::BranchInst>(block.getTerminator());
    llvm::Constant *condition = known(branch->getCondition());
    if (auto *compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()); compare && compare->getParent() == &block) {
      llvm::Constant *left = known(compare->getOperand(0)), *right = known(compare->getOperand(1));
      const llvm::DataLayout &layout = block.getModule()->getDataLayout();
      if (left && right) condition = llvm::ConstantFoldCompareInstOperands(compare->getPredicate(), left, right, layout);
    }
    auto *decided = llvm::dyn_cast_or_null<llvm::ConstantInt>(condition);
    return decided ? branch->getSuccessor(decided->isZero() ? 1 : 0) : nullptr;
  }

  // A block that leaves through `block` where others go on to a barrier, or null.
  static BasicBlock *leaving(BasicBlock &block) {
    if (!onlyDecides(block)) return nullptr;
    BasicBlock &yes = *block.getTerminator()->getSuccessor(0), &no = *block.getTerminator()->getSuccessor(1);
    if (&yes == &no || reaches(yes, hasBarrier) == reaches(no, hasBarrier)) return nullptr;
    for (BasicBlock *from : llvm::predecessors(&block))
      if (BasicBlock *to = wayFrom(*from, block); to && !reaches(*to, hasBarrier)) return from;
    return nullptr;
  }

  void goDirectly(BasicBlock &from, BasicBlock &block) {
    BasicBlock *to = wayFrom(from, block);
    BasicBlock *edge = BasicBlock::Create(function_.getContext(), "leaves", &function_, &block);
    llvm::BranchInst::Create(to, edge)->setDebugLoc(block.getTerminator()->getDebugLoc());
    for (llvm::PHINode &phi : to->phis()) phi.addIncoming(phi.getIncomingValueForBlock(&block), edge);
    from.getTerminator()->replaceSuccessorWith(&block, edge);
    for (llvm::PHINode &phi : block.phis()) {
      llvm::SSAUpdater updater;
      updater.Initialize(phi.getType(), phi.getName());
      updater.AddAvailableValue(&block, &phi);
      updater.AddAvailableValue(edge, phi.getIncomingValueForBlock(&from));
      for (llvm::Use &use : llvm::make_early_inc_range(phi.uses())) {
        auto *user = llvm::cast<Instruction>(use.getUser());
        auto *join = llvm::dyn_cast<llvm::PHINode>(user);
        if ((join ? join->getIncomingBlock(use) : user->getParent()) != &block) updater.RewriteUse(use);
      }
    }
    block.removePredecessor(&from, /*KeepOneInputPHIs=*/true);
    llvm::SimplifyInstructionsInBlock(&block);
    llvm::ConstantFoldTerminator(&block, /*DeleteDeadConditions=*/true);
  }

  llvm::Function &function_;
};

class ExitMover {
public:
  ExitMover(llvm::Function &function, const ThreadIndex &threads)
      : function_(function), dominators_(function), loops_(dominators_), order_(function, loops_), uniformity_(function, loops_, order_, threads) {}

  bool run() {
    for (BasicBlock &block : function_)
      if (llvm::isa<llvm::ReturnInst>(block.getTerminator())) return_ = &block;
    if (!return_ || llvm::none_of(function_, hasBarrier)) return false;
    std::vector<std::pair<BasicBlock *, unsigned>> exits;
    for (BasicBlock *block : order_.blocks())
      if (block->getTerminator()->getNumSuccessors() == 2)
        for (unsigned s = 0; s < 2; ++s)
          if (missesBarrier(*block, s)) exits.push_back({block, s});
    for (auto [block, s] : exits) move(*block, s, pathsFrom(*block->getTerminator()->getSuccessor(s)));
    return !exits.empty();
  }

private:
  // Lanes that go this way write and end, while others of their warp may come to a barrier.
  bool missesBarrier(BasicBlock &block, unsigned way) const {
    const llvm::Instruction *branch = block.getTerminator();
    const Region region = pathsFrom(*branch->getSuccessor(way));
    const auto any = [&](auto holds) {
      return llvm::any_of(region, [&](const BasicBlock *in) { return llvm::any_of(*in, holds); });
    };
    if (!any(writes) || any(mayGatherLanes) || !reaches(*branch->getSuccessor(1 - way), hasBarrier)) return false;
    return uniformity_.control().divergentBranch(&block) || othersPassBarrier(block);
  }

  // Whether, where all lanes that are at `block` take the same way, others of their warp need not come to it before a barrier.
  bool othersPassBarrier(const BasicBlock &block) const {
    const auto here = [&](const BasicBlock &at) { return &at == &block; };
    return llvm::any_of(order_.blocks(), [&](BasicBlock *split) {
      if (!uniformity_.control().divergentBranch(split)) return false;
      const auto part = [&](unsigned mine) {
        BasicBlock &to = *split->getTerminator()->getSuccessor(mine), &other = *split->getTerminator()->getSuccessor(1 - mine);
        return reaches(to, here, hasBarrier) && reaches(other, hasBarrier, here);
      };
      return part(0) || part(1);
    });
  }

  // All blocks that are reached, but for the return block.
  Region pathsFrom(BasicBlock &start) const {
    Region region;
    if (&start != return_) region.insert(&start);
    for (std::size_t n = 0; n < region.size(); ++n)
      for (BasicBlock *to : llvm::successors(region[n]))
        if (to != return_) region.insert(to);
    return region;
  }

  void move(BasicBlock &block, unsigned way, const Region &region) {
    BasicBlock *out = region[0], *next = block.getTerminator()->getSuccessor(1 - way);
    llvm::ValueToValueMapTy map;
    const std::vector<BasicBlock *> copies = cloneBlocks(region.getArrayRef(), ".leave", map);
    BasicBlock *left = BasicBlock::Create(function_.getContext(), "left", &function_, block.getNextNode());
    auto *branch = llvm::cast<llvm::BranchInst>(block.getTerminator());
    auto *again = llvm::cast<llvm::BranchInst>(branch->clone());
    again->insertInto(left, left->end());
    again->setSuccessor(way, return_);
    next->replacePhiUsesWith(&block, left);
    branch->setSuccessor(way, copies[0]);
    branch->setSuccessor(1 - way, left);
    out->removePredecessor(&block, /*KeepOneInputPHIs=*/true);
    for (BasicBlock *copy : copies) dropForeignEdges(*copy, block, copies);
    returnThrough(*left, block, region, map);
    for (BasicBlock *copy : copies) copy->getTerminator()->replaceSuccessorWith(return_, left);
  }

  // A copy's phis as far as they come from copies, or, at the start, from the branch.
  static void dropForeignEdges(BasicBlock &copy, const BasicBlock &branch, const std::vector<BasicBlock *> &copies) {
    for (llvm::PHINode &phi : llvm::make_early_inc_range(copy.phis()))
      for (unsigned i = phi.getNumIncomingValues(); i-- > 0;) {
        BasicBlock *from = phi.getIncomingBlock(i);
        const bool own = llvm::is_contained(copies, from) || (from == &branch && &copy == copies[0]);
        if (!own) phi.removeIncomingValue(i, /*DeletePHIIfEmpty=*/false);
      }
  }

  // What the copies would give to the return block's phis goes through `left`.
  void returnThrough(BasicBlock &left, BasicBlock &branch, const Region &region, const llvm::ValueToValueMapTy &map) {
    for (llvm::PHINode &phi : return_->phis()) {
      auto *given = llvm::PHINode::Create(phi.getType(), 2, phi.getName(), left.begin());
      given->addIncoming(llvm::PoisonValue::get(phi.getType()), &branch);
      for (BasicBlock *block : region)
        if (const int at = phi.getBasicBlockIndex(block); at >= 0)
          given->addIncoming(copyOrSelf(phi.getIncomingValue(static_cast<unsigned>(at)), map), llvm::cast<BasicBlock>(copyOrSelf(block, map)));
      phi.addIncoming(given, &left);
    }
  }

  llvm::Function &function_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  BlockOrder order_;
  Uniformity uniformity_;
  BasicBlock *return_ = nullptr;
};

}  // namespace

bool leaveBarrierLoops(llvm::Function &function, const ThreadIndex &threads) { return ExitMover(function, threads).run(); }

bool threadBarrierExits(llvm::Function &function) { return llvm::any_of(function, hasBarrier) && ExitThreader(function).run(); }

}  // namespace strata::simt
