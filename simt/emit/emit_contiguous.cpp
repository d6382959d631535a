// SPDX-License-Identifier: Apache-2.0
// FunctionEmitter: accesses whose lanes' addresses are computed from the threads' numbers in a way that makes them
// contiguous for some uniform values only, as a butterfly's do for strides from 32 on. That is asked at run time: a few
// vector operations, where a gather or scatter takes tens of cycles.
//
//   %i = sub i32 (2 * %tid), (and %tid, %mask)       %x = extractelement %i, 0;  %all = (%i - splat(%x) == {0…31}) and
//   %x does not wrap %v = load i32, %a[sext %i]                  →    br %all, contiguous, apart:   load <32 x i32>,
//   %a[sext %x]   or   gather
//
// An index that is loaded is not asked about: nothing suggests that it is contiguous.
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

#include "simt/emit/function_emitter.h"

namespace strata::simt {

using llvm::dyn_cast;
using llvm::isa;

bool FunctionEmitter::followsThreads(Value *lane, unsigned depth) {
  constexpr unsigned kMostDepth = 8;
  const Shape of = shape(lane);
  if (of.isAffine()) return true;
  if (of.isSegmented() || depth == kMostDepth) return false;
  auto *i = dyn_cast<llvm::Instruction>(lane);
  if (!i || !i->getType()->isIntegerTy() || !isa<llvm::BinaryOperator, llvm::CastInst>(i) || i->isIntDivRem())
    return false;
  return llvm::all_of(i->operands(), [&](Value *operand) {
    return operand->getType()->isIntegerTy() && followsThreads(operand, depth + 1);
  });
}

std::optional<FunctionEmitter::ContiguousNow> FunctionEmitter::contiguousNow(Value *pointer, std::int64_t size) {
  using namespace llvm::PatternMatch;
  Value *base = nullptr, *offset = nullptr, *wide = nullptr;
  if (!isMadeHere(*pointer)) return std::nullopt;
  auto *element = dyn_cast<llvm::GetElementPtrInst>(pointer);
  if (element && element->getNumIndices() == 1 && element->getSourceElementType()->isIntegerTy(8)) {
    base = element->getPointerOperand();
    offset = element->getOperand(1);
  } else if (Value *sum = nullptr; match(pointer, m_IntToPtr(m_Value(sum))) && isMadeHere(*sum) &&
                                   match(sum, m_Add(m_Value(base), m_Value(offset)))) {
    if (shape(offset).isUniform()) std::swap(base, offset);
  }
  std::uint64_t shift = 0;
  if (!base || !shape(base).isUniform() || !isMadeHere(*offset) ||
      !match(offset, m_Shl(m_Value(wide), m_ConstantInt(shift))))
    return std::nullopt;
  auto *extension = dyn_cast<llvm::CastInst>(wide);
  if (!extension || !isMadeHere(*extension) || !isa<llvm::SExtInst, llvm::ZExtInst>(extension) || shift > 3 ||
      size != std::int64_t{1} << shift)
    return std::nullopt;
  Value *index = extension->getOperand(0);
  if (!index->getType()->isIntegerTy(32) || !followsThreads(index)) return std::nullopt;

  Value *all = vector(index), *first = builder_.CreateExtractElement(all, std::uint64_t{0});
  llvm::SmallVector<llvm::Constant *, kLanes> lanes;
  for (unsigned l = 0; l < kLanes; ++l) lanes.push_back(builder_.getInt32(l));
  Value *ascends = builder_.CreateICmpEQ(all, builder_.CreateAdd(splat(first), llvm::ConstantVector::get(lanes)));
  Value *holds = builder_.CreateICmpEQ(maskBits(ascends), builder_.getInt32(~0u));
  const bool isSigned = isa<llvm::SExtInst>(extension);
  const std::uint32_t last = (isSigned ? 0x7fffffffu : ~0u) - (kLanes - 1);
  holds = builder_.CreateAnd(holds,
                             isSigned ? builder_.CreateICmpSLE(first, builder_.getInt32(last))
                                      : builder_.CreateICmpULE(first, builder_.getInt32(last)),
                             "contiguous.now");
  Value *at = builder_.CreateShl(builder_.CreateCast(extension->getOpcode(), first, extension->getType()), shift);
  Value *from = scalar(base);
  if (!from->getType()->isPointerTy()) from = builder_.CreateIntToPtr(from, builder_.getPtrTy());
  return ContiguousNow{holds, builder_.CreatePtrAdd(from, at)};
}

}  // namespace strata::simt
