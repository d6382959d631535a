// SPDX-License-Identifier: Apache-2.0
// Constants, casts, integers and bits.
#include "simt/lower/lane_ir_builder.h"

namespace strata::simt {

using llvm::Intrinsic::ID;
namespace ids = llvm::Intrinsic;

ptx::Value LaneIrBuilder::constant(ScalarType t, std::uint64_t bits) {
  llvm::Type *want = type(t);
  return put(ir.CreateBitCast(ir.getIntN(want->getScalarSizeInBits(), bits), want));
}
ptx::ScalarType LaneIrBuilder::typeOf(Value v) { return scalarTypeOf(get(v)->getType()); }
ptx::Value LaneIrBuilder::bitcast(Value v, ScalarType to) { return put(ir.CreateBitCast(get(v), type(to))); }
ptx::Value LaneIrBuilder::trunc(Value v, ScalarType to) { return put(ir.CreateTrunc(get(v), type(to))); }
ptx::Value LaneIrBuilder::zext(Value v, ScalarType to) { return put(ir.CreateZExt(get(v), type(to))); }
ptx::Value LaneIrBuilder::sext(Value v, ScalarType to) { return put(ir.CreateSExt(get(v), type(to))); }

// x/0 gives all ones, x%0 gives x; MIN/-1 wraps to MIN. The divisor is made harmless first.
static llvm::Value *divide(llvm::IRBuilder<> &ir, ptx::IntOp op, llvm::Value *a, llvm::Value *b) {
  using ptx::IntOp;
  llvm::Type *t = a->getType();
  llvm::Value *zero = llvm::Constant::getNullValue(t), *one = llvm::ConstantInt::get(t, 1),
              *minusOne = llvm::Constant::getAllOnesValue(t);
  llvm::Value *isZero = ir.CreateICmpEQ(b, zero);
  const bool isSigned = op == IntOp::sdiv || op == IntOp::srem, isRemainder = op == IntOp::urem || op == IntOp::srem;
  llvm::Value *isMinusOne = isSigned ? ir.CreateICmpEQ(b, minusOne) : nullptr;
  llvm::Value *unsafe = isSigned ? ir.CreateOr(isZero, isMinusOne) : isZero;
  llvm::Value *safe = ir.CreateSelect(unsafe, one, b);
  llvm::Value *r = op == IntOp::udiv   ? ir.CreateUDiv(a, safe)
                   : op == IntOp::sdiv ? ir.CreateSDiv(a, safe)
                   : op == IntOp::urem ? ir.CreateURem(a, safe)
                                       : ir.CreateSRem(a, safe);
  if (isSigned && !isRemainder) r = ir.CreateSelect(isMinusOne, ir.CreateNeg(a), r);
  return ir.CreateSelect(isZero, isRemainder ? a : minusOne, r);
}

static llvm::Value *multiplyHigh(llvm::IRBuilder<> &ir, llvm::Value *a, llvm::Value *b, bool isSigned) {
  const unsigned bits = a->getType()->getIntegerBitWidth();
  llvm::Type *wide = ir.getIntNTy(2 * bits);
  const auto extend = [&](llvm::Value *v) { return isSigned ? ir.CreateSExt(v, wide) : ir.CreateZExt(v, wide); };
  return ir.CreateTrunc(ir.CreateLShr(ir.CreateMul(extend(a), extend(b)), bits), a->getType());
}

ptx::Value LaneIrBuilder::integer(ptx::IntOp op, Value x, Value y) {
  using ptx::IntOp;
  llvm::Value *a = get(x), *b = get(y);
  const auto call = [&](ID id) { return put(ir.CreateBinaryIntrinsic(id, a, b)); };
  switch (op) {
    case IntOp::add: return put(ir.CreateAdd(a, b));
    case IntOp::sub: return put(ir.CreateSub(a, b));
    case IntOp::mul: return put(ir.CreateMul(a, b));
    case IntOp::and_: return put(ir.CreateAnd(a, b));
    case IntOp::or_: return put(ir.CreateOr(a, b));
    case IntOp::xor_: return put(ir.CreateXor(a, b));
    case IntOp::udiv:
    case IntOp::sdiv:
    case IntOp::urem:
    case IntOp::srem: return put(divide(ir, op, a, b));
    case IntOp::smin: return call(ids::smin);
    case IntOp::smax: return call(ids::smax);
    case IntOp::umin: return call(ids::umin);
    case IntOp::umax: return call(ids::umax);
    case IntOp::umulhi: return put(multiplyHigh(ir, a, b, false));
    case IntOp::smulhi: return put(multiplyHigh(ir, a, b, true));
    case IntOp::uaddsat: return call(ids::uadd_sat);
    case IntOp::saddsat: return call(ids::sadd_sat);
    case IntOp::usubsat: return call(ids::usub_sat);
    case IntOp::ssubsat: return call(ids::ssub_sat);
  }
  __builtin_unreachable();
}

// The shift's own result is not used where the amount is too large, so it may be poison there; AVX2 and
// AVX-512 shifts give exactly this, and LLVM sees it.
ptx::Value LaneIrBuilder::shift(ptx::ShiftOp op, Value x, Value amount) {
  llvm::Value *a = get(x), *n = get(amount);
  llvm::Type *t = a->getType();
  const unsigned width = t->getIntegerBitWidth();
  llvm::Value *fits = ir.CreateICmpULT(n, llvm::ConstantInt::get(n->getType(), width));
  llvm::Value *by = ir.CreateZExtOrTrunc(n, t);
  if (op == ptx::ShiftOp::ashr) {
    llvm::Value *last = llvm::ConstantInt::get(t, width - 1);
    return put(ir.CreateAShr(a, ir.CreateSelect(fits, by, last)));
  }
  llvm::Value *shifted = op == ptx::ShiftOp::shl ? ir.CreateShl(a, by) : ir.CreateLShr(a, by);
  return put(ir.CreateSelect(fits, shifted, llvm::Constant::getNullValue(t)));
}

ptx::Value LaneIrBuilder::funnelLeft(Value hi, Value lo, Value amount) {
  llvm::Type *t = get(hi)->getType();
  return put(ir.CreateIntrinsic(ids::fshl, {t}, {get(hi), get(lo), ir.CreateZExtOrTrunc(get(amount), t)}));
}
ptx::Value LaneIrBuilder::funnelRight(Value hi, Value lo, Value amount) {
  llvm::Type *t = get(hi)->getType();
  return put(ir.CreateIntrinsic(ids::fshr, {t}, {get(hi), get(lo), ir.CreateZExtOrTrunc(get(amount), t)}));
}

ptx::Value LaneIrBuilder::unary(ptx::Unary op, Value x) {
  llvm::Value *a = get(x);
  switch (op) {
    case ptx::Unary::popcount: return put(ir.CreateUnaryIntrinsic(ids::ctpop, a));
    case ptx::Unary::clz: return put(ir.CreateBinaryIntrinsic(ids::ctlz, a, ir.getFalse()));
    case ptx::Unary::reverse: return put(ir.CreateUnaryIntrinsic(ids::bitreverse, a));
    case ptx::Unary::not_: return put(ir.CreateNot(a));
    case ptx::Unary::neg: return put(ir.CreateNeg(a));
  }
  __builtin_unreachable();
}

ptx::Value LaneIrBuilder::compare(ptx::Compare op, Value a, Value b) {
  using P = llvm::CmpInst::Predicate;
  constexpr P predicates[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_SLT, P::ICMP_SLE, P::ICMP_SGT,
                              P::ICMP_SGE, P::ICMP_ULT, P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE};
  return put(ir.CreateICmp(predicates[static_cast<unsigned>(op)], get(a), get(b)));
}

ptx::Value LaneIrBuilder::select(Value condition, Value a, Value b) {
  return put(ir.CreateSelect(get(condition), get(a), get(b)));
}

}  // namespace strata::simt
