// SPDX-License-Identifier: Apache-2.0
// FunctionEmitter: atomics. One operation per active lane, in order of lanes; where all lanes address one
// word with an integer operation whose lanes can be combined first, one operation for the warp:
//
//   atomicrmw add ptr %uniform, %v     r = old + (sum of %v over lower active lanes)
//
// In the block's own shared memory a plain load and store do: all warps of a block run on one thread. Where the
// address is all that differs, and follows from a byte or a short of each lane, these are taken from a register,
// several at a time; that is much quicker than by way of memory, where each update would wait for the last.
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "simt/analysis/launch_fields.h"
#include "simt/emit/function_emitter.h"
#include "simt/passes/warp/count_in_blocks.h"

namespace strata::simt {

using llvm::AtomicRMWInst;
using llvm::cast;
using llvm::dyn_cast;

namespace {

// The vector reduction that combines the lanes of an operation, or 0.
llvm::Intrinsic::ID reductionOf(AtomicRMWInst::BinOp operation) {
  switch (operation) {
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub: return llvm::Intrinsic::vector_reduce_add;
    case AtomicRMWInst::And: return llvm::Intrinsic::vector_reduce_and;
    case AtomicRMWInst::Or: return llvm::Intrinsic::vector_reduce_or;
    case AtomicRMWInst::Xor: return llvm::Intrinsic::vector_reduce_xor;
    case AtomicRMWInst::Max: return llvm::Intrinsic::vector_reduce_smax;
    case AtomicRMWInst::Min: return llvm::Intrinsic::vector_reduce_smin;
    case AtomicRMWInst::UMax: return llvm::Intrinsic::vector_reduce_umax;
    case AtomicRMWInst::UMin: return llvm::Intrinsic::vector_reduce_umin;
    default: return llvm::Intrinsic::not_intrinsic;
  }
}

llvm::APInt neutral(AtomicRMWInst::BinOp operation, unsigned width) {
  switch (operation) {
    case AtomicRMWInst::And:
    case AtomicRMWInst::UMin: return llvm::APInt::getAllOnes(width);
    case AtomicRMWInst::Max: return llvm::APInt::getSignedMinValue(width);
    case AtomicRMWInst::Min: return llvm::APInt::getSignedMaxValue(width);
    default: return llvm::APInt::getZero(width);
  }
}

}  // namespace

// Inserts `atomic`, or what does the same where nobody else can see the memory. Returns the atomic's result.
llvm::Value *FunctionEmitter::emitOneAtomic(llvm::Instruction *atomic, bool isShared) {
  if (!isShared) return builder_.Insert(atomic);
  auto *rmw = dyn_cast<AtomicRMWInst>(atomic);
  auto *swap = dyn_cast<llvm::AtomicCmpXchgInst>(atomic);
  Value *at = atomic->getOperand(0), *result;
  llvm::Align align = rmw ? rmw->getAlign() : swap->getAlign();
  if (rmw) {
    result = builder_.CreateAlignedLoad(rmw->getType(), at, align);
    builder_.CreateAlignedStore(llvm::buildAtomicRMWValue(rmw->getOperation(), builder_, result, rmw->getValOperand()),
                                at, align);
  } else {
    Value *old = builder_.CreateAlignedLoad(swap->getCompareOperand()->getType(), at, align);
    Value *equal = builder_.CreateICmpEQ(old, swap->getCompareOperand());
    builder_.CreateAlignedStore(builder_.CreateSelect(equal, swap->getNewValOperand(), old), at, align);
    result = builder_.CreateInsertValue(llvm::PoisonValue::get(swap->getType()), old, 0);
    result = builder_.CreateInsertValue(result, equal, 1);
  }
  atomic->deleteValue();
  return result;
}

bool FunctionEmitter::emitReducedAtomic(AtomicRMWInst &atomic) {
  llvm::Intrinsic::ID reduction = reductionOf(atomic.getOperation());
  bool sums = reduction == llvm::Intrinsic::vector_reduce_add;
  if (!shape(atomic.getPointerOperand()).isUniform() || !reduction || atomic.isVolatile()) return false;
  if (!atomic.use_empty() && !sums) return false;
  llvm::Type *type = atomic.getType();
  Value *identity = builder_.getInt(neutral(atomic.getOperation(), type->getIntegerBitWidth()));
  Value *values = vector(atomic.getValOperand());
  if (!maskIsFull()) values = builder_.CreateSelect(mask(), values, splat(identity));
  Value *combined = builder_.CreateUnaryIntrinsic(reduction, values);
  auto *one = cast<AtomicRMWInst>(atomic.clone());
  one->setOperand(0, scalar(atomic.getPointerOperand()));
  one->setOperand(1, combined);
  Value *old = emitOneAtomic(one, isSharedAddress(*atomic.getPointerOperand()));
  if (atomic.use_empty()) return true;
  // Exclusive prefix sum: shift by one lane, then double the distance.
  Value *zero = llvm::Constant::getNullValue(values->getType());
  auto shiftLanes = [&](Value *value, unsigned distance) {
    std::vector<int> lanes;
    for (unsigned l = 0; l < kLanes; ++l) lanes.push_back(static_cast<int>(l < distance ? kLanes + l : l - distance));
    return builder_.CreateShuffleVector(value, zero, lanes);
  };
  Value *prefix = shiftLanes(values, 1);
  for (unsigned distance = 1; distance < kLanes; distance *= 2)
    prefix = builder_.CreateAdd(prefix, shiftLanes(prefix, distance));
  bool subtracts = atomic.getOperation() == AtomicRMWInst::Sub;
  define(atomic, subtracts ? builder_.CreateSub(splat(old), prefix) : builder_.CreateAdd(splat(old), prefix));
  return true;
}

// The i8 or i16 from which alone, with values that are the same in all lanes, `address` is computed; or null.
llvm::Value *FunctionEmitter::narrowRoot(Value *address, unsigned depth) {
  constexpr unsigned kMostDepth = 5;
  auto *i = dyn_cast<llvm::Instruction>(address);
  if (!i || !shape(i).isVarying() || depth > kMostDepth) return nullptr;
  if (i->getType()->isIntegerTy(8) || i->getType()->isIntegerTy(16)) return i;
  if (!llvm::isa<llvm::ZExtInst, llvm::SExtInst, llvm::IntToPtrInst, llvm::BinaryOperator, llvm::GetElementPtrInst>(
          i) ||
      i->isIntDivRem())
    return nullptr;
  Value *varying = nullptr;
  for (Value *operand : i->operands()) {
    if (shape(operand).isUniform()) continue;
    if (varying) return nullptr;
    varying = operand;
  }
  return varying ? narrowRoot(varying, depth + 1) : nullptr;
}

llvm::Value *FunctionEmitter::laneCopy(Value *value, const Value *root, Value *rootInLane) {
  if (value == root) return rootInLane;
  if (shape(value).isUniform()) return scalar(value);
  llvm::Instruction *copy = cast<llvm::Instruction>(value)->clone();
  for (llvm::Use &operand : copy->operands()) operand.set(laneCopy(operand.get(), root, rootInLane));
  return builder_.Insert(copy);
}

void FunctionEmitter::updateByNarrowRoot(AtomicRMWInst &atomic, Value *root) {
  constexpr unsigned kChunkBits = 64;
  const unsigned bits = root->getType()->getIntegerBitWidth(), chunks = kLanes * bits / kChunkBits;
  Value *all = builder_.CreateBitCast(vector(root), llvm::FixedVectorType::get(builder_.getInt64Ty(), chunks));
  for (unsigned c = 0; c < chunks; ++c) {
    Value *chunk = builder_.CreateExtractElement(all, c);
    for (unsigned shift = 0; shift < kChunkBits; shift += bits) {
      Value *inLane = builder_.CreateTrunc(builder_.CreateLShr(chunk, shift), root->getType());
      llvm::Instruction *copy = atomic.clone();
      copy->setOperand(0, laneCopy(atomic.getPointerOperand(), root, inLane));
      copy->setOperand(1, scalar(atomic.getValOperand()));
      emitOneAtomic(copy, /*isShared=*/true);
    }
  }
}

// How far the addresses of two successive values of an unsigned byte are apart, if that is the same for all of them
// and nothing wraps; else 0.
std::uint64_t FunctionEmitter::scaleOfByte(Value *address, const Value *root) {
  constexpr std::uint64_t kMost = 4096;
  auto *i = dyn_cast<llvm::Instruction>(address);
  if (!i) return 0;
  auto *number = i->getNumOperands() == 2 ? dyn_cast<llvm::ConstantInt>(i->getOperand(1)) : nullptr;
  const auto times = [&](std::uint64_t factor) {
    const std::uint64_t scale = factor <= kMost ? scaleOfByte(i->getOperand(0), root) * factor : 0;
    return scale <= kMost ? scale : 0;
  };
  switch (i->getOpcode()) {
    case llvm::Instruction::ZExt:
      if (i->getOperand(0) == root && i->getType()->getIntegerBitWidth() >= 32) return 1;
      return i->getType()->isIntegerTy(64) ? scaleOfByte(i->getOperand(0), root) : 0;
    case llvm::Instruction::IntToPtr: return scaleOfByte(i->getOperand(0), root);
    case llvm::Instruction::Mul: return number && number->getBitWidth() <= 64 ? times(number->getZExtValue()) : 0;
    case llvm::Instruction::Shl: return number && number->getValue().ult(12) ? times(1u << number->getZExtValue()) : 0;
    case llvm::Instruction::Add:
      if (!i->getType()->isIntegerTy(64)) return 0;
      return scaleOfByte(i->getOperand(shape(i->getOperand(0)).isUniform() ? 1 : 0), root);
    case llvm::Instruction::GetElementPtr: {
      auto *element = cast<llvm::GetElementPtrInst>(i);
      if (element->getNumIndices() != 1 || !element->getOperand(1)->getType()->isIntegerTy(64)) return 0;
      const std::uint64_t size = context_.module.getDataLayout().getTypeAllocSize(element->getSourceElementType());
      if (shape(element->getOperand(1)).isUniform()) return scaleOfByte(element->getPointerOperand(), root);
      const std::uint64_t scale = size <= kMost ? scaleOfByte(element->getOperand(1), root) * size : 0;
      return shape(element->getPointerOperand()).isUniform() && scale <= kMost ? scale : 0;
    }
    default: return 0;
  }
}

// A histogram's addition (passes/warp/count_in_blocks.h).
bool FunctionEmitter::emitCount(AtomicRMWInst &atomic) {
  llvm::Type *type = atomic.getType();
  if (atomic.getOperation() != AtomicRMWInst::Add || !atomic.use_empty() || atomic.isVolatile() ||
      atomic.getOrdering() != llvm::AtomicOrdering::Monotonic || !(type->isIntegerTy(32) || type->isIntegerTy(64)) ||
      !shape(atomic.getValOperand()).isUniform() || isSharedAddress(*atomic.getPointerOperand()))
    return false;
  Value *root = narrowRoot(atomic.getPointerOperand());
  if (!root || !root->getType()->isIntegerTy(8)) return false;
  const std::uint64_t scale = scaleOfByte(atomic.getPointerOperand(), root);
  if (scale < context_.module.getDataLayout().getTypeStoreSize(type)) return false;
  Value *base = laneCopy(atomic.getPointerOperand(), root, builder_.getInt8(0));
  createCount(builder_, base, scale, vector(root), mask(), scalar(atomic.getValOperand()));
  context_.report.note(atomic, "counted block by block", "bytes number the words");
  return true;
}

void FunctionEmitter::emitAtomic(llvm::Instruction &atomic) {
  constexpr unsigned kTogether = 8;
  auto *rmw = dyn_cast<AtomicRMWInst>(&atomic);
  if (rmw && emitReducedAtomic(*rmw)) {
    context_.report.note(atomic, "one atomic for the warp", "all lanes address one word");
    return;
  }
  if (rmw && emitCount(*rmw)) return;
  const bool isShared = isSharedAddress(*atomic.getOperand(0));
  context_.report.note(atomic, isShared ? "one update per lane" : "one atomic per lane",
                       rmw ? "addresses vary or the operation does not combine" : "compare and swap");
  llvm::Type *type = rmw ? atomic.getType() : cast<llvm::StructType>(atomic.getType())->getElementType(0);
  bool wanted = !atomic.use_empty();
  llvm::AllocaInst *results = wanted ? laneArray(type) : nullptr;
  llvm::AllocaInst *successes = wanted && !rmw ? laneArray(builder_.getInt8Ty()) : nullptr;
  std::vector<PerLane> operands;
  for (Value *operand : atomic.operands()) operands.emplace_back(*this, operand);
  auto one = [&](Value *lane) {
    llvm::Instruction *copy = atomic.clone();
    for (unsigned i = 0; i < operands.size(); ++i) copy->setOperand(i, operands[i].get(lane));
    Value *made = emitOneAtomic(copy, isShared);
    if (!wanted) return;
    Value *at = builder_.CreateZExt(lane, builder_.getInt64Ty());
    Value *old = rmw ? made : builder_.CreateExtractValue(made, 0);
    builder_.CreateStore(old, builder_.CreateInBoundsGEP(type, results, at));
    if (rmw) return;
    Value *success = builder_.CreateZExt(builder_.CreateExtractValue(made, 1), builder_.getInt8Ty());
    builder_.CreateStore(success, builder_.CreateInBoundsGEP(builder_.getInt8Ty(), successes, at));
  };
  Value *root = rmw && isShared && !wanted && shape(rmw->getValOperand()).isUniform()
                    ? narrowRoot(rmw->getPointerOperand())
                    : nullptr;
  std::function<void()> whenFull;
  if (rmw && isShared) whenFull = [&] { root ? updateByNarrowRoot(*rmw, root) : forAllLanes(one, kTogether); };
  forEachLane(one, whenFull);
  if (!wanted) return;
  Value *old = builder_.CreateLoad(widen(type), results);
  if (rmw) return define(atomic, old);
  Value *success = builder_.CreateLoad(widen(builder_.getInt8Ty()), successes);
  Value *result = builder_.CreateInsertValue(llvm::PoisonValue::get(widen(atomic.getType())), old, 0);
  define(atomic, builder_.CreateInsertValue(result, builder_.CreateICmpNE(success, splat(builder_.getInt8(0))), 1));
}

}  // namespace strata::simt
