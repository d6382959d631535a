// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/alignment_checks.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>

#include <bit>

namespace strata::simt {
namespace {

using llvm::CallInst;
using llvm::Value;

class Checks {
public:
  explicit Checks(llvm::Function &f) : layout_(f.getParent()->getDataLayout()), dominators_(f), loops_(dominators_) {
    for (llvm::BasicBlock *block : llvm::depth_first(&f.getEntryBlock()))
      for (llvm::Instruction &i : *block)
        if (auto *call = llvm::dyn_cast<CallInst>(&i))
          if (call->getCalledFunction() && call->getCalledFunction()->getName() == "strata.check.aligned")
            calls_.push_back(call);
  }
  void run();

private:
  static unsigned bytes(const CallInst *c) {
    return static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(c->getArgOperand(1))->getZExtValue());
  }
  bool isMultiple(Value *v, unsigned bytes) const {
    return llvm::computeKnownBits(v, layout_).countMinTrailingZeros() >= static_cast<unsigned>(std::countr_zero(bytes));
  }
  Value *rest(Value *address, unsigned bytes) const;  // address less one addend that is a multiple; else itself
  void hoist(CallInst *call);

  const llvm::DataLayout &layout_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  std::vector<CallInst *> calls_;
};

Value *Checks::rest(Value *address, unsigned bytes) const {
  if (auto *op = llvm::dyn_cast<llvm::BinaryOperator>(address)) {
    const bool sum =
        op->getOpcode() == llvm::Instruction::Add || op->getOpcode() == llvm::Instruction::Sub ||
        (op->getOpcode() == llvm::Instruction::Or && llvm::cast<llvm::PossiblyDisjointInst>(op)->isDisjoint());
    if (sum && isMultiple(op->getOperand(1), bytes)) return op->getOperand(0);
    if (sum && op->getOpcode() != llvm::Instruction::Sub && isMultiple(op->getOperand(0), bytes))
      return op->getOperand(1);
  }
  if (auto *phi = llvm::dyn_cast<llvm::PHINode>(address)) {  // p = phi(start, p + multiple)
    llvm::BinaryOperator *update = nullptr;
    Value *start = nullptr, *step = nullptr;
    if (llvm::matchSimpleRecurrence(phi, update, start, step) && update->getOpcode() == llvm::Instruction::Add &&
        isMultiple(step, bytes))
      return start;
  }
  return address;
}

// Out of every loop that runs it in each iteration with the same address.
void Checks::hoist(CallInst *call) {
  while (llvm::Loop *loop = loops_.getLoopFor(call->getParent())) {
    llvm::BasicBlock *preheader = loop->getLoopPreheader();
    if (!preheader || !loop->isLoopInvariant(call->getArgOperand(0))) return;
    llvm::SmallVector<llvm::BasicBlock *, 4> exiting;
    loop->getExitingBlocks(exiting);
    for (llvm::BasicBlock *e : exiting)
      if (!dominators_.dominates(call->getParent(), e)) return;
    if (exiting.empty()) return;
    call->moveBefore(preheader->getTerminator());
  }
}

// Addresses that only the check used go with it: SROA takes any use of an alloca's address for an escape.
void erase(CallInst *call) {
  llvm::WeakTrackingVH address = call->getArgOperand(0);
  call->eraseFromParent();
  if (address) llvm::RecursivelyDeleteTriviallyDeadInstructions(address);
}

void Checks::run() {
  std::vector<CallInst *> kept;
  for (CallInst *call : calls_) {
    const unsigned n = bytes(call);
    Value *address = call->getArgOperand(0);
    for (Value *next = rest(address, n); next != address; next = rest(address, n)) address = next;
    if (isMultiple(address, n)) {
      erase(call);
      continue;
    }
    llvm::Value *old = call->getArgOperand(0);
    call->setArgOperand(0, address);
    if (old != address) llvm::RecursivelyDeleteTriviallyDeadInstructions(old);
    hoist(call);
    bool covered = false;
    for (CallInst *other : kept)
      covered =
          covered || (other->getArgOperand(0) == address && bytes(other) >= n && dominators_.dominates(other, call));
    if (covered) erase(call);
    else kept.push_back(call);
  }
}

}  // namespace

void simplifyAlignmentChecks(llvm::Function &function) { Checks(function).run(); }

}  // namespace strata::simt
