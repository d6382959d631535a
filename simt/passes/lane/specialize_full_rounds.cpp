// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/specialize_full_rounds.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <set>
#include <vector>

#include "simt/analysis/lane_intrinsics.h"
#include "simt/analysis/uniformity.h"
#include "simt/passes/lane/clone_blocks.h"
#include "simt/passes/lane/prepare.h"
#include "simt/passes/lane/warp_full.h"
#include "simt/target/tuning.h"

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::BranchInst;
using llvm::dyn_cast;
using llvm::Instruction;
using llvm::Loop;

constexpr unsigned kMostInstructions = 300;  // of one loop
constexpr unsigned kMostDoubled = 900;       // of all loops of a function

// A divergent way out of the loop.
struct Exit {
  BasicBlock *from;
  unsigned staying;  // number of the successor in the loop
  bool endsRound;    // else the round can be started again
};

class Specializer {
public:
  Specializer(llvm::Function &function, const ThreadIndex &threads) : function_(function), threads_(threads) {}

  bool run() {
    bool changed = false;
    while (specializeOne()) changed = true;
    return changed;
  }

private:
  bool specializeOne() {
    llvm::DominatorTree dominators(function_);
    llvm::LoopInfo loops(dominators);
    if (loops.empty()) return false;
    BlockOrder order(function_, loops);
    Uniformity uniformity(function_, loops, order, threads_);
    for (Loop *loop : loops.getLoopsInPreorder()) {
      std::vector<Exit> exits;
      if (!isWorthIt(*loop, uniformity, dominators) || !collectExits(*loop, uniformity, dominators, exits)) continue;
      bool turns =
          llvm::any_of(loop->getHeader()->phis(), [&](llvm::PHINode &phi) { return stepsFar(*loop, phi, uniformity); });
      specialize(*loop, exits,
                 !turns                                 ? 0
                 : readsPartsOfLines(*loop, uniformity) ? kTuning.narrowTurnRounds
                                                        : kTuning.turnRounds);
      return true;
    }
    return false;
  }

  // Some access or exit test profits from full masks, the loop has not been looked at, and all lanes may come to it.
  bool isWorthIt(const Loop &loop, const Uniformity &uniformity, const llvm::DominatorTree &dominators) {
    if (done_.count(loop.getHeader()) || !uniformity.control().isDivergent(&loop)) return false;
    if (!loop.getLoopPreheader() || !loop.getLoopLatch() || !loop.getUniqueExitBlock()) return false;
    if (behindWarpFull(loop.getHeader(), dominators, /*side=*/1)) return false;
    unsigned size = 0;
    bool gains = false;
    for (BasicBlock *block : loop.blocks()) {
      size += static_cast<unsigned>(block->size());
      gains = gains || llvm::any_of(*block, [&](const Instruction &i) { return gainsFromFullMask(i, uniformity); });
    }
    return gains && size <= kMostInstructions && doubled_ + size <= kMostDoubled;
  }

  static bool gainsFromFullMask(const Instruction &i, const Uniformity &uniformity) {
    const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&i);
    if (!pointer) return false;
    Shape address = uniformity.shape(pointer);
    return !address.isVarying() && !address.isUniform();
  }

  // A warp reads less than a line at a time: the rest of it must still be in the nearest cache when the next warps
  // come.
  static bool readsPartsOfLines(const Loop &loop, const Uniformity &uniformity) {
    for (BasicBlock *block : loop.blocks())
      for (const Instruction &i : *block) {
        auto *load = dyn_cast<llvm::LoadInst>(&i);
        if (load && load->getType()->isIntegerTy(8) && uniformity.shape(load->getPointerOperand()).isStrided(1))
          return true;
      }
    return false;
  }

  // The lanes' counter or address moves on by so much in a round that the block's other warps work on what is between.
  static bool stepsFar(const Loop &loop, const llvm::PHINode &phi, const Uniformity &uniformity) {
    Shape shape = uniformity.shape(&phi);
    auto *next = dyn_cast<Instruction>(phi.getIncomingValueForBlock(loop.getLoopLatch()));
    if (shape.isVarying() || shape.isUniform() || !next || next->getNumOperands() != 2 || next->getOperand(0) != &phi)
      return false;
    if (next->getOpcode() != Instruction::Add && !llvm::isa<llvm::GetElementPtrInst>(next)) return false;
    auto *constant = dyn_cast<llvm::ConstantInt>(next->getOperand(1));
    return constant ? constant->getValue().abs().uge(kTuning.farStep) : loop.isLoopInvariant(next->getOperand(1));
  }

  bool collectExits(const Loop &loop, const Uniformity &uniformity, const llvm::DominatorTree &dominators,
                    std::vector<Exit> &exits) const {
    llvm::SmallVector<BasicBlock *, 8> exiting;
    loop.getExitingBlocks(exiting);
    for (BasicBlock *from : exiting) {
      if (!dominators.dominates(from, loop.getLoopLatch())) return false;  // only some lanes come to it
      auto *branch = llvm::cast<BranchInst>(from->getTerminator());
      if (!branch->isConditional() || !uniformity.control().divergentBranch(from)) continue;
      unsigned staying = loop.contains(branch->getSuccessor(0)) ? 0 : 1;
      BasicBlock *to = branch->getSuccessor(staying);
      if (!loop.contains(to)) return false;
      bool endsRound = to == loop.getHeader();
      if (!endsRound && !canRestart(loop, from, dominators)) return false;
      exits.push_back({from, staying, endsRound});
    }
    return !exits.empty();
  }

  // Nothing that a round does before the end of `from` has an effect.
  static bool canRestart(const Loop &loop, const BasicBlock *from, const llvm::DominatorTree &dominators) {
    for (const BasicBlock *block : loop.blocks()) {
      if (block != from && dominators.dominates(from, block)) continue;
      for (const Instruction &i : *block) {
        auto *call = dyn_cast<llvm::CallBase>(&i);
        if (calledIntrinsic(i) != LaneIntrinsic::checkAligned &&
            (i.mayHaveSideEffects() || (call && call->isConvergent())))
          return false;
      }
    }
    return true;
  }

  void specialize(Loop &loop, const std::vector<Exit> &exits, unsigned roundsPerTurn) {
    BasicBlock *before = loop.getLoopPreheader(), *header = loop.getHeader(), *latch = loop.getLoopLatch();
    llvm::ValueToValueMapTy map;
    std::vector<BasicBlock *> blocks(loop.block_begin(), loop.block_end());
    cloneBlocks(blocks, ".full", map);
    for (BasicBlock *block : blocks) doubled_ += static_cast<unsigned>(block->size());
    for (BasicBlock *block : blocks) done_.insert(block);
    auto copyOf = [&](BasicBlock *block) { return llvm::cast<BasicBlock>(map[block]); };
    done_.insert(copyOf(header));
    addCopiedEdges(*loop.getUniqueExitBlock(), map);

    // Two ways into the loops.
    auto *full = BasicBlock::Create(function_.getContext(), before->getName() + ".full", &function_);
    auto *some = BasicBlock::Create(function_.getContext(), before->getName() + ".some", &function_);
    BranchInst::Create(copyOf(header), full);
    BranchInst::Create(header, some);
    llvm::IRBuilder<> builder(before->getTerminator());
    builder.CreateCondBr(createWarpFull(builder, builder.getTrue()), full, some);
    before->getTerminator()->eraseFromParent();
    copyOf(header)->replacePhiUsesWith(before, full);

    // What a round of the loop as it was starts with: from outside, or from the full rounds.
    std::vector<llvm::PHINode *> starts;
    for (llvm::PHINode &phi : header->phis()) {
      auto *start =
          llvm::PHINode::Create(phi.getType(), 2, phi.getName() + ".start", some->getTerminator()->getIterator());
      start->addIncoming(phi.getIncomingValueForBlock(before), before);
      phi.setIncomingValueForBlock(before, start);
      starts.push_back(start);
    }
    header->replacePhiUsesWith(before, some);
    auto valueNow = [&](llvm::Value *value) -> llvm::Value * {
      auto at = map.find(value);
      return at == map.end() ? value : static_cast<llvm::Value *>(at->second);
    };
    for (const Exit &exit : exits) {
      BasicBlock *rest = leaveFullRounds(exit, *loop.getUniqueExitBlock(), some, copyOf(exit.from));
      auto start = starts.begin();
      for (llvm::PHINode &phi : header->phis())
        (*start++)->addIncoming(valueNow(exit.endsRound ? phi.getIncomingValueForBlock(latch) : &phi), rest);
    }
    if (roundsPerTurn == kTuning.turnRounds) function_.addFnAttr(kSideBySide);
    if (roundsPerTurn) takeTurns(*full, *copyOf(header), *copyOf(latch), roundsPerTurn);
  }

  // After a number of rounds the block's other warps have their turn, so that memory is read in about the order in
  // which it lies: a warp alone would read one line of each page, and all of them would fall into few sets of the
  // caches.
  //
  //   before: br h                  before: br h.rounds
  //   h: …; br h (in l)         →   h.rounds: br h                    ; phis: from outside, from the last turn
  //                                 h: …; %n = phi [0, h.rounds], [%m, l.more]
  //                                 l: … br l.more     l.more: br %m == roundsPerTurn, turn, h
  //                                 turn: call strata.turn(); br h.rounds
  void takeTurns(BasicBlock &before, BasicBlock &header, BasicBlock &latch, unsigned roundsPerTurn) {
    llvm::LLVMContext &context = function_.getContext();
    auto *rounds = BasicBlock::Create(context, header.getName() + ".rounds", &function_);
    auto *more = BasicBlock::Create(context, latch.getName() + ".more", &function_);
    auto *turn = BasicBlock::Create(context, latch.getName() + ".turn", &function_);
    llvm::IRBuilder<> builder(rounds);
    for (llvm::PHINode &phi : header.phis()) {
      llvm::PHINode *start = builder.CreatePHI(phi.getType(), 2, phi.getName() + ".start");
      start->addIncoming(phi.getIncomingValueForBlock(&before), &before);
      start->addIncoming(phi.getIncomingValueForBlock(&latch), turn);
      phi.setIncomingValueForBlock(&before, start);
    }
    header.replacePhiUsesWith(&before, rounds);
    header.replacePhiUsesWith(&latch, more);
    builder.CreateBr(&header);
    before.getTerminator()->replaceSuccessorWith(&header, rounds);
    latch.getTerminator()->replaceSuccessorWith(&header, more);
    auto *count = llvm::PHINode::Create(builder.getInt32Ty(), 2, "round", header.begin());
    builder.SetInsertPoint(more);
    llvm::Value *next = builder.CreateAdd(count, builder.getInt32(1));
    count->addIncoming(builder.getInt32(0), rounds);
    count->addIncoming(next, more);
    builder.CreateCondBr(builder.CreateICmpEQ(next, builder.getInt32(roundsPerTurn)), turn, &header);
    builder.SetInsertPoint(turn);
    builder.CreateCall(function_.getParent()->getOrInsertFunction("strata.turn", builder.getVoidTy()));
    builder.CreateBr(rounds);
    done_.insert(rounds);
  }

  // `from`, a copy, asks whether all lanes stay. Returns the block to which it goes otherwise.
  BasicBlock *leaveFullRounds(const Exit &exit, BasicBlock &outside, BasicBlock *some, BasicBlock *from) {
    auto *branch = llvm::cast<BranchInst>(from->getTerminator());
    auto *rest = BasicBlock::Create(function_.getContext(), from->getName() + ".rest", &function_);
    llvm::IRBuilder<> builder(branch);
    builder.SetCurrentDebugLocation(branch->getDebugLoc());
    llvm::Value *full = createWarpFull(builder, branch->getCondition(), /*inverted=*/exit.staying != 0);
    builder.CreateCondBr(full, branch->getSuccessor(exit.staying), rest);
    builder.SetInsertPoint(rest);
    if (exit.endsRound) {
      llvm::Value *condition = copyCondition(builder, branch->getCondition());
      if (exit.staying == 0) builder.CreateCondBr(condition, some, &outside);
      else builder.CreateCondBr(condition, &outside, some);
      outside.replacePhiUsesWith(from, rest);
    } else {
      outside.removePredecessor(from, /*KeepOneInputPHIs=*/true);
      builder.CreateBr(some);
    }
    branch->eraseFromParent();
    return rest;
  }

  llvm::Function &function_;
  const ThreadIndex &threads_;
  std::set<const BasicBlock *> done_;  // headers of loops that have been specialised, and all they contain
  unsigned doubled_ = 0;               // instructions
};

}  // namespace

void specializeFullRounds(llvm::Function &function, const ThreadIndex &threads) {
  if (Specializer(function, threads).run()) formLcssa(function);
}

}  // namespace strata::simt
