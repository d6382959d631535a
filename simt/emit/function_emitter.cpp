// SPDX-License-Identifier: Apache-2.0
#include "simt/emit/function_emitter.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "simt/abi.h"
#include "simt/passes/lane/skip_costly_values.h"
#include "simt/passes/lane/warp_full.h"
#include "simt/target/tuning.h"

namespace strata::simt {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::isa;

FunctionEmitter::FunctionEmitter(EmitContext &context, llvm::Function &lane, llvm::Function &vector,
                                 const llvm::LoopInfo &loops, const BlockOrder &order, const Uniformity &uniformity,
                                 const llvm::DominatorTree &dominators)
    : context_(context),
      lane_(lane),
      vector_(vector),
      loops_(loops),
      order_(order),
      uniformity_(uniformity),
      dominators_(dominators),
      forms_(uniformity),
      plan_(lane, loops, order, uniformity, dominators, [this](BasicBlock &block) { return mayRunEmpty(block); }),
      builder_(lane.getContext()),
      entryBuilder_(lane.getContext()) {
  maskType_ = llvm::FixedVectorType::get(builder_.getInt1Ty(), kLanes);
  fullMask_ = llvm::Constant::getAllOnesValue(maskType_);
  emptyMask_ = llvm::Constant::getNullValue(maskType_);
}

void FunctionEmitter::run(bool isKernel) {
  auto *start = BasicBlock::Create(lane_.getContext(), "start", &vector_);
  auto *begin = BasicBlock::Create(lane_.getContext(), "begin", &vector_);
  // Allocas go before the jump to `begin`.
  entryBuilder_.SetInsertPoint(llvm::BranchInst::Create(begin, start));
  builder_.SetInsertPoint(begin);
  for (BasicBlock *block : order_.blocks()) entries_[block] = newBlock(block->getName());
  createSlots();
  startFunction(isKernel);
  for (BasicBlock *block : order_.blocks()) emitBlock(block);
}

BasicBlock *FunctionEmitter::newBlock(const llvm::Twine &name) {
  return BasicBlock::Create(lane_.getContext(), name, &vector_);
}

bool FunctionEmitter::usedOutside(const Instruction &instruction) const {
  for (const llvm::Use &use : instruction.uses()) {
    auto *user = llvm::cast<Instruction>(use.getUser());
    // Guards and corrections look at what was extended, wherever the extended value goes.
    if (isa<llvm::SExtInst, llvm::ZExtInst>(user) && !shape(user).isVarying() && !shape(user).isExact()) return true;
    const BasicBlock *where = user->getParent();
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(user)) where = phi->getIncomingBlock(use);
    if (where != instruction.getParent()) return true;
  }
  return false;
}

void FunctionEmitter::createSlots() {
  for (BasicBlock *block : order_.blocks()) {
    if (plan_.maskOf(block) == block) maskSlots_[block] = entryBuilder_.CreateAlloca(maskType_, nullptr, "mask");
    for (Instruction &i : *block) {
      if (i.getType()->isVoidTy() || isa<llvm::AllocaInst>(i)) continue;
      if (shape(&i).isSegmented()) {
        if (isa<llvm::PHINode>(i)) segmentIncoming_[&i] = createSegmentSlots(i);
        if (usedOutside(i)) segmentSlots_[&i] = createSegmentSlots(i);
        continue;
      }
      llvm::Type *type = shape(&i).isAffine() ? i.getType() : widen(i.getType());
      if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&i))
        incoming_[phi] = entryBuilder_.CreateAlloca(type, nullptr, i.getName() + ".in");
      if (usedOutside(i)) slots_[&i] = entryBuilder_.CreateAlloca(type, nullptr, i.getName());
    }
  }
}

// All lanes are active: the function starts with all and the block has the same, or the block has the lanes of one
// behind the full side of a test (warp_full.h).
bool FunctionEmitter::isFull(const BasicBlock *block) const {
  const BasicBlock *maskBlock = plan_.maskOf(block);
  if (entryIsFull_ && maskBlock == &lane_.getEntryBlock()) return true;
  const BasicBlock *full = behindWarpFull(block, dominators_, /*side=*/0);
  while (full && plan_.maskOf(full) != maskBlock) {
    auto *above = dominators_.getNode(full)->getIDom();
    full = above ? behindWarpFull(above->getBlock(), dominators_, /*side=*/0) : nullptr;
  }
  return full;
}

// Kernels: all lanes, or those that warp->lanes names. Functions: their mask argument, one bit a lane.
void FunctionEmitter::startFunction(bool isKernel) {
  BasicBlock &entry = lane_.getEntryBlock();
  Value *lanes = fullMask_;
  entryIsFull_ = isKernel && context_.threads.warpsAreFull();
  if (!isKernel) lanes = builder_.CreateBitCast(vector_.getArg(1), maskType_, "lanes");
  else if (!entryIsFull_)
    lanes = builder_.CreateBitCast(warpField(offsetof(Warp, lanes), builder_.getInt32Ty(), false), maskType_, "lanes");
  builder_.CreateStore(lanes, maskSlots_.at(&entry));
  resetFrame(nullptr);
  builder_.CreateBr(entryOf(&entry));
}

// At the start of a round of a loop (or of the function): no lane waits in any block of it, and what an earlier
// round left in the slots is dead, so that it is not carried around.
void FunctionEmitter::resetFrame(BasicBlock *header) {
  const llvm::Loop *loop = header ? loops_.getLoopFor(header) : nullptr;
  for (BasicBlock *block : order_.blocks()) {
    if (block == header || (!header && block == &lane_.getEntryBlock())) continue;
    const llvm::Loop *home = loops_.getLoopFor(block);
    // The mask of a divergent loop's header is written before it is read; it belongs to the frame around it.
    if (home != loop) continue;
    if (auto slot = maskSlots_.find(block); slot != maskSlots_.end()) builder_.CreateStore(emptyMask_, slot->second);
    if (!header) continue;
    for (Instruction &i : *block) {
      if (auto slot = slots_.find(&i); slot != slots_.end())
        builder_.CreateStore(llvm::PoisonValue::get(slot->second->getAllocatedType()), slot->second);
      if (auto slot = incoming_.find(llvm::dyn_cast<llvm::PHINode>(&i)); slot != incoming_.end())
        builder_.CreateStore(llvm::PoisonValue::get(slot->second->getAllocatedType()), slot->second);
      for (auto *slots : {&segmentSlots_, &segmentIncoming_})
        if (auto of = slots->find(&i); of != slots->end())
          for (llvm::AllocaInst *slot : of->second)
            builder_.CreateStore(llvm::PoisonValue::get(slot->getAllocatedType()), slot);
    }
  }
}

void FunctionEmitter::emitBlock(BasicBlock *block) {
  const BlockPlan &plan = plan_.plan(block);
  current_ = block;
  now_.clear();
  vectorsNow_.clear();
  segmentsNow_.clear();
  builder_.SetInsertPoint(entryOf(block));
  builder_.SetCurrentDebugLocation(block->getTerminator()->getDebugLoc());
  const BasicBlock *maskBlock = plan_.maskOf(block);
  mask_ = isFull(block) ? fullMask_ : builder_.CreateLoad(maskType_, maskSlots_.at(maskBlock), "mask");
  if (plan.guarded) {
    BasicBlock *body = newBlock(block->getName() + ".lanes");
    builder_.CreateCondBr(anyLane(mask_), body, entryOf(plan.skipTo));
    builder_.SetInsertPoint(body);
  }
  for (llvm::PHINode &phi : block->phis())
    if (shape(&phi).isSegmented()) defineSegments(phi, loadSegments(segmentIncoming_.at(&phi)));
    else define(phi, builder_.CreateLoad(incoming_.at(&phi)->getAllocatedType(), incoming_.at(&phi), phi.getName()));
  const llvm::Loop *loop = loops_.getLoopFor(block);
  if (loop && loop->getHeader() == block) resetFrame(block);
  for (Instruction &i : *block) {
    if (isa<llvm::PHINode>(i)) continue;
    builder_.SetCurrentDebugLocation(i.getDebugLoc());
    if (i.isTerminator()) emitTerminator(block);
    else emitInstruction(i);
  }
}

// The effects of an edge: the mask of the block it goes to, if that has one of its own, and its phis.
void FunctionEmitter::collectWrites(BasicBlock *from, const Edge &edge, std::vector<Write> &writes) {
  BasicBlock *to = edge.to;
  const llvm::Loop *loop = loops_.getLoopFor(to);
  bool isHeader = loop && loop->getHeader() == to;
  if (auto slot = maskSlots_.find(to); slot != maskSlots_.end()) {
    Value *lanes = edge.lanes;
    if (!isHeader && !to->getSinglePredecessor())
      lanes = builder_.CreateOr(builder_.CreateLoad(maskType_, slot->second), lanes);
    writes.push_back({slot->second, lanes, nullptr});
  }
  for (llvm::PHINode &phi : to->phis()) {
    Value *value = phi.getIncomingValueForBlock(from);
    if (shape(&phi).isSegmented()) {
      Segments values = segments(value);
      for (std::size_t s = 0; s < values.size(); ++s)
        writes.push_back({segmentIncoming_.at(&phi)[s], values[s], nullptr});
      continue;
    }
    bool affine = shape(&phi).isAffine();
    bool together = isHeader || (!uniformity_.control().isJoin(to) && plan_.plan(from).nonEmpty);
    writes.push_back(
        {incoming_.at(&phi), affine ? scalar(value) : vector(value), affine || together ? nullptr : edge.lanes});
  }
}

void FunctionEmitter::commit(const std::vector<Write> &writes) {
  for (const Write &write : writes) {
    Value *value = write.value;
    if (write.lanes) value = selectParts(write.lanes, value, builder_.CreateLoad(value->getType(), write.slot));
    builder_.CreateStore(value, write.slot);
  }
}

void FunctionEmitter::emitTerminator(BasicBlock *block) {
  const BlockPlan &plan = plan_.plan(block);
  if (plan.end == BlockPlan::End::ret) {
    auto *ret = llvm::dyn_cast<llvm::ReturnInst>(block->getTerminator());
    if (!ret) builder_.CreateUnreachable();
    else if (Value *value = ret->getReturnValue()) builder_.CreateRet(vector(value));
    else builder_.CreateRetVoid();
    return;
  }
  auto *branch = llvm::cast<llvm::BranchInst>(block->getTerminator());
  std::vector<Edge> edges;
  bool divergent = branch->isConditional() && uniformity_.control().divergentBranch(block);
  for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) edges.push_back({branch->getSuccessor(i), mask()});
  if (divergent) {
    // The second mask from the first, not from the negated condition: that would be compared twice.
    edges[0].lanes = maskAnd(mask(), vector(branch->getCondition()));
    edges[1].lanes = builder_.CreateXor(mask(), edges[0].lanes);
    if (plan.end == BlockPlan::End::test)
      context_.report.note(*branch, "loop under a mask", "it goes on until its last lane has left");
    else context_.report.note(*branch, "both sides run, under masks", "the condition varies from lane to lane");
  }
  if (plan.end == BlockPlan::End::test && plan.nonEmpty) return emitLoopExit(block, edges);
  // All values are read before any slot is written: phis of one block are assigned in parallel.
  std::vector<std::vector<Write>> writes(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) collectWrites(block, edges[i], writes[i]);
  Value *condition = plan.end == BlockPlan::End::branch ? scalar(branch->getCondition()) : nullptr;
  Value *anyTested = plan.end == BlockPlan::End::test ? anyLane(edges[plan.tested].lanes) : nullptr;
  auto finishSide = [&](unsigned i) {
    bool test = plan.otherwise[i] && !plan.nonEmpty;
    if (test) builder_.CreateCondBr(anyLane(mask()), entryOf(plan.next[i]), entryOf(plan.otherwise[i]));
    else builder_.CreateBr(entryOf(plan.next[i]));
  };
  if (condition) {
    BasicBlock *sides[2] = {newBlock(block->getName() + ".true"), newBlock(block->getName() + ".false")};
    builder_.CreateCondBr(condition, sides[0], sides[1]);
    for (unsigned i = 0; i < 2; ++i) {
      builder_.SetInsertPoint(sides[i]);
      commit(writes[i]);
      finishSide(i);
    }
    return;
  }
  for (const std::vector<Write> &of : writes) commit(of);
  if (anyTested) builder_.CreateCondBr(anyTested, entryOf(plan.next[0]), entryOf(plan.next[1]));
  else finishSide(0);
}

// Lanes leave a loop. While none does, masks stay as they are, and so does what lanes take out of the loop: such rounds
// are most of a long loop's, and their branch is predicted.
void FunctionEmitter::emitLoopExit(BasicBlock *block, const std::vector<Edge> &edges) {
  const BlockPlan &plan = plan_.plan(block);
  const Edge &stay = edges[plan.tested], &leave = edges[1 - plan.tested];
  BasicBlock *leaving = newBlock(block->getName() + ".leave"), *staying = newBlock(block->getName() + ".stay");
  builder_.CreateCondBr(anyLane(leave.lanes), leaving, staying);
  auto keepScalars = now_, keepVectors = vectorsNow_;
  auto keepSegments = segmentsNow_;
  auto write = [&](llvm::ArrayRef<Edge> taken) {
    std::vector<std::vector<Write>> writes(taken.size());
    for (std::size_t i = 0; i < taken.size(); ++i) collectWrites(block, taken[i], writes[i]);
    for (const std::vector<Write> &of : writes) commit(of);
  };
  builder_.SetInsertPoint(staying);
  write({{stay.to, mask()}});
  builder_.CreateBr(entryOf(plan.next[0]));
  now_ = keepScalars;
  vectorsNow_ = keepVectors;
  segmentsNow_ = keepSegments;
  builder_.SetInsertPoint(leaving);
  Value *anyStays = anyLane(stay.lanes);
  write(edges);
  builder_.CreateCondBr(anyStays, entryOf(plan.next[0]), entryOf(plan.next[1]));
}

// --- which blocks must not run with an empty mask ----------------------------------------------------

namespace {
constexpr unsigned kCheap = kTuning.emptyBlockCost;
}

bool FunctionEmitter::needsLanes(Instruction &i, unsigned &cost) {
  bool uniform = shape(&i).isAffine();
  if (!uniform && isSlow(i)) cost += kCheap;
  switch (i.getOpcode()) {
    case Instruction::Load:
      if (shape(i.getOperand(0)).isUniform() || i.isVolatile() || i.isAtomic()) return true;
      cost += shape(i.getOperand(0)).isAffine() ? 2 : kCheap;
      return false;
    case Instruction::Store:
      if (!shape(i.getOperand(1)).isAffine() || shape(i.getOperand(1)).isUniform() || i.isVolatile() || i.isAtomic())
        return true;
      cost += 2;
      return false;
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg: return true;
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem: return true;
    case Instruction::Call: {
      auto *callee = llvm::cast<llvm::CallBase>(i).getCalledFunction();
      if (!callee) return true;
      bool pure = callee->isIntrinsic() ? !i.mayHaveSideEffects() && !i.mayReadFromMemory()
                                        : laneIntrinsic(*callee) == LaneIntrinsic::elementwise ||
                                              inGroup(laneIntrinsic(*callee), IntrinsicRow::Group::index);
      cost += uniform ? 1 : 4;
      return !pure;
    }
    default:
      if (!uniform) ++cost;
      return false;
  }
}

bool FunctionEmitter::mayRunEmpty(BasicBlock &block) {
  auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  if (branch && branch->isConditional() && !uniformity_.control().divergentBranch(&block)) return false;
  for (BasicBlock *to : llvm::successors(&block)) {
    const llvm::Loop *loop = loops_.getLoopFor(to);
    if (loop && loop->getHeader() == to && !loop->contains(&block)) return false;
    // A phi that is one scalar for the warp takes the value of whichever edge runs.
    for (llvm::PHINode &phi : to->phis())
      if (!shape(&phi).isVarying() && !phi.hasConstantValue()) return false;
  }
  unsigned cost = 0;
  for (Instruction &i : block)
    if (!isa<llvm::PHINode>(i) && needsLanes(i, cost)) return false;
  return cost <= kCheap;
}

}  // namespace strata::simt
