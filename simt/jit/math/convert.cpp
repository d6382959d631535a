// SPDX-License-Identifier: Apache-2.0
// Conversions between float formats and from integers, rounded exactly once. The tool is rounding to odd: a
// value rounded to odd in a format with two more bits than the target rounds on to the same result as
// the exact value.
#include <llvm/ADT/APFloat.h>

#include "simt/jit/math/expansions.h"

namespace strata::simt::math {

using llvm::Type;

// --- widening: exact ----------------------------------------------------------------------------------

// half to float without F16C: shift exponent and mantissa into place; a multiplication by 2^112 sets the
// bias right, subnormals included; infinity and NaN get the full exponent.
static Val halfToFloat(Val h) {
  Type *i32 = h.builder().getInt32Ty();
  const Val bits = h.asInt().extended(i32);
  const Val shifted = shl(bits & bits.lit(0x7fff), 13);
  const Val scaled = (shifted.asFloat() * shifted.asFloat().lit(0x1p112)).asInt();
  const Val special = ge(shifted, shifted.lit(0x7c00 << 13));
  const Val magnitude = select(special, shifted | shifted.lit(0x7f800000), scaled);
  return (magnitude | shl(bits & bits.lit(0x8000), 16)).asFloat();
}

Val widen(const CpuFeatures &cpu, Val x, Type *to) {
  if (x.element() == to) return x;
  llvm::IRBuilder<> &b = x.builder();
  if (to->isDoubleTy() && x.bits() == 16) return widen(cpu, x, b.getFloatTy()).extended(to);
  if (x.element()->isBFloatTy()) return shl(x.asInt().extended(b.getInt32Ty()), 16).asFloat();
  if (x.element()->isHalfTy() && !cpu.convertsHalf) return halfToFloat(x);
  return x.extended(to);
}

// --- narrowing ----------------------------------------------------------------------------------------

// double to float, rounded to odd: towards zero, then the lowest bit says "inexact".
static Val toOdd(Val x, Type *to) {
  const Val r = x.rounded(to);
  const Val back = r.extended(x.element());
  const Val bits = r.asInt();
  const Val truncated = select(gt(abs(back), abs(x)), bits - bits.lit(1), bits);
  return select(ne(back, x), truncated | bits.lit(1), bits).as(to);
}

// float to bfloat, nearest even, on the bits. NaNs become PTX's canonical one.
static Val floatToBfloat(Val x) {
  const Val bits = x.asInt();
  const Val rounded = lshr(bits + bits.lit(0x7fff) + (lshr(bits, 16) & bits.lit(1)), 16);
  return select(isNan(x), bits.lit(0x7fff), rounded).truncated(x.builder().getInt16Ty()).as(x.builder().getBFloatTy());
}

// float to half without F16C. Large: rebias and round on the bits (a carry runs into the exponent, up to
// infinity). Small: adding 0.5 lines the bits of a subnormal half up at the bottom of the float.
static Val floatToHalf(Val x) {
  const Val bits = x.asInt();
  const Val sign = lshr(bits, 16) & bits.lit(0x8000);
  const Val magnitude = bits & bits.lit(0x7fffffff);
  const Val odd = lshr(magnitude, 13) & bits.lit(1);
  const Val normal = lshr(magnitude - bits.lit(112 << 23) + bits.lit(0xfff) + odd, 13);
  const Val half = x.lit(0.5);
  const Val subnormal = (magnitude.asFloat() + half).asInt() - half.asInt();
  const Val finite = select(lt(magnitude, bits.lit(113 << 23)), subnormal, normal);
  const Val limited = select(ge(magnitude, bits.lit(143 << 23)), bits.lit(0x7c00), finite);
  const Val result = select(isNan(x), bits.lit(0x7fff), limited | sign);
  return result.truncated(x.builder().getInt16Ty()).as(x.builder().getHalfTy());
}

static Val narrowNearest(const CpuFeatures &cpu, Val x, Type *to) {
  llvm::IRBuilder<> &b = x.builder();
  if (to->isFloatTy() || (to->isHalfTy() && cpu.computesHalf)) return x.rounded(to);
  const Val f = x.element()->isDoubleTy() ? toOdd(x, b.getFloatTy()) : x;
  if (to->isBFloatTy()) return floatToBfloat(f);
  return cpu.convertsHalf ? f.rounded(to) : floatToHalf(f);
}

Val narrow(const CpuFeatures &cpu, Val x, Type *to, Direction direction) {
  if (x.element() == to) return x;
  const Val r = narrowNearest(cpu, x, to);
  if (direction == Direction::nearestEven) return r;
  const Val back = widen(cpu, r, x.element());
  // The sign of x - r; a difference would be 0 for x beyond the largest value and r infinite.
  const Val residual = select(gt(x, back), x.lit(1), select(lt(x, back), x.lit(-1), x.lit(0)));
  return adjust(r, residual, direction);
}

// --- integers -----------------------------------------------------------------------------------------

// An i64 as the exact sum of two doubles: high part and low part.
static std::pair<Val, Val> halves(Val x, bool isSigned) {
  llvm::IRBuilder<> &b = x.builder();
  Type *f64 = b.getDoubleTy();
  const Val high = isSigned ? ashr(x, 32) : lshr(x, 32);
  const Val low = x & x.pattern(0xffffffff);
  const Val highDouble = x.made(isSigned ? b.CreateSIToFP(high, x.shaped(f64)) : b.CreateUIToFP(high, x.shaped(f64)));
  const Val lowDouble = x.made(b.CreateUIToFP(low, x.shaped(f64)));
  return {highDouble * highDouble.lit(0x1p32), lowDouble};
}

Val integerToFloat(const CpuFeatures &cpu, Val x, Type *to, bool isSigned, Direction direction) {
  llvm::IRBuilder<> &b = x.builder();
  const auto plain = [&](Type *type) {
    return x.made(isSigned ? b.CreateSIToFP(x, x.shaped(type)) : b.CreateUIToFP(x, x.shaped(type)));
  };
  const bool native = to->isFloatTy() || to->isDoubleTy();
  if (native && direction == Direction::nearestEven) return plain(to);
  if (x.bits() <= 32) return narrow(cpu, plain(b.getDoubleTy()), to, direction);  // a double holds it exactly
  const auto [high, low] = halves(x, isSigned);
  const Val sum = high + low, residual = low - (sum - high);  // exact: |high| >= |low| or high = 0
  if (to->isDoubleTy()) return adjust(sum, residual, direction);
  // Sticky: make the double odd if something is left, so that rounding on is exact.
  const Val towardsZero = adjust(sum, residual, Direction::zero).asInt();
  const Val odd = select(eq(residual, residual.lit(0)), towardsZero, towardsZero | towardsZero.lit(1));
  return narrow(cpu, odd.as(b.getDoubleTy()), to, direction);
}

}  // namespace strata::simt::math
