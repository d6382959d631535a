// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/forward_progress.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <set>
#include <vector>

#include "simt/analysis/frame_post_dominators.h"
#include "simt/analysis/lane_intrinsics.h"
#include "simt/analysis/meeting_lanes.h"
#include "simt/analysis/parted_lanes.h"
#include "simt/analysis/uniformity.h"
#include "simt/passes/lane/gather_collectives.h"

namespace strata::simt {
namespace {

using llvm::AtomicRMWInst;
using llvm::BasicBlock;
using llvm::dyn_cast;
using llvm::Instruction;
using llvm::Loop;

// The instruction asks whether others have changed memory; asking again later may give another answer.
bool polls(const Instruction &i, const Loop &loop) {
  if (auto *load = dyn_cast<llvm::LoadInst>(&i)) return !load->isSimple();
  if (auto *swap = dyn_cast<llvm::AtomicCmpXchgInst>(&i)) return loop.isLoopInvariant(swap->getCompareOperand());
  auto *rmw = dyn_cast<AtomicRMWInst>(&i);
  if (!rmw) return false;
  auto *constant = dyn_cast<llvm::ConstantInt>(rmw->getValOperand());
  switch (rmw->getOperation()) {
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
    case AtomicRMWInst::Xor: return constant && constant->isZero();
    case AtomicRMWInst::FAdd:
    case AtomicRMWInst::FSub:
    case AtomicRMWInst::UIncWrap:
    case AtomicRMWInst::UDecWrap: return false;
    default: return loop.isLoopInvariant(rmw->getValOperand());
  }
}

// Values of a loop that its exits are computed from.
class ExitSlice {
public:
  explicit ExitSlice(const Loop &loop) : loop_(loop) {
    llvm::SmallVector<BasicBlock *, 4> exiting;
    loop.getExitingBlocks(exiting);
    for (BasicBlock *block : exiting) addOperands(*block->getTerminator());
  }

  // The first that `wanted` holds for, or null.
  template <class Wanted>
  const Instruction *find(Wanted wanted) {
    for (std::size_t i = 0; i < slice_.size(); ++i) {
      const Instruction &value = *slice_[i];
      if (wanted(value)) return &value;
      // Where an ordinary load reads does not make the loop wait.
      if (!llvm::isa<llvm::LoadInst>(value)) addOperands(value);
      if (dominators_) addBranchesBefore(value);
    }
    return nullptr;
  }

  // Follows also what decides which value a phi takes.
  ExitSlice &throughBranches(const llvm::DominatorTree &dominators) {
    dominators_ = &dominators;
    return *this;
  }

private:
  void addOperands(const Instruction &of) {
    for (const llvm::Value *operand : of.operands()) {
      auto *instruction = dyn_cast<Instruction>(operand);
      if (instruction && loop_.contains(instruction)) slice_.insert(instruction);
    }
  }

  void addBranchesBefore(const Instruction &value) {
    const BasicBlock *join = value.getParent();
    if (!llvm::isa<llvm::PHINode>(value) || join == loop_.getHeader()) return;
    const BasicBlock *split = dominators_->getNode(join)->getIDom()->getBlock();
    for (const BasicBlock *block : loop_.blocks())
      if (dominators_->dominates(split, block) && !dominators_->dominates(join, block))
        addOperands(*block->getTerminator());
  }

  const Loop &loop_;
  const llvm::DominatorTree *dominators_ = nullptr;
  llvm::SetVector<const Instruction *> slice_;
};

// The instruction of `loop` that one of its exits depends on and that polls, or null.
const Instruction *waitsFor(const Loop &loop) {
  return ExitSlice(loop).find([&](const Instruction &i) { return polls(i, loop); });
}

// Whether what others write may be what ends the loop, be it only by the way taken through a round.
bool watches(const Loop &loop, const llvm::DominatorTree &dominators) {
  return ExitSlice(loop).throughBranches(dominators).find([](const Instruction &i) {
    auto *load = dyn_cast<llvm::LoadInst>(&i);
    return load && !load->isSimple();
  });
}

// The instruction may write memory that another lane looks at.
bool releases(const Instruction &i) {
  if (auto *store = dyn_cast<llvm::StoreInst>(&i))
    return !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store->getPointerOperand()));
  if (llvm::isa<AtomicRMWInst, llvm::AtomicCmpXchgInst>(i)) return true;
  return calledIntrinsic(i) == LaneIntrinsic::laneFunction;
}

// Looks, in a prepared function, for lanes that could write while others of their warp wait in `loop`.
class ReleaseSearch {
public:
  ReleaseSearch(const Loop &loop, const llvm::LoopInfo &loops, const BlockOrder &order, const Uniformity &uniformity)
      : loop_(loop), loops_(loops), order_(order), uniformity_(uniformity), postDominators_(loops, order) {}

  const Instruction *find() {
    if (uniformity_.control().isDivergent(&loop_)) {
      llvm::SmallVector<BasicBlock *, 4> exits;
      loop_.getExitBlocks(exits);
      for (BasicBlock *exit : exits) push(exit, /*again=*/false);
    }
    for (BasicBlock *block : order_.blocks())
      if (uniformity_.control().divergentBranch(block) && splitsBefore(block))
        for (BasicBlock *to : llvm::successors(block)) push(to, /*again=*/false);
    while (!todo_.empty()) {
      auto [block, again] = todo_.back();
      todo_.pop_back();
      if (const Instruction *found = scan(block, again)) return found;
    }
    return nullptr;
  }

private:
  // Some lanes that are at `block` together may come to the loop while others do not.
  bool splitsBefore(const BasicBlock *block) const {
    const Loop *frame = loops_.getLoopFor(block);
    if (loop_.contains(block) || (frame && !frame->contains(&loop_))) return false;
    if (order_.index(block) > order_.index(loop_.getHeader())) return false;
    const Loop *step = &loop_;
    while (step->getParentLoop() != frame) step = step->getParentLoop();
    return !postDominators_.dominates(step->getLoopPreheader(), block);
  }

  void push(BasicBlock *block, bool again) {
    if (!loop_.contains(block) && seen_.insert({block, again}).second) todo_.push_back({block, again});
  }

  // Blocks before the loop in the order have run already when lanes wait in it, unless in a further round.
  const Instruction *scan(BasicBlock *block, bool again) {
    bool done = !again && order_.index(block) < order_.index(loop_.getHeader());
    for (const Instruction &i : *block) {
      if ((gathersWarp(i) || gathersBlock(i)) && !done) return nullptr;
      if (releases(i) && !done) return &i;
    }
    for (BasicBlock *to : llvm::successors(block)) {
      bool backEdge = order_.index(to) <= order_.index(block);
      push(to, again || (backEdge && loops_.getLoopFor(to)->contains(&loop_)));
    }
    return nullptr;
  }

  const Loop &loop_;
  const llvm::LoopInfo &loops_;
  const BlockOrder &order_;
  const Uniformity &uniformity_;
  FramePostDominators postDominators_;
  std::set<std::pair<BasicBlock *, bool>> seen_;
  std::vector<std::pair<BasicBlock *, bool>> todo_;
};

std::string lineOf(const Instruction &i) {
  const llvm::DebugLoc &at = i.getDebugLoc();
  return at && at.getLine() ? " (line " + std::to_string(at.getLine()) + ")" : "";
}

std::optional<std::string> checkPrepared(llvm::Function &function, const ThreadIndex &threads) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  BlockOrder order(function, loops);
  Uniformity uniformity(function, loops, order, threads);
  for (const Loop *loop : loops.getLoopsInPreorder()) {
    const Instruction *waiting = waitsFor(*loop);
    if (!waiting) continue;
    const Instruction *release = ReleaseSearch(*loop, loops, order, uniformity).find();
    if (release)
      return "a loop waits for memory" + lineOf(*waiting) + " that lanes of the same warp may write meanwhile" +
             lineOf(*release);
  }
  return std::nullopt;
}

using Functions = std::set<const llvm::Function *>;

bool calls(const Instruction &i, const Functions &functions) {
  auto *call = dyn_cast<llvm::CallBase>(&i);
  return call && functions.count(call->getCalledFunction());
}

// Functions of `reached` whose lanes may come to a barrier, in them or in what they call.
Functions withBarriers(const llvm::SetVector<llvm::Function *> &reached) {
  Functions with;
  for (bool changed = true; changed;) {
    changed = false;
    for (const llvm::Function *function : reached)
      if (!with.count(function) && llvm::any_of(llvm::instructions(*function), [&](const Instruction &i) {
            return isBarrier(calledIntrinsic(i)) || calls(i, with);
          }))
        changed = with.insert(function).second;
  }
  return with;
}

std::optional<std::string> checkBarriers(llvm::Function &function, const ThreadIndex &threads, const Functions &with) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  BlockOrder order(function, loops);
  Uniformity uniformity(function, loops, order, threads);
  const auto late =
      PartedLanes(function, loops, order, uniformity, [&](const Instruction &i) { return calls(i, with); }).find();
  if (!late) return std::nullopt;
  return "some lanes of a warp may be at a barrier" + lineOf(*late->barrier) +
         " while others have yet to write or to come to one" + lineOf(*late->effect);
}

bool mayWait(llvm::Function &function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  for (const Loop *loop : loops.getLoopsInPreorder())
    if (waitsFor(*loop)) return true;
  return false;
}

}  // namespace

std::optional<std::string> needsLaneMode(llvm::Function &kernel, const ThreadIndex &threads, Prepare prepare) {
  llvm::SetVector<llvm::Function *> reached;
  reached.insert(&kernel);
  for (std::size_t i = 0; i < reached.size(); ++i) {
    llvm::Function &function = *reached[i];
    for (Instruction &instruction : llvm::instructions(function))
      if (auto *call = dyn_cast<llvm::CallBase>(&instruction))
        if (llvm::Function *callee = call->getCalledFunction(); callee && !callee->isDeclaration())
          reached.insert(callee);
  }
  const Functions with = withBarriers(reached);
  for (llvm::Function *each : reached) {
    llvm::Function &function = *each;
    const bool waits = mayWait(function), hasBarriers = with.count(&function);
    const bool collects = hasCollectives(function);
    if (!waits && !hasBarriers && !collects) continue;
    llvm::ValueToValueMapTy map;
    llvm::Function *copy = llvm::CloneFunction(&function, map);
    std::optional<std::string> reason = prepare(*copy, Prepared::control);
    if (!reason && hasBarriers) reason = checkBarriers(*copy, threads, with);
    const bool meets = !reason && collects && lanesMeet(*copy, threads);
    if (collects && !meets) function.addFnAttr(kTogether);
    if (!reason && (waits || meets)) reason = prepare(*copy, Prepared::lockStep);
    if (!reason && waits) reason = checkPrepared(*copy, threads);
    copy->eraseFromParent();
    if (reason) return reason;
  }
  return std::nullopt;
}

void insertYields(llvm::Function &function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  llvm::FunctionCallee yield = nullptr;
  for (const Loop *loop : loops.getLoopsInPreorder()) {
    if (!waitsFor(*loop) && !watches(*loop, dominators)) continue;
    yield = function.getParent()->getOrInsertFunction("strata.yield", llvm::Type::getVoidTy(function.getContext()));
    llvm::SmallVector<BasicBlock *, 2> latches;
    loop->getLoopLatches(latches);
    for (BasicBlock *latch : latches) {
      llvm::IRBuilder<> builder(latch->getTerminator());
      builder.CreateCall(yield);
    }
  }
}

}  // namespace strata::simt
