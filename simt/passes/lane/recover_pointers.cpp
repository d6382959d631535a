// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/recover_pointers.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Local.h>

namespace strata::simt {
namespace {

using llvm::Value;

// The pointer in a sum of integers, if there is exactly one; the other addends go to `offsets`.
llvm::PtrToIntInst *baseOf(Value *v, llvm::SmallVectorImpl<Value *> &offsets, unsigned depth = 0) {
  if (auto *cast = llvm::dyn_cast<llvm::PtrToIntInst>(v)) return cast;
  auto *add = llvm::dyn_cast<llvm::BinaryOperator>(v);
  const bool sum =
      add && (add->getOpcode() == llvm::Instruction::Add ||
              (add->getOpcode() == llvm::Instruction::Or && llvm::cast<llvm::PossiblyDisjointInst>(add)->isDisjoint()));
  if (!sum || depth == 8) return nullptr;
  for (unsigned side : {0u, 1u}) {
    const std::size_t mark = offsets.size();
    if (llvm::PtrToIntInst *base = baseOf(add->getOperand(side), offsets, depth + 1)) {
      offsets.push_back(add->getOperand(1 - side));
      return base;
    }
    offsets.truncate(mark);
  }
  return nullptr;
}

}  // namespace

bool recoverPointers(llvm::Function &function) {
  bool changed = false;
  llvm::SmallVector<llvm::IntToPtrInst *, 16> casts;
  for (llvm::Instruction &i : llvm::instructions(function))
    if (auto *cast = llvm::dyn_cast<llvm::IntToPtrInst>(&i)) casts.push_back(cast);
  for (llvm::IntToPtrInst *cast : casts) {
    llvm::SmallVector<Value *, 4> offsets;
    llvm::PtrToIntInst *base = baseOf(cast->getOperand(0), offsets);
    if (!base) continue;
    llvm::IRBuilder<> b(cast);
    Value *p = base->getPointerOperand();
    for (Value *offset : llvm::reverse(offsets)) p = b.CreateGEP(b.getInt8Ty(), p, offset);
    cast->replaceAllUsesWith(p);
    llvm::RecursivelyDeleteTriviallyDeadInstructions(cast);  // with the sum, so that no address seems to escape
    changed = true;
  }
  return changed;
}

}  // namespace strata::simt
