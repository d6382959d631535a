// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/leave_barrier_loops.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

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

LaneIntrinsic calledBy(const Instruction &i) {
  auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
  const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee && !callee->isIntrinsic() ? laneIntrinsic(*callee) : LaneIntrinsic::unknown;
}

bool gathersLanes(const Instruction &i) {
  const LaneIntrinsic id = calledBy(i);
  return isBarrier(id) || id == LaneIntrinsic::laneFunction || (id >= LaneIntrinsic::shflIdx && id <= LaneIntrinsic::elect);
}

bool writes(const Instruction &i) {
  if (!i.mayWriteToMemory()) return false;
  auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
  return !store || !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store->getPointerOperand()));
}

class ExitMover {
public:
  ExitMover(llvm::Function &function, const ThreadIndex &threads)
      : function_(function), dominators_(function), loops_(dominators_), order_(function, loops_), uniformity_(function, loops_, order_, threads) {}

  bool run() {
    for (BasicBlock &block : function_)
      if (llvm::isa<llvm::ReturnInst>(block.getTerminator())) return_ = &block;
    if (!return_ || loops_.empty()) return false;
    std::vector<std::pair<BasicBlock *, unsigned>> exits;
    for (BasicBlock *block : order_.blocks())
      if (uniformity_.control().divergentBranch(block))
        for (unsigned s = 0; s < 2; ++s)
          if (leavesBarriers(*block, *block->getTerminator()->getSuccessor(s))) exits.push_back({block, s});
    for (auto [block, s] : exits) move(*block, s, pathsFrom(*block->getTerminator()->getSuccessor(s)));
    return !exits.empty();
  }

private:
  bool leavesBarriers(const BasicBlock &from, BasicBlock &to) {
    const Loop *left = nullptr;
    for (const Loop *loop = loops_.getLoopFor(&from); loop && !loop->contains(&to); loop = loop->getParentLoop()) left = loop;
    const auto any = [](const auto &blocks, auto holds) {
      return llvm::any_of(blocks, [&](const BasicBlock *block) { return llvm::any_of(*block, holds); });
    };
    if (!left || !any(left->blocks(), [](const Instruction &i) { return isBarrier(calledBy(i)); })) return false;
    const Region region = pathsFrom(to);
    return any(region, writes) && !any(region, gathersLanes);
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

}  // namespace strata::simt
