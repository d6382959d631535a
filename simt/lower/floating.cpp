// SPDX-License-Identifier: Apache-2.0
// Floating point: LLVM's own operations to nearest even, strata.* elementwise operations for the rest.
#include "simt/analysis/extremes.h"
#include "simt/lower/lane_ir_builder.h"

namespace strata::simt {

using ptx::Rounding;
namespace ids = llvm::Intrinsic;

static std::string suffix(Rounding r) {
  constexpr const char *names[] = {"rn", "rz", "rm", "rp", "rna"};
  return names[static_cast<unsigned>(r)];
}

ptx::Value LaneIrBuilder::elementwise(const std::string &name, llvm::Type *result, llvm::ArrayRef<llvm::Value *> args) {
  llvm::SmallVector<llvm::Type *, 3> types;
  for (llvm::Value *a : args) types.push_back(a->getType());
  return put(ir.CreateCall(module_.elementwise(name, result, types), args));
}

ptx::Value LaneIrBuilder::floating(ptx::FloatOp op, Value x, Value y, Rounding r) {
  llvm::Value *a = get(x), *b = get(y);
  if (r != Rounding::nearestEven) {
    constexpr const char *names[] = {"fadd", "fsub", "fmul", "fdiv"};
    return elementwise(std::string(names[static_cast<unsigned>(op)]) + "." + suffix(r) + "." + nameOf(a), a->getType(),
                       {a, b});
  }
  switch (op) {
    case ptx::FloatOp::add: return put(ir.CreateFAdd(a, b));
    case ptx::FloatOp::sub: return put(ir.CreateFSub(a, b));
    case ptx::FloatOp::mul: return put(ir.CreateFMul(a, b));
    case ptx::FloatOp::div: return put(ir.CreateFDiv(a, b));
  }
  __builtin_unreachable();
}

ptx::Value LaneIrBuilder::fma(Value x, Value y, Value z, Rounding r) {
  llvm::Value *a = get(x), *b = get(y), *c = get(z);
  if (r != Rounding::nearestEven) return elementwise("fma." + suffix(r) + "." + nameOf(a), a->getType(), {a, b, c});
  return put(ir.CreateIntrinsic(ids::fma, {a->getType()}, {a, b, c}));
}

ptx::Value LaneIrBuilder::sqrt(Value x, Rounding r) {
  llvm::Value *a = get(x);
  if (r != Rounding::nearestEven) return elementwise("fsqrt." + suffix(r) + "." + nameOf(a), a->getType(), {a});
  return put(ir.CreateUnaryIntrinsic(ids::sqrt, a));
}

ptx::Value LaneIrBuilder::fneg(Value a) { return put(ir.CreateFNeg(get(a))); }
ptx::Value LaneIrBuilder::fabs(Value a) { return put(ir.CreateUnaryIntrinsic(ids::fabs, get(a))); }
ptx::Value LaneIrBuilder::copysign(Value magnitude, Value sign) {
  return put(ir.CreateBinaryIntrinsic(ids::copysign, get(magnitude), get(sign)));
}

ptx::Value LaneIrBuilder::fcompare(ptx::FCompare op, Value a, Value b) {
  using P = llvm::CmpInst::Predicate;
  constexpr P predicates[] = {P::FCMP_OEQ, P::FCMP_ONE, P::FCMP_OLT, P::FCMP_OLE, P::FCMP_OGT,
                              P::FCMP_OGE, P::FCMP_UEQ, P::FCMP_UNE, P::FCMP_ULT, P::FCMP_ULE,
                              P::FCMP_UGT, P::FCMP_UGE, P::FCMP_ORD, P::FCMP_UNO};
  return put(ir.CreateFCmp(predicates[static_cast<unsigned>(op)], get(a), get(b)));
}

ptx::Value LaneIrBuilder::fmin(Value a, Value b) {
  return elementwise(extremeName(Extreme::least, nameOf(get(a))), get(a)->getType(), {get(a), get(b)});
}
ptx::Value LaneIrBuilder::fmax(Value a, Value b) {
  return elementwise(extremeName(Extreme::greatest, nameOf(get(a))), get(a)->getType(), {get(a), get(b)});
}

// Nothing to do for what flushes or cannot be subnormal.
static bool neverSubnormal(llvm::Value *v) {
  if (auto *call = llvm::dyn_cast<llvm::CallInst>(v))
    return call->getCalledFunction() && call->getCalledFunction()->getName().starts_with("strata.ftz.");
  if (llvm::isa<llvm::SIToFPInst>(v) || llvm::isa<llvm::UIToFPInst>(v)) return true;
  if (auto *c = llvm::dyn_cast<llvm::ConstantFP>(v)) return !c->getValueAPF().isDenormal();
  return false;
}

ptx::Value LaneIrBuilder::flushSubnormal(Value x) {
  llvm::Value *a = get(x);
  if (neverSubnormal(a)) return x;
  if (a->getType()->isFloatTy()) return elementwise("ftz.f32", a->getType(), {a});
  // Rare in other formats: |a| below the least normal value becomes a zero of its sign.
  llvm::Value *least =
      llvm::ConstantFP::get(a->getType(), llvm::APFloat::getSmallestNormalized(a->getType()->getFltSemantics()));
  llvm::Value *tiny = ir.CreateFCmpOLT(get(fabs(x)), least);
  llvm::Value *zero = llvm::ConstantFP::getZero(a->getType());
  return put(ir.CreateSelect(tiny, get(copysign(put(zero), x)), a));
}

ptx::Value LaneIrBuilder::approx(ptx::Approx fn, Value x) {
  constexpr const char *names[] = {"rcp", "rsqrt", "sqrt", "sin", "cos", "ex2", "lg2", "tanh", "div"};
  llvm::Value *a = get(x);
  return elementwise("approx." + std::string(names[static_cast<unsigned>(fn)]) + "." + nameOf(a), a->getType(), {a});
}

ptx::Value LaneIrBuilder::roundToIntegral(Value a, Rounding r) {
  constexpr llvm::Intrinsic::ID byRounding[] = {ids::roundeven, ids::trunc, ids::floor, ids::ceil, ids::round};
  return put(ir.CreateUnaryIntrinsic(byRounding[static_cast<unsigned>(r)], get(a)));
}

ptx::Value LaneIrBuilder::floatToFloat(Value x, ScalarType to, Rounding r) {
  llvm::Value *a = get(x);
  llvm::Type *want = type(to);
  if (a->getType() == want) return x;
  const unsigned from = a->getType()->getScalarSizeInBits(), width = want->getScalarSizeInBits();
  if (from == width) return floatToFloat(put(ir.CreateFPExt(a, ir.getFloatTy())), to, r);  // half <-> bfloat
  if (from < width) return put(ir.CreateFPExt(a, want));
  if (r == Rounding::nearestEven) return put(ir.CreateFPTrunc(a, want));
  return elementwise("fptrunc." + suffix(r) + "." + nameOf(a) + "." + std::string(typeName(to)), want, {a});
}

// PTX's cvt: out of range gives the nearest value; NaN gives 0 if neither side has 64 bits, else only the
// highest bit set.
ptx::Value LaneIrBuilder::floatToInt(Value x, ScalarType to, bool isSigned, Rounding r) {
  llvm::Value *a = get(r == Rounding::zero ? x : roundToIntegral(x, r));
  llvm::Type *want = type(to);
  llvm::Value *v = ir.CreateIntrinsic(isSigned ? ids::fptosi_sat : ids::fptoui_sat, {want, a->getType()}, {a});
  const unsigned bits = want->getIntegerBitWidth();
  if (!a->getType()->isDoubleTy() && bits < 64) return put(v);
  llvm::Value *indefinite = ir.getInt(llvm::APInt::getSignMask(bits));
  return put(ir.CreateSelect(ir.CreateFCmpUNO(a, a), indefinite, v));
}

ptx::Value LaneIrBuilder::intToFloat(Value x, ScalarType to, bool isSigned, Rounding r) {
  llvm::Value *a = get(x);
  llvm::Type *want = type(to);
  if (r == Rounding::nearestEven) return put(isSigned ? ir.CreateSIToFP(a, want) : ir.CreateUIToFP(a, want));
  return elementwise((isSigned ? "sitofp." : "uitofp.") + suffix(r) + "." + nameOf(a) + "." + std::string(typeName(to)),
                     want, {a});
}

}  // namespace strata::simt
