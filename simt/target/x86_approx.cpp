// SPDX-License-Identifier: Apache-2.0
// PTX's approximate functions of f32. Polynomials are minimax fits (Remez, coefficients rounded to float one
// after the other); the error given is of the polynomial alone. Bounds to keep are PTX's: rcp 1 ulp, rsqrt
// 2^-22.9, ex2 2 ulp, lg2 2^-22, sin and cos 2^-20.5 in [-pi, pi], tanh 2^-11 (relative).
// AVX-512 has table look-ups and exponent instructions, which scalars use, too, so that lane mode computes the same;
// elsewhere plain division and exponent bits serve.
#include <llvm/IR/IntrinsicsX86.h>

#include <array>

#include "simt/jit/math/expansions.h"

namespace strata::simt::math {

using llvm::Value;
namespace x86 = llvm::Intrinsic;

// An AVX-512 instruction of the form op(operands…, passthru, mask[, last]).
static Val masked(Val x, llvm::Intrinsic::ID id, std::initializer_list<Val> operands,
                  std::initializer_list<unsigned> before, std::initializer_list<unsigned> after) {
  llvm::IRBuilder<> &b = x.builder();
  return inPieces(512, operands, [&](llvm::ArrayRef<Value *> v) -> Value * {
    llvm::SmallVector<Value *, 6> args(v.begin(), v.end());
    for (unsigned n : before) args.push_back(b.getInt32(n));
    args.push_back(llvm::Constant::getNullValue(v[0]->getType()));
    args.push_back(b.getInt16(0xffff));
    for (unsigned n : after) args.push_back(b.getInt32(n));
    return b.CreateIntrinsic(id, {}, args);
  });
}

// How vfixupimmps answers a class of operands, four bits each: QNaN, SNaN, zero, 1, -infinity, infinity, negative,
// positive.
enum class Answer : std::uint32_t { computed = 0, quietNan = 2, nan = 3, signedInfinity = 6, zero = 8 };

static Val fixedUp(Val computed, Val x, std::array<Answer, 8> answers) {
  std::uint32_t table = 0;
  for (unsigned i = 0; i < answers.size(); ++i) table |= static_cast<std::uint32_t>(answers[i]) << 4 * i;
  llvm::IRBuilder<> &b = x.builder();
  return inPieces(512, {computed, x}, [&](llvm::ArrayRef<Value *> v) -> Value * {
    Value *tables = b.CreateVectorSplat(16, b.getInt32(table));
    return b.CreateIntrinsic(x86::x86_avx512_mask_fixupimm_ps_512, {},
                             {v[0], v[1], tables, b.getInt32(0), b.getInt16(0xffff), b.getInt32(4)});
  });
}

// min and max that let a NaN in x through (minps, maxps).
static Val atMost(Val x, double limit) { return select(lt(x.lit(limit), x), x.lit(limit), x); }
static Val atLeast(Val x, double limit) { return select(gt(x.lit(limit), x), x.lit(limit), x); }

// rcp14, then one Newton step: 1 ulp. Where the step meets 0 * inf, the table's answer is exact.
Val approxRcp(const CpuFeatures &cpu, Val x) {
  if (!cpu.avx512) return x.lit(1) / x;
  const Val y = masked(x, x86::x86_avx512_rcp14_ps_512, {x}, {}, {});
  const Val refined = fma(y, fma(-x, y, x.lit(1)), y);
  return select(isNan(refined), y, refined);
}

Val approxRsqrt(const CpuFeatures &cpu, Val x) {
  if (!cpu.avx512) {
    // 1/sqrt rounds twice: 1 ulp.
    return x.lit(1) / sqrt(x);
  }
  const Val y = masked(x, x86::x86_avx512_rsqrt14_ps_512, {x}, {}, {});
  const Val error = fma(-(x * y), y, x.lit(1));
  using enum Answer;
  return fixedUp(fma(y * x.lit(0.5), error, y), x,
                 {quietNan, quietNan, signedInfinity, computed, nan, zero, nan, computed});
}

// 2^x = 2^n p(x - n), n the nearest integer; |error of p| < 2^-27.5. Integers give exact powers.
static Val ex2OfFraction(Val x) {
  return polynomial(x, {1, 0x1.62e432p-1, 0x1.ebfbe6p-3, 0x1.c6ada6p-5, 0x1.3b21c8p-7, 0x1.5fc086p-10, 0x1.4bb99p-13});
}

Val approxEx2(const CpuFeatures &cpu, Val x) {
  if (cpu.avx512) {
    const Val fraction = masked(x, x86::x86_avx512_mask_reduce_ps_512, {x}, {8}, {4});  // x - n; 0 of an infinity
    return masked(x, x86::x86_avx512_mask_scalef_ps_512, {ex2OfFraction(fraction), x - fraction}, {}, {4});
  }
  const Val c = atLeast(atMost(x, 130), -200);
  const double magic = 0x1.8p23;  // adding it leaves n in the low bits
  const Val shifted = c + x.lit(magic);
  const Val p = ex2OfFraction(c - (shifted - x.lit(magic)));
  const Val k = shifted.asInt() - x.lit(magic).asInt();
  const Val half = ashr(k, 1), rest = k - half;
  const auto power = [](Val e) { return shl(e + e.lit(127), 23).asFloat(); };
  return p * power(half) * power(rest);
}

// log2 x = e + t P(t), x = 2^e (1 + t) with 1 + t in [sqrt 1/2, sqrt 2); |error of P| < 2^-24.8, relative, so
// that results near x = 1 are good, too.
Val approxLg2(const CpuFeatures &cpu, Val x) {
  const auto logarithm = [](Val m, Val e) {
    const Val t = m - m.lit(1);
    const Val p = polynomial(t, {0x1.715476p+0, -0x1.71546ep-1, 0x1.ec7244p-2, -0x1.715d3ep-2, 0x1.27274cp-2,
                                 -0x1.e9b1e8p-3, 0x1.ae6f9ap-3, -0x1.9afcd4p-3, 0x1.41538p-3, -0x1.af7df6p-5});
    return fma(t, p, e);
  };
  const Val nan = x.pattern(0x7fffffff);
  if (cpu.avx512) {
    const Val e = masked(x, x86::x86_avx512_mask_getexp_ps_512, {x}, {}, {4});
    const Val m = masked(x, x86::x86_avx512_mask_getmant_ps_512, {x}, {4}, {4});  // [1, 2), sign dropped
    const Val large = gt(m, x.lit(0x1.6a09e6p0));
    const Val r = logarithm(select(large, m * x.lit(0.5), m), select(large, e + x.lit(1), e));
    return select(lt(x, x.lit(0)), nan, r);
  }
  const Val subnormal = lt(abs(x), x.lit(0x1p-126));
  const Val bits = select(subnormal, x * x.lit(0x1p23), x).asInt();
  const Val k = ashr(bits - bits.pattern(0x3f3504f3), 23);  // sqrt 1/2
  const Val e = fromSigned(select(subnormal, k - k.lit(23), k), x.element());
  const Val r = logarithm((bits - shl(k, 23)).asFloat(), e);
  const Val infinity = x.pattern(0x7f800000);
  const Val positive = select(eq(x, x.lit(0)), -infinity, select(eq(x, infinity), infinity, r));
  return select(ge(x, x.lit(0)), positive, nan);
}

// sin of r = x - h pi in [-pi/2, pi/2], negated if `odd` has its lowest bit set. pi in three parts (Cody and
// Waite) keeps r good for |x| up to 10^5 and more; far beyond, where the hardware's result is as arbitrary,
// the value at least stays in [-1, 1]. |error| < 2^-27 relative.
static Val sinOfReduced(Val x, Val h, Val odd) {
  const Val r = fma(h, x.lit(-0x1.357a3ep-47), fma(h, x.lit(0x1.777a5cp-24), fma(h, x.lit(-0x1.921fb6p+1), x)));
  const Val p = polynomial(r * r, {1, -0x1.55554cp-3, 0x1.110edap-7, -0x1.9f70e2p-13, 0x1.5dc754p-19});
  const Val s = atLeast(atMost(r * p, 1), -1);
  return (s.asInt() ^ shl(odd, 31)).as(x.element());
}

// The nearest integer to y: as a float, and its lowest bit.
static std::pair<Val, Val> nearestInteger(Val y) {
  const Val shifted = y + y.lit(0x1.8p23);
  return {shifted - y.lit(0x1.8p23), shifted.asInt()};
}

Val approxSin(const CpuFeatures &, Val x) {
  const auto [k, bits] = nearestInteger(x * x.lit(0x1.45f306p-2));
  return select(eq(x, x.lit(0)), x, sinOfReduced(x, k, bits));  // -0 stays -0
}

// cos(r + (k + 1/2) pi) = -(-1)^k sin r
Val approxCos(const CpuFeatures &, Val x) {
  const auto [k, bits] = nearestInteger(fma(x, x.lit(0x1.45f306p-2), x.lit(-0.5)));
  return sinOfReduced(x, k + x.lit(0.5), ~bits);
}

// Lambert's continued fraction, cut where it has passed 1: relative error below 2^-13, and 1 of infinity.
Val approxTanh(const CpuFeatures &cpu, Val x) {
  const Val c = atLeast(atMost(x, 5.2), -5.2);  // beyond 1 by more than the table's error
  const Val u = c * c;
  const Val numerator = c * polynomial(u, {135135, 17325, 378, 1});
  const Val denominator = polynomial(u, {135135, 62370, 3150, 28});
  const Val q =
      cpu.avx512 ? numerator * masked(x, x86::x86_avx512_rcp14_ps_512, {denominator}, {}, {}) : numerator / denominator;
  return atLeast(atMost(q, 1), -1);
}

}  // namespace strata::simt::math
