// SPDX-License-Identifier: Apache-2.0
// Fused multiply-adds across blocks. Where a product and the sum that it belongs to may be contracted (-fmad=true),
// clang's code generator does that within a block only. What a loop's condition and its body share lies apart:
//
//   head: %xx = fmul contract %x, %x                    head: %xx = fmul contract %x, %x
//         %r = fma %y, %y, %xx; …                             %r = fma %y, %y, %xx; …
//   body: %d = fsub contract %xx, %yy         →         body: %d = fma %x, %x, -%yy
//         %next = fadd contract %d, %c                        %next = fadd contract %d, %c
//
// A product that nothing else needs is fused: an instruction less. One that stays is fused where the sum is what its
// factor is in the next round: there the product's latency would be part of each round's. Not a product from outside
// the sum's loop, and not where one lies in the sum's block, which the code generator fuses.
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

#include "toolkit/nvcc/plugin/passes.h"

using namespace llvm;

namespace {

BinaryOperator *contractable(Value *value, unsigned opcode) {
  auto *i = dyn_cast<BinaryOperator>(value);
  const bool suits = i && i->getOpcode() == opcode && i->hasAllowContract() &&
                     (i->getType()->isFloatTy() || i->getType()->isDoubleTy());
  return suits ? i : nullptr;
}

bool dependsOn(const Value &value, const Instruction &on, unsigned depth = 0) {
  constexpr unsigned kMostDepth = 3;
  if (&value == &on) return true;
  auto *i = dyn_cast<Instruction>(&value);
  if (!i || isa<PHINode>(i) || depth == kMostDepth) return false;
  return any_of(i->operands(), [&](const Value *operand) { return dependsOn(*operand, on, depth + 1); });
}

// Whether a factor of the product is what `sum` has made of it in the round before.
bool comesAround(const BinaryOperator &product, const Instruction &sum, const Loop &loop) {
  return any_of(product.operands(), [&](const Value *factor) {
    auto *phi = dyn_cast<PHINode>(factor);
    if (!phi || phi->getParent() != loop.getHeader()) return false;
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      if (loop.contains(phi->getIncomingBlock(i)) && dependsOn(*phi->getIncomingValue(i), sum)) return true;
    return false;
  });
}

// The operand of the sum that is better fused, or -1.
int chosenOperand(const BinaryOperator &sum, const LoopInfo &loops) {
  const Loop *loop = loops.getLoopFor(sum.getParent());
  int single = -1, around = -1;
  for (int n = 0; n < 2; ++n) {
    BinaryOperator *product = contractable(sum.getOperand(n), Instruction::FMul);
    if (!product) continue;
    if (product->getParent() == sum.getParent()) return -1;
    if (loops.getLoopFor(product->getParent()) != loop) continue;
    if (product->hasOneUse()) single = n;
    if (loop && comesAround(*product, sum, *loop)) around = n;
  }
  return around >= 0 ? around : single;
}

void fuse(BinaryOperator &sum, int operand) {
  auto *product = cast<BinaryOperator>(sum.getOperand(operand));
  IRBuilder<> builder(&sum);
  builder.setFastMathFlags(sum.getFastMathFlags());
  Value *a = product->getOperand(0), *other = sum.getOperand(1 - operand);
  if (sum.getOpcode() == Instruction::FSub) (operand == 0 ? other : a) = builder.CreateFNeg(operand == 0 ? other : a);
  Value *fused = builder.CreateIntrinsic(Intrinsic::fma, {sum.getType()}, {a, product->getOperand(1), other});
  fused->takeName(&sum);
  sum.replaceAllUsesWith(fused);
  sum.eraseFromParent();
  if (product->use_empty()) product->eraseFromParent();
}

}  // namespace

void strata::plugin::fuseProducts(Function &function) {
  if (!Triple(function.getParent()->getTargetTriple()).isNVPTX()) return;
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  SmallVector<BinaryOperator *, 8> sums;
  for (Instruction &i : instructions(function))
    if (contractable(&i, Instruction::FAdd) || contractable(&i, Instruction::FSub))
      sums.push_back(cast<BinaryOperator>(&i));
  for (BinaryOperator *sum : sums)
    if (int operand = chosenOperand(*sum, loops); operand >= 0) fuse(*sum, operand);
}
