// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/leave_barrier_loops.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

#include <vector>

#include "simt/analysis/lane_intrinsics.h"
#include "simt/analysis/uniformity.h"
#include "simt/passes/lane/clone_blocks.h"
#include "simt/passes/lane/prepare.h"

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

// Where compilers let ways out meet a way on and part again by what phis say, be it in several blocks, who leaves goes
// directly.
//
//   x: br join                                                          x: br out
//   join: %how = phi [1, %x], [0, %y]; br (%how == 0), next, part   →   join: br next
//   part: br (%how == 1), out, return
class ExitThreader {
public:
  explicit ExitThreader(llvm::Function &function) : function_(function) {}

  bool run() {
    llvm::EliminateUnreachableBlocks(function_);
    findBlocksBeforeBarriers();
    std::vector<BasicBlock *> joins;
    for (BasicBlock &block : function_)
      if (waitsLater_.contains(&block) && mayBeCopied(block)) joins.push_back(&block);
    for (BasicBlock *join : joins)
      for (BasicBlock *from : llvm::SmallVector<BasicBlock *, 4>(llvm::predecessors(join)))
        if (copied_ < kMostCopied && join->hasNPredecessorsOrMore(2) && mayBeCopied(*join)) thread(*from, *join);
    for (BasicBlock *block : changed_) {
      llvm::SimplifyInstructionsInBlock(block);
      llvm::ConstantFoldTerminator(block, /*DeleteDeadConditions=*/true);
    }
    return copied_;
  }

private:
  // Of a block that is copied; of a way; copied in all.
  static constexpr unsigned kMostCode = 24, kMostBlocks = 8, kMostCopied = 2000;

  // Blocks gone through from `from`, and what their values are then.
  struct Way {
    BasicBlock *from;
    std::vector<BasicBlock *> blocks;
    llvm::ValueToValueMapTy values;
    std::vector<Instruction *> made;  // of `values`: not in a block yet
    BasicBlock *to;                   // behind them
  };

  // Blocks from which a barrier is reached.
  void findBlocksBeforeBarriers() {
    std::vector<BasicBlock *> todo;
    for (BasicBlock &block : function_)
      if (hasBarrier(block)) todo.push_back(&block);
    while (!todo.empty()) {
      BasicBlock *block = todo.back();
      todo.pop_back();
      if (waitsLater_.insert(block).second) todo.insert(todo.end(), llvm::pred_begin(block), llvm::pred_end(block));
    }
  }

  void thread(BasicBlock &from, BasicBlock &join) {
    Way way;
    way.from = &from, way.to = &join;
    learnConditions(way);
    while (waitsLater_.contains(way.to) && goOn(way)) {}
    if (!waitsLater_.contains(way.to)) return goDirectly(way);
    for (Instruction *i : llvm::reverse(way.made)) i->deleteValue();
  }

  static bool mayBeCopied(const BasicBlock &block) {
    return llvm::isa<llvm::BranchInst>(block.getTerminator()) && block.size() <= kMostCode &&
           llvm::none_of(block, [](const Instruction &i) {
             auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
             return llvm::isa<llvm::AllocaInst>(i) || mayGatherLanes(i) ||
                    (call && (call->isConvergent() || call->cannotDuplicate()));
           });
  }

  // What the branches on the straight way to `from`'s end have decided.
  static void learnConditions(Way &way) {
    BasicBlock *to = way.to, *block = way.from;
    for (unsigned n = 0; block && n < kMostBlocks; to = block, block = block->getSinglePredecessor(), ++n) {
      auto *branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
      if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1)) continue;
      way.values.insert(
          {branch->getCondition(), llvm::ConstantInt::getBool(block->getContext(), branch->getSuccessor(0) == to)});
    }
  }

  // One block further, if it is known where to.
  static bool goOn(Way &way) {
    BasicBlock *block = way.to;
    if (!mayBeCopied(*block) || way.blocks.size() == kMostBlocks || llvm::is_contained(way.blocks, block)) return false;
    evaluate(way, way.blocks.empty() ? *way.from : *way.blocks.back(), *block);
    auto *branch = llvm::cast<llvm::BranchInst>(block->getTerminator());
    auto *decided = branch->isConditional()
                        ? llvm::dyn_cast<llvm::ConstantInt>(copyOrSelf(branch->getCondition(), way.values))
                        : nullptr;
    if (branch->isConditional() && !decided) return false;
    way.blocks.push_back(block);
    way.to = branch->getSuccessor(decided && decided->isZero() ? 1 : 0);
    return true;
  }

  static void evaluate(Way &way, BasicBlock &before, BasicBlock &block) {
    std::vector<std::pair<llvm::Value *, llvm::Value *>> phis;  // all at once
    for (llvm::PHINode &phi : block.phis())
      phis.push_back({&phi, copyOrSelf(phi.getIncomingValueForBlock(&before), way.values)});
    for (auto [phi, value] : phis) way.values[phi] = value;
    for (Instruction &i : llvm::make_range(block.getFirstNonPHIIt(), block.getTerminator()->getIterator())) {
      Instruction *copy = i.clone();
      llvm::RemapInstruction(copy, way.values, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
      if (llvm::Constant *constant = llvm::ConstantFoldInstruction(copy, block.getModule()->getDataLayout())) {
        way.values[&i] = constant;
        copy->deleteValue();
        continue;
      }
      copy->setName(i.getName());
      way.values[&i] = copy;
      way.made.push_back(copy);
    }
  }

  void goDirectly(Way &way) {
    BasicBlock *join = way.blocks.front(), *last = way.blocks.back();
    BasicBlock *edge = BasicBlock::Create(function_.getContext(), "leaves", &function_, join);
    for (Instruction *i : way.made) i->insertInto(edge, edge->end());
    llvm::BranchInst::Create(way.to, edge)->setDebugLoc(last->getTerminator()->getDebugLoc());
    for (llvm::PHINode &phi : way.to->phis())
      phi.addIncoming(copyOrSelf(phi.getIncomingValueForBlock(last), way.values), edge);
    way.from->getTerminator()->replaceSuccessorWith(join, edge);
    for (BasicBlock *block : way.blocks)
      for (Instruction &i : *block)
        if (!i.use_empty()) mergeUses(i, *edge, *way.values[&i]);
    join->removePredecessor(way.from, /*KeepOneInputPHIs=*/true);
    changed_.insert(way.blocks.begin(), way.blocks.end());
    copied_ += 1 + way.made.size();
  }

  // Where `value` was used after its block, it comes from there or by `edge`.
  static void mergeUses(Instruction &value, BasicBlock &edge, llvm::Value &there) {
    llvm::SSAUpdater updater;
    updater.Initialize(value.getType(), value.getName());
    updater.AddAvailableValue(value.getParent(), &value);
    updater.AddAvailableValue(&edge, &there);
    for (llvm::Use &use : llvm::make_early_inc_range(value.uses())) {
      auto *user = llvm::cast<Instruction>(use.getUser());
      auto *join = llvm::dyn_cast<llvm::PHINode>(user);
      BasicBlock *where = join ? join->getIncomingBlock(use) : user->getParent();
      if (where != value.getParent() && where != &edge) updater.RewriteUse(use);
    }
  }

  llvm::Function &function_;
  llvm::SmallPtrSet<BasicBlock *, 32> waitsLater_;
  llvm::SetVector<BasicBlock *> changed_;  // simplified in the end: till then all blocks are reached
  std::size_t copied_ = 0;
};

class ExitMover {
public:
  ExitMover(llvm::Function &function, const ThreadIndex &threads)
      : function_(function),
        dominators_(function),
        loops_(dominators_),
        order_(function, loops_),
        uniformity_(function, loops_, order_, threads) {}

  bool run() {
    for (BasicBlock &block : function_)
      if (llvm::isa<llvm::ReturnInst>(block.getTerminator())) return_ = &block;
    if (!return_ || llvm::none_of(function_, hasBarrier)) return false;
    std::vector<std::pair<BasicBlock *, unsigned>> exits;
    for (BasicBlock *block : order_.blocks())
      if (block->getTerminator()->getNumSuccessors() == 2)
        for (unsigned s = 0; s < 2; ++s)
          if (missesBarrier(*block, s)) exits.push_back({block, s});
    std::size_t copied = 0;
    for (auto [block, s] : exits) {
      const Region region = pathsFrom(*block->getTerminator()->getSuccessor(s));
      for (const BasicBlock *copy : region) copied += copy->size();
      if (copied > kMostCopied) break;
      move(*block, s, region);
    }
    return !exits.empty();
  }

private:
  static constexpr std::size_t kMostCopied = 10000;

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

  // Whether, where all lanes that are at `block` take the same way, others of their warp need not come to it before a
  // barrier.
  bool othersPassBarrier(const BasicBlock &block) const {
    const auto here = [&](const BasicBlock &at) { return &at == &block; };
    return llvm::any_of(order_.blocks(), [&](BasicBlock *split) {
      if (!uniformity_.control().divergentBranch(split)) return false;
      const auto part = [&](unsigned mine) {
        BasicBlock &to = *split->getTerminator()->getSuccessor(mine),
                   &other = *split->getTerminator()->getSuccessor(1 - mine);
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
          given->addIncoming(copyOrSelf(phi.getIncomingValue(static_cast<unsigned>(at)), map),
                             llvm::cast<BasicBlock>(copyOrSelf(block, map)));
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

void leaveBarrierLoops(llvm::Function &function, const ThreadIndex &threads) {
  if (!ExitMover(function, threads).run()) return;
  llvm::EliminateUnreachableBlocks(function);
  formLoops(function);
}

void threadBarrierExits(llvm::Function &function) {
  if (llvm::any_of(function, hasBarrier) && ExitThreader(function).run()) llvm::EliminateUnreachableBlocks(function);
}

}  // namespace strata::simt
