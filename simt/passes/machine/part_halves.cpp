// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/machine/part_halves.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include <vector>

namespace strata::simt {
namespace {

using llvm::Instruction;
using llvm::Value;
namespace match = llvm::PatternMatch;

constexpr unsigned kWords = 16;  // of a register

void part(Value &words, llvm::ArrayRef<Instruction *> low, llvm::ArrayRef<Instruction *> high) {
  auto *made = llvm::dyn_cast<Instruction>(&words);
  llvm::BasicBlock *block = made ? made->getParent() : &low[0]->getFunction()->getEntryBlock();
  llvm::IRBuilder<> builder(
      block, made && !llvm::isa<llvm::PHINode>(made) ? std::next(made->getIterator()) : block->getFirstInsertionPt());
  std::vector<int> order;
  for (int first : {0, 1})
    for (int i = 0; i < static_cast<int>(kWords); ++i) order.push_back(2 * i + first);
  const unsigned registers = llvm::cast<llvm::FixedVectorType>(words.getType())->getNumElements() / kWords;
  llvm::SmallVector<Value *, 2> parts[2];
  for (unsigned r = 0; r < registers; ++r) {
    Value *one = registers == 1
                     ? &words
                     : builder.CreateShuffleVector(&words, llvm::createSequentialMask(r * kWords, kWords, 0));
    Value *parted = builder.CreateShuffleVector(
        builder.CreateBitCast(one, llvm::FixedVectorType::get(builder.getInt16Ty(), 2 * kWords)), order);
    for (unsigned n : {0u, 1u})
      parts[n].push_back(builder.CreateShuffleVector(parted, llvm::createSequentialMask(n * kWords, kWords, 0)));
  }
  Value *whole[2] = {llvm::concatenateVectors(builder, parts[0]), llvm::concatenateVectors(builder, parts[1])};
  for (unsigned n : {0u, 1u})
    for (Instruction *i : n ? high : low) {
      i->replaceAllUsesWith(whole[n]);
      i->eraseFromParent();
    }
}

}  // namespace

void partHalves(llvm::Function &function) {
  struct Taken {
    llvm::SmallVector<Instruction *, 2> low, high;
  };
  llvm::MapVector<Value *, Taken> taken;
  for (Instruction &i : llvm::instructions(function)) {
    auto *type = llvm::dyn_cast<llvm::FixedVectorType>(i.getType());
    if (!llvm::isa<llvm::TruncInst>(i) || !type || !type->getElementType()->isIntegerTy(16) ||
        type->getNumElements() % kWords)
      continue;
    if (!i.getOperand(0)->getType()->getScalarType()->isIntegerTy(32)) continue;
    Value *shifted = nullptr;
    if (match::match(i.getOperand(0), match::m_LShr(match::m_Value(shifted), match::m_SpecificInt(16))))
      taken[shifted].high.push_back(&i);
    else taken[i.getOperand(0)].low.push_back(&i);
  }
  for (auto &[words, halves] : taken)
    if (!halves.low.empty() && !halves.high.empty() && !llvm::isa<llvm::Constant>(words))
      part(*words, halves.low, halves.high);
}

}  // namespace strata::simt
