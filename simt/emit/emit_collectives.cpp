// SPDX-License-Identifier: Apache-2.0
// FunctionEmitter: shuffles, votes, matches and reductions between the lanes. Member masks name who takes
// part; lanes that are not active at the call do not (simt/lane_ir.md).
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "simt/emit/function_emitter.h"
#include "simt/target/instructions.h"

namespace strata::simt {

using llvm::BasicBlock;
using llvm::cast;
using llvm::isa;

void FunctionEmitter::emitCollective(llvm::CallBase &call, LaneIntrinsic id) {
  switch (id) {
    case LaneIntrinsic::shflIdx:
    case LaneIntrinsic::shflUp:
    case LaneIntrinsic::shflDown:
    case LaneIntrinsic::shflBfly: return emitShuffle(call, id);
    case LaneIntrinsic::voteAll:
    case LaneIntrinsic::voteAny:
    case LaneIntrinsic::voteUni:
    case LaneIntrinsic::voteBallot: return emitVote(call, id);
    case LaneIntrinsic::matchAny32:
    case LaneIntrinsic::matchAny64: return emitMatchAny(call);
    case LaneIntrinsic::matchAll32:
    case LaneIntrinsic::matchAll64: return emitMatchAll(call);
    case LaneIntrinsic::warpsync: return;  // the lanes of a warp run together
    case LaneIntrinsic::elect: return emitElect(call);
    case LaneIntrinsic::activemask: return define(call, maskBits(mask()));
    case LaneIntrinsic::warpFull: return define(call, warpIsFull(call.getArgOperand(0)));
    default: return emitRedux(call, id);
  }
}

// Whether the mask is full and all lanes have `condition`.
llvm::Value *FunctionEmitter::warpIsFull(Value *condition) {
  auto isFull = [&](Value *lanes) { return builder_.CreateICmpEQ(maskBits(lanes), builder_.getInt32(~0u)); };
  Value *forAll = holdsForAll(Term(condition, /*inverted=*/false));
  if (!forAll) return isFull(maskAnd(mask(), vector(condition)));
  return maskIsFull() ? forAll : builder_.CreateAnd(isFull(mask()), forAll);
}

// In the current block: then its operands are at hand too. Those of other blocks' values may not be kept.
bool FunctionEmitter::isMadeHere(const Value &value) const {
  auto *i = llvm::dyn_cast<llvm::Instruction>(&value);
  return i && i->getParent() == current_;
}

// Whether the term holds in all lanes, in scalar operations; null if that takes vectors. No is
// the answer also where it cannot be told.
//
//   !(u + {0…31} < 1 or %uniform)        →   u >= 1 and !%uniform
llvm::Value *FunctionEmitter::holdsForAll(Term term) {
  Value *condition = term.getPointer();
  const bool inverted = term.getInt();
  if (shape(condition).isUniform()) return inverted ? builder_.CreateNot(scalar(condition)) : scalar(condition);
  if (!isMadeHere(*condition)) return nullptr;
  if (const llvm::SmallVector<Term, 2> parts = conjuncts(term); !parts.empty()) {
    Value *all = holdsForAll(parts[0]);
    for (Term part : llvm::drop_begin(parts)) {
      Value *one = all ? holdsForAll(part) : nullptr;
      all = one ? builder_.CreateAnd(all, one) : nullptr;
    }
    return all;
  }
  auto *compare = llvm::dyn_cast<llvm::ICmpInst>(condition);
  if (!compare) return nullptr;
  const auto predicate = inverted ? compare->getInversePredicate() : compare->getPredicate();
  if (shape(compare->getOperand(0)).isUniform())
    return holdsForAll(llvm::CmpInst::getSwappedPredicate(predicate), compare->getOperand(1), compare->getOperand(0));
  return holdsForAll(predicate, compare->getOperand(0), compare->getOperand(1));
}

// The same for a comparison: of a value that grows from lane to lane with an upper bound (or the reverse), the last
// lane decides, if none wraps; the larger of two values is below a bound if both are.
//
//   u + {0…31} < n   →   sext u + 31 < sext n          i64: u < n and n - u > 31
llvm::Value *FunctionEmitter::holdsForAll(llvm::CmpInst::Predicate predicate, Value *value, Value *bound) {
  const Shape of = shape(value);
  if (!value->getType()->isIntegerTy() || !shape(bound).isUniform()) return nullptr;
  if (of.isUniform()) return builder_.CreateICmp(predicate, scalar(value), scalar(bound));
  const bool below = llvm::ICmpInst::isLT(predicate) || llvm::ICmpInst::isLE(predicate);
  if (auto *extreme = llvm::dyn_cast<llvm::MinMaxIntrinsic>(value); extreme && isMadeHere(*value)) {
    const bool largest = llvm::ICmpInst::isGT(extreme->getPredicate());
    if (llvm::ICmpInst::isEquality(predicate) || largest != below ||
        extreme->isSigned() != llvm::ICmpInst::isSigned(predicate))
      return nullptr;
    Value *first = holdsForAll(predicate, extreme->getLHS(), bound),
          *second = first ? holdsForAll(predicate, extreme->getRHS(), bound) : nullptr;
    return second ? builder_.CreateAnd(first, second) : nullptr;
  }
  if (!of.isAffine() || !of.isExact() || llvm::ICmpInst::isEquality(predicate)) return nullptr;
  Value *u = scalar(value), *limit = scalar(bound);
  const std::int64_t last = below ? of.maxOffset() : of.minOffset(), first = below ? of.minOffset() : of.maxOffset();
  const unsigned width = value->getType()->getIntegerBitWidth();
  if (width <= 32 && llvm::ICmpInst::isSigned(predicate)) {
    llvm::Type *wide = builder_.getInt64Ty();
    Value *exact = builder_.CreateSExt(u, wide);
    auto plus = [&](std::int64_t offset) {
      return builder_.CreateAdd(exact, builder_.getInt64(static_cast<std::uint64_t>(offset)));
    };
    Value *holds = builder_.CreateICmp(predicate, plus(last), builder_.CreateSExt(limit, wide));
    if (first == 0) return holds;
    const llvm::APInt farthest = below ? llvm::APInt::getSignedMinValue(width) : llvm::APInt::getSignedMaxValue(width);
    Value *wraps = builder_.CreateICmp(below ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_SGT, plus(first),
                                       builder_.getInt(farthest.sext(64)));
    return builder_.CreateAnd(holds, builder_.CreateNot(wraps));
  }
  if (first != 0) return nullptr;
  Value *room = below ? builder_.CreateSub(limit, u) : builder_.CreateSub(u, limit);
  Value *needed = llvm::ConstantInt::get(u->getType(), static_cast<std::uint64_t>(below ? last : -last));
  bool strict = llvm::ICmpInst::isLT(predicate) || llvm::ICmpInst::isGT(predicate);
  Value *enough = builder_.CreateICmp(strict ? llvm::CmpInst::ICMP_UGT : llvm::CmpInst::ICMP_UGE, room, needed);
  return builder_.CreateAnd(builder_.CreateICmp(predicate, u, limit), enough);
}

llvm::Value *FunctionEmitter::activeMembers(llvm::CallBase &call) {
  Value *members = scalarOrVector(call.getArgOperand(0));
  Value *active = maskBits(mask());
  return builder_.CreateAnd(members, members->getType()->isVectorTy() ? splat(active) : active);
}

// --- shuffles -----------------------------------------------------------------------------------------

// values[sources[l]] in lane l; sources are in 0…31.
llvm::Value *FunctionEmitter::permute(Value *values, Value *sources) {
  if (auto *constant = llvm::dyn_cast<llvm::Constant>(sources)) {
    std::vector<int> lanes;
    for (unsigned l = 0; l < kLanes; ++l) {
      auto *at = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(l));
      lanes.push_back(at ? static_cast<int>(at->getZExtValue()) : -1);
    }
    return builder_.CreateShuffleVector(values, lanes);
  }
  if (Value *permuted = permuteWords(builder_, context_.simd, values, sources)) return permuted;
  Value *wide = builder_.CreateZExt(sources, widen(builder_.getInt64Ty()));
  Value *at = builder_.CreateInBoundsGEP(builder_.getInt32Ty(), spill(values), wide);
  return builder_.CreateMaskedGather(values->getType(), at, llvm::Align(4), fullMask_);
}

void FunctionEmitter::emitShuffle(llvm::CallBase &call, LaneIntrinsic id) {
  Value *lane = laneNumbers();
  auto operand = [&](unsigned i) { return vector(call.getArgOperand(i)); };
  auto constant = [&](std::uint32_t value) { return splat(builder_.getInt32(value)); };
  Value *value = operand(1);
  Value *b = builder_.CreateAnd(operand(2), constant(31));
  Value *clamp = builder_.CreateAnd(operand(3), constant(31));
  Value *segment = builder_.CreateAnd(builder_.CreateLShr(operand(3), constant(8)), constant(31));
  Value *outside = builder_.CreateXor(segment, constant(31));
  Value *minimum = builder_.CreateAnd(lane, segment);
  Value *maximum = builder_.CreateOr(minimum, builder_.CreateAnd(clamp, outside));
  Value *source = nullptr;
  if (id == LaneIntrinsic::shflIdx) source = builder_.CreateOr(minimum, builder_.CreateAnd(b, outside));
  if (id == LaneIntrinsic::shflUp) source = builder_.CreateSub(lane, b);
  if (id == LaneIntrinsic::shflDown) source = builder_.CreateAdd(lane, b);
  if (id == LaneIntrinsic::shflBfly) source = builder_.CreateXor(lane, b);
  Value *inside =
      id == LaneIntrinsic::shflUp ? builder_.CreateICmpSGE(source, maximum) : builder_.CreateICmpSLE(source, maximum);
  source = builder_.CreateSelect(inside, source, lane);
  Value *moved = permute(value, source);
  Value *members = activeMembers(call);
  if (auto *all = llvm::dyn_cast<llvm::ConstantInt>(members); !all || !all->isMinusOne()) {
    // A source lane that does not take part gives the lane its own value.
    Value *bits = members->getType()->isVectorTy() ? members : splat(members);
    Value *bit = builder_.CreateAnd(bits, builder_.CreateShl(constant(1), source));
    moved = builder_.CreateSelect(builder_.CreateICmpNE(bit, constant(0)), moved, value);
  }
  Value *result = builder_.CreateInsertValue(llvm::PoisonValue::get(widen(call.getType())), moved, 0);
  define(call, builder_.CreateInsertValue(result, inside, 1));
}

// --- votes, matches, reductions ---------------------------------------------------------------------

void FunctionEmitter::emitVote(llvm::CallBase &call, LaneIntrinsic id) {
  Value *members = activeMembers(call);
  Value *predicates = maskBits(maskAnd(mask(), vector(call.getArgOperand(1))));
  if (members->getType()->isVectorTy()) predicates = splat(predicates);
  Value *voting = builder_.CreateAnd(members, predicates);
  Value *zero = llvm::Constant::getNullValue(members->getType());
  Value *all = builder_.CreateICmpEQ(voting, members), *none = builder_.CreateICmpEQ(voting, zero);
  if (id == LaneIntrinsic::voteBallot) return define(call, voting);
  if (id == LaneIntrinsic::voteAll) return define(call, all);
  if (id == LaneIntrinsic::voteAny) return define(call, builder_.CreateNot(none));
  define(call, builder_.CreateOr(all, none));
}

llvm::Value *FunctionEmitter::forEachGroup(Value *keys, llvm::Type *result,
                                           const std::function<Value *(Value *, Value *)> &body) {
  llvm::Type *keyType = cast<llvm::VectorType>(keys->getType())->getElementType();
  llvm::AllocaInst *stored = spill(keys);
  BasicBlock *before = builder_.GetInsertBlock();
  BasicBlock *loop = newBlock("each.group"), *after = newBlock("after.groups");
  Value *all = maskBits(mask());
  builder_.CreateBr(loop);
  builder_.SetInsertPoint(loop);
  llvm::PHINode *rest = builder_.CreatePHI(builder_.getInt32Ty(), 2);
  llvm::PHINode *results = builder_.CreatePHI(widen(result), 2);
  rest->addIncoming(all, before);
  results->addIncoming(llvm::Constant::getNullValue(widen(result)), before);
  Value *first = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, rest, builder_.getTrue());
  Value *key = laneElement(stored, keyType, first);
  Value *lanes = maskAnd(mask(), builder_.CreateICmpEQ(keys, splat(key)));
  Value *of = body(lanes, first);
  Value *merged = builder_.CreateSelect(lanes, of->getType()->isVectorTy() ? of : splat(of), results);
  Value *left = builder_.CreateAnd(rest, builder_.CreateNot(maskBits(lanes)));
  rest->addIncoming(left, builder_.GetInsertBlock());
  results->addIncoming(merged, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpNE(left, builder_.getInt32(0)), loop, after);
  builder_.SetInsertPoint(after);
  return merged;
}

void FunctionEmitter::emitMatchAny(llvm::CallBase &call) {
  Value *groups = forEachGroup(vector(call.getArgOperand(1)), builder_.getInt32Ty(),
                               [&](Value *lanes, Value *) { return maskBits(lanes); });
  Value *members = activeMembers(call);
  define(call, builder_.CreateAnd(groups, members->getType()->isVectorTy() ? members : splat(members)));
}

void FunctionEmitter::emitMatchAll(llvm::CallBase &call) {
  Value *members = activeMembers(call);
  bool varying = members->getType()->isVectorTy();
  Value *values = vector(call.getArgOperand(1));
  Value *same;
  if (varying) {
    Value *groups = forEachGroup(values, builder_.getInt32Ty(), [&](Value *lanes, Value *) { return maskBits(lanes); });
    same = builder_.CreateICmpEQ(builder_.CreateAnd(groups, members), members);
  } else {
    Value *first = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, members, builder_.getFalse());
    Value *value = builder_.CreateExtractElement(values, builder_.CreateAnd(first, builder_.getInt32(31)));
    Value *equal = maskBits(maskAnd(mask(), builder_.CreateICmpEQ(values, splat(value))));
    same = builder_.CreateICmpEQ(builder_.CreateAnd(equal, members), members);
  }
  Value *lanes = builder_.CreateSelect(same, members, llvm::Constant::getNullValue(members->getType()));
  llvm::Type *type = varying ? widen(call.getType()) : call.getType();
  Value *result = builder_.CreateInsertValue(llvm::PoisonValue::get(type), lanes, 0);
  define(call, builder_.CreateInsertValue(result, same, 1));
}

void FunctionEmitter::emitElect(llvm::CallBase &call) {
  Value *members = activeMembers(call);
  if (!members->getType()->isVectorTy()) members = splat(members);
  Value *leader = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, members, builder_.getFalse());
  Value *result = builder_.CreateInsertValue(llvm::PoisonValue::get(widen(call.getType())), leader, 0);
  define(call, builder_.CreateInsertValue(result, builder_.CreateICmpEQ(leader, laneNumbers()), 1));
}

void FunctionEmitter::emitRedux(llvm::CallBase &call, LaneIntrinsic id) {
  llvm::Intrinsic::ID reduction = llvm::Intrinsic::vector_reduce_add;
  std::uint32_t neutral = 0;
  switch (id) {
    case LaneIntrinsic::reduxAdd: break;
    case LaneIntrinsic::reduxUmin: reduction = llvm::Intrinsic::vector_reduce_umin, neutral = ~0u; break;
    case LaneIntrinsic::reduxUmax: reduction = llvm::Intrinsic::vector_reduce_umax; break;
    case LaneIntrinsic::reduxSmin: reduction = llvm::Intrinsic::vector_reduce_smin, neutral = 0x7fffffffu; break;
    case LaneIntrinsic::reduxSmax: reduction = llvm::Intrinsic::vector_reduce_smax, neutral = 0x80000000u; break;
    case LaneIntrinsic::reduxAnd: reduction = llvm::Intrinsic::vector_reduce_and, neutral = ~0u; break;
    case LaneIntrinsic::reduxOr: reduction = llvm::Intrinsic::vector_reduce_or; break;
    case LaneIntrinsic::reduxXor: reduction = llvm::Intrinsic::vector_reduce_xor; break;
    default: return fail(call, "call of " + call.getCalledFunction()->getName().str());
  }
  Value *values = vector(call.getArgOperand(1));
  auto reduce = [&](Value *memberBits) {
    Value *lanes = builder_.CreateBitCast(memberBits, maskType_);
    return builder_.CreateUnaryIntrinsic(reduction,
                                         builder_.CreateSelect(lanes, values, splat(builder_.getInt32(neutral))));
  };
  Value *members = activeMembers(call);
  if (!members->getType()->isVectorTy()) return define(call, reduce(members));
  llvm::AllocaInst *stored = spill(members);
  define(call, forEachGroup(members, builder_.getInt32Ty(), [&](Value *, Value *first) {
           return reduce(laneElement(stored, builder_.getInt32Ty(), first));
         }));
}

}  // namespace strata::simt
