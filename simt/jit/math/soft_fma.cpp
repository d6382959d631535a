// SPDX-License-Identifier: Apache-2.0
// fma for CPUs without the instruction (plain x86-64).
// f32: the product is exact in double; the sum is rounded to odd in double (TwoSum gives the remainder), then
// on to float. A function of its own, @strata.soft.fma32(a, b, c) of floats or <4 x float>: inline, kernels would grow
// to megabytes. f64: whole-number arithmetic in 128 bits in a function of its own, @strata.soft.fma(a, b, c, rounding),
// one call a lane. The product (106 bits) stands at the top of 126 bits, the addend is aligned to it or it to the
// addend, bits shifted out leave a sticky bit; then one normalisation, one rounding.
#include <llvm/IR/Module.h>

#include "simt/jit/math/expansions.h"

namespace strata::simt::math {

namespace {

Val fma32(Val a, Val b, Val c, Direction direction) {
  llvm::Type *f64 = a.builder().getDoubleTy();
  const Val p = a.extended(f64) * b.extended(f64), addend = c.extended(f64);
  const Val sum = p + addend;
  const Val back = sum - p;
  const Val residual = (p - (sum - back)) + (addend - back);
  const Val towardsZero = adjust(sum, residual, Direction::zero).asInt();
  const Val odd = select(ne(residual, residual.lit(0)), towardsZero | towardsZero.lit(1), sum.asInt()).as(f64);
  const CpuFeatures none;
  const Val r = narrow(none, odd, a.element(), direction);
  if (direction != Direction::down) return r;
  const Val signs = ((p.asInt() | addend.asInt()) & p.asInt().pattern(1ull << 63)).as(f64).rounded(a.element());
  return select(eq(sum, sum.lit(0)), signs, r);  // rounding down, a zero sum is -0 unless both are +0
}

llvm::Function *createHelper(llvm::Module &module, llvm::StringRef name, llvm::FunctionType *type) {
  llvm::Function *f = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module);
  f->addFnAttr(llvm::Attribute::NoInline);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  f->setMemoryEffects(llvm::MemoryEffects::none());
  return f;
}

Val softFma32(Val a, Val b, Val c, Direction direction) {
  llvm::IRBuilder<> &ir = a.builder();
  llvm::Module &module = *ir.GetInsertBlock()->getModule();
  const std::string name =
      "strata.soft.fma32." + std::to_string(static_cast<int>(direction)) + (a.lanes() ? ".v4" : "");
  llvm::Function *function = module.getFunction(name);
  if (!function) {
    llvm::Type *type = a.lanes() ? llvm::FixedVectorType::get(ir.getFloatTy(), 4) : ir.getFloatTy();
    function = createHelper(module, name, llvm::FunctionType::get(type, {type, type, type}, false));
    llvm::IRBuilder<> body(llvm::BasicBlock::Create(module.getContext(), "", function));
    const auto argument = [&](unsigned i) { return Val(body, function->getArg(i)); };
    body.CreateRet(fma32(argument(0), argument(1), argument(2), direction));
  }
  if (!a.lanes()) return a.made(ir.CreateCall(function, {a, b, c}));
  return inPieces(128, {a, b, c},
                  [&](llvm::ArrayRef<llvm::Value *> v) -> llvm::Value * { return ir.CreateCall(function, v); });
}

// The body of @strata.soft.fma. Names follow the essay above.
class SoftFma {
public:
  SoftFma(llvm::Module &module) : builder_(module.getContext()) {
    llvm::Type *f64 = builder_.getDoubleTy();
    auto *type = llvm::FunctionType::get(f64, {f64, f64, f64, builder_.getInt32Ty()}, false);
    function_ = createHelper(module, "strata.soft.fma", type);
  }
  llvm::Function *build();

private:
  struct Parts {
    Val sign, exponent, mantissa;
  };  // i1, i64 (biased), i64 with the leading bit at 52 (0 for zero)
  Parts unpack(Val x);
  Val shiftRightSticky(Val x, Val n);  // i128, n >= 0
  Val finite(Parts a, Parts b, Parts c);
  Val round(Val sign, Val sum, Val exponent);  // sum (top bit 127) * 2^exponent -> bits
  Val i128(Val x) { return x.extended(builder_.getInt128Ty()); }
  Val arg(unsigned i) { return Val(builder_, function_->getArg(i)); }
  Val mode(unsigned control) { return eq(arg(3), arg(3).lit(control)); }

  llvm::IRBuilder<> builder_;
  llvm::Function *function_;
};

SoftFma::Parts SoftFma::unpack(Val x) {
  const Val bits = x.asInt();
  const Val field = lshr(bits, 52) & bits.lit(0x7ff), fraction = bits & bits.pattern((1ull << 52) - 1);
  const Val leading = bits.made(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, fraction, builder_.getFalse()));
  const Val shift = leading - bits.lit(11);
  const Val isSubnormal = eq(field, bits.lit(0)), isZero = eq(fraction, bits.lit(0));
  const Val mantissa = select(isSubnormal, select(isZero, fraction, shl(fraction, select(isZero, bits.lit(0), shift))),
                              fraction | bits.pattern(1ull << 52));
  return {lt(bits, bits.lit(0)), select(isSubnormal, bits.lit(1) - shift, field), mantissa};
}

Val SoftFma::shiftRightSticky(Val x, Val n) {
  const Val limit = n.lit(127);
  const Val by = i128(select(gt(n, limit), limit, n));
  const Val shifted = lshr(x, by);
  return shifted | i128(ne(shl(shifted, by), x));
}

Val SoftFma::round(Val sign, Val sum, Val exponent) {
  llvm::Type *i64 = builder_.getInt64Ty();
  const Val biased = exponent + exponent.lit(127 + 1023), one = biased.lit(1);
  const Val isSubnormal = lt(biased, one);
  const Val value = shiftRightSticky(sum, select(isSubnormal, one - biased, biased.lit(0)));
  const Val field = select(isSubnormal, one, biased);
  const Val mantissa = lshr(value, 75).truncated(i64);
  const Val rest = shl(value, 53);  // the dropped 75 bits, at the top
  const Val half = shl(value.lit(1), 127), zero = value.lit(0);
  const Val aboveHalf = rest.made(builder_.CreateICmpUGT(rest, half));
  const Val roundsUp = aboveHalf | (eq(rest, half) & ne(mantissa & one, one.lit(0)));
  const Val inexact = ne(rest, zero);
  const Val increment = (mode(0) & roundsUp) | (mode(1) & inexact & sign) | (mode(2) & inexact & ~sign);
  const Val bits = shl(field - one, 52) + mantissa + increment.extended(i64);
  const Val infinity = bits.pattern(0x7ffull << 52);
  const Val overflow = ge(field, field.lit(0x7ff)) | ge(bits, infinity);
  const Val goesToInfinity = mode(0) | (mode(1) & sign) | (mode(2) & ~sign);
  return select(overflow, select(goesToInfinity, infinity, infinity - one), bits) | shl(sign.extended(i64), 63);
}

Val SoftFma::finite(Parts a, Parts b, Parts c) {
  llvm::Type *i64 = builder_.getInt64Ty();
  const Val product = shl(i128(a.mantissa) * i128(b.mantissa), 20);
  const Val addend = shl(i128(c.mantissa), 72);
  // Exponents of the lowest bits.
  const Val productExponent = a.exponent + b.exponent - a.exponent.lit(2150 + 20);
  const Val addendExponent =
      select(eq(c.mantissa, c.mantissa.lit(0)), productExponent, c.exponent - c.exponent.lit(1075 + 72));
  const Val distance = productExponent - addendExponent, zero = distance.lit(0);
  const Val productLarger = ge(distance, zero);
  const Val p = select(productLarger, product, shiftRightSticky(product, select(productLarger, zero, -distance)));
  const Val q = select(productLarger, shiftRightSticky(addend, select(productLarger, distance, zero)), addend);
  const Val sign = a.sign ^ b.sign;
  const Val difference = p - q;
  const Val flips = lt(difference, difference.lit(0));
  const Val opposite = sign ^ c.sign;
  const Val sum = select(opposite, select(flips, -difference, difference), p + q);
  const Val resultSign = select(opposite & flips, c.sign, sign);
  const Val leading = sum.made(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, sum, builder_.getFalse()));
  const Val isZero = eq(sum, sum.lit(0));
  const Val shift = select(isZero, leading.lit(0), leading);
  const Val exponent = select(productLarger, productExponent, addendExponent) - shift.truncated(i64);
  const Val cancelled = shl(mode(1).extended(i64), 63);
  return select(isZero, cancelled, round(resultSign, shl(sum, shift), exponent)).asFloat();
}

llvm::Function *SoftFma::build() {
  builder_.SetInsertPoint(llvm::BasicBlock::Create(builder_.getContext(), "", function_));
  const Val a = arg(0), b = arg(1), c = arg(2);
  const auto isSpecial = [](Val x) { return ~lt(abs(x), x.pattern(0x7ffull << 52)); };
  const Val product = a * b, sum = product + c;
  const Val aSpecial = isSpecial(a) | isSpecial(b), zeroProduct = eq(a, a.lit(0)) | eq(b, b.lit(0));
  const Val signBit = a.asInt().pattern(1ull << 63);
  const Val zeros = ((product.asInt() | c.asInt()) & signBit).asFloat();  // rounding down: -0 unless both are +0
  const Val withZero = select(mode(1) & eq(c, c.lit(0)), zeros, sum);
  const Val exact = finite(unpack(a), unpack(b), unpack(c));
  builder_.CreateRet(select(aSpecial, sum, select(isSpecial(c), c + c, select(zeroProduct, withZero, exact))));
  return function_;
}

Val softFma64(Val a, Val b, Val c, Direction direction) {
  llvm::IRBuilder<> &ir = a.builder();
  llvm::Module &module = *ir.GetInsertBlock()->getModule();
  llvm::Function *function = module.getFunction("strata.soft.fma");
  if (!function) function = SoftFma(module).build();
  const unsigned control = direction == Direction::down   ? 1
                           : direction == Direction::up   ? 2
                           : direction == Direction::zero ? 3
                                                          : 0;
  return perLane({a, b, c}, [&](llvm::ArrayRef<llvm::Value *> v) -> llvm::Value * {
    return ir.CreateCall(function, {v[0], v[1], v[2], ir.getInt32(control)});
  });
}

}  // namespace

Val softFma(Val a, Val b, Val c, Direction direction) {
  return a.bits() == 32 ? softFma32(a, b, c, direction) : softFma64(a, b, c, direction);
}

}  // namespace strata::simt::math
