// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/warp/prefetch_strides.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <map>
#include <optional>

#include "simt/abi.h"
#include "simt/analysis/each_loop.h"
#include "simt/analysis/masked_access.h"
#include "simt/passes/warp/split_at_barriers.h"
#include "simt/target/tuning.h"

namespace strata::simt {
namespace {

using llvm::Function;
using llvm::Instruction;
using llvm::isa;
using llvm::Value;

constexpr std::uint64_t kLine = kTuning.line, kMostLines = 4;
constexpr unsigned kMostDepth = 8;

class LoopPrefetcher {
public:
  LoopPrefetcher(llvm::Loop &loop, PrefetchReach reach) : loop_(loop), reach_(reach) {}

  // Loads in inner loops are those loops' own matter.
  void run(const llvm::LoopInfo &loops) {
    if (!loop_.getLoopLatch()) return;
    gathers_ = gathers();
    std::vector<std::pair<Instruction *, Value *>> loads;
    for (llvm::BasicBlock *block : loop_.blocks())
      for (Instruction &i : *block)
        if (loops.getLoopFor(block) != &loop_) break;
        else if (Value *pointer = contiguousLoadAddress(i)) loads.push_back({&i, pointer});
    for (auto [load, pointer] : loads) prefetch(*load, *pointer);
  }

private:
  // What lanes fetch here and there makes the hardware lose sight of what is read straight on.
  bool gathers() const {
    for (const llvm::BasicBlock *block : loop_.blocks())
      for (const Instruction &i : *block) {
        const std::optional<MaskedAccess> access = maskedAccess(i);
        auto *step = access && !access->stored ? llvm::dyn_cast<llvm::GetElementPtrInst>(access->address) : nullptr;
        if (!step || access->isContiguous() || step->getPointerOperandType()->isVectorTy()) continue;
        if (!isOwn(*step->getPointerOperand())) return true;
      }
    return false;
  }

  // The stack's or the block's shared memory.
  static bool isOwn(const Value &pointer) {
    return isa<llvm::AllocaInst>(llvm::getUnderlyingObject(&pointer)) || isShared(pointer);
  }

  void prefetch(Instruction &load, Value &pointer) {
    llvm::PHINode *phi = nullptr;
    if (!done_.insert(&pointer).second || isOwn(pointer)) return;
    if (!followsOne(pointer, phi, 0) || !phi) return;
    Value *stride = strideOf(*phi);
    if (!stride) return;
    copies_.clear();
    llvm::IRBuilder<> builder(&load);
    copies_[phi] =
        builder.CreateAdd(phi, builder.CreateMul(stride, llvm::ConstantInt::get(phi->getType(), reach_.rounds)));
    Value *ahead = copy(pointer, builder);
    const std::uint64_t bytes = load.getModule()->getDataLayout().getTypeStoreSize(load.getType());
    for (std::uint64_t at = 0; at < std::min(bytes, kLine * kMostLines); at += kLine)
      builder.CreateIntrinsic(llvm::Intrinsic::prefetch, {pointer.getType()},
                              {builder.CreateConstGEP1_64(builder.getInt8Ty(), ahead, at), builder.getInt32(0),
                               builder.getInt32(reach_.level), builder.getInt32(1)});
  }

  // Whether `value` is computed from one phi of the loop's head (or none) and from what is the same in all rounds.
  bool followsOne(Value &value, llvm::PHINode *&phi, unsigned depth) {
    auto *i = llvm::dyn_cast<Instruction>(&value);
    if (!i || !loop_.contains(i)) return true;
    if (auto *head = llvm::dyn_cast<llvm::PHINode>(i); head && head->getParent() == loop_.getHeader()) {
      if (phi && phi != head) return false;
      phi = head;
      return true;
    }
    if (depth > kMostDepth || !isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst, llvm::FreezeInst>(i))
      return false;
    if (i->isIntDivRem()) return false;
    return llvm::all_of(i->operands(), [&](Value *operand) { return followsOne(*operand, phi, depth + 1); });
  }

  // What the phi grows by each round, if that is the same in all rounds and not a small constant.
  Value *strideOf(llvm::PHINode &phi) const {
    auto *next = llvm::dyn_cast<llvm::BinaryOperator>(phi.getIncomingValueForBlock(loop_.getLoopLatch()));
    if (!next || next->getOpcode() != Instruction::Add || !phi.getType()->isIntegerTy()) return nullptr;
    auto isPhi = [&](Value *value) {
      auto *frozen = llvm::dyn_cast<llvm::FreezeInst>(value);
      return (frozen ? frozen->getOperand(0) : value) == &phi;
    };
    Value *stride = isPhi(next->getOperand(0))   ? next->getOperand(1)
                    : isPhi(next->getOperand(1)) ? next->getOperand(0)
                                                 : nullptr;
    if (!stride || !loop_.isLoopInvariant(stride)) return nullptr;
    auto *constant = llvm::dyn_cast<llvm::ConstantInt>(stride);
    return constant && !gathers_ && constant->getValue().abs().ult(reach_.followed) ? nullptr : stride;
  }

  Value *copy(Value &value, llvm::IRBuilder<> &builder) {
    auto *i = llvm::dyn_cast<Instruction>(&value);
    if (!i || !loop_.contains(i)) return &value;
    if (auto known = copies_.find(i); known != copies_.end()) return known->second;
    Instruction *made = i->clone();
    made->dropPoisonGeneratingFlags();
    for (llvm::Use &operand : made->operands()) operand.set(copy(*operand.get(), builder));
    return copies_[i] = builder.Insert(made);
  }

  // Made from Block::shared.
  static bool isShared(const Value &pointer) {
    auto *base = llvm::dyn_cast<llvm::LoadInst>(llvm::getUnderlyingObject(&pointer, kMostDepth));
    if (!base || !base->getType()->isPointerTy()) return false;
    llvm::APInt offset(64, 0);
    const Value *from =
        base->getPointerOperand()->stripAndAccumulateConstantOffsets(base->getModule()->getDataLayout(), offset, true);
    const bool ofBlock =
        isa<llvm::Argument>(from) ||
        (isa<llvm::LoadInst>(from) && isa<llvm::Argument>(llvm::cast<llvm::LoadInst>(from)->getPointerOperand()));
    return ofBlock && offset == offsetof(Block, shared);
  }

  llvm::Loop &loop_;
  const PrefetchReach reach_;
  llvm::SmallPtrSet<Value *, 8> done_;
  std::map<Value *, Value *> copies_;
  bool gathers_ = false;  // from other memory than the block's own
};

}  // namespace

void prefetchPlainLoops(llvm::Function &function) {
  if (function.isDeclaration()) return;
  eachLoop(function, [](llvm::Loop &loop, const llvm::LoopInfo &loops, llvm::ScalarEvolution &evolution) {
    const unsigned most = evolution.getSmallConstantMaxTripCount(&loop);  // 0: unknown
    const bool few = most && most <= kTuning.fewRounds;
    if (few && loop.getExitingBlock()) return;
    const bool turn = most && most <= kTuning.longTurnRounds && !loop.getExitingBlock();
    LoopPrefetcher(loop, few ? kTuning.fewRoundsTurn : turn ? kTuning.longTurn : kTuning.plainLoop).run(loops);
  });
}

void prefetchBarrierLoops(llvm::Function &function) {
  const Function *marker = function.getParent()->getFunction(kSuspend);
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  auto hasBarrier = [&](const llvm::Loop &loop) {
    return llvm::any_of(marker->users(),
                        [&](const llvm::User *user) { return loop.contains(llvm::cast<Instruction>(user)); });
  };
  for (llvm::Loop *loop : loops.getLoopsInPreorder())
    if (marker && hasBarrier(*loop)) LoopPrefetcher(*loop, kTuning.barrierLoop).run(loops);
}

}  // namespace strata::simt
