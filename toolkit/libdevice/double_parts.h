// SPDX-License-Identifier: Apache-2.0
// Cores that several double functions share. Polynomials are minimax fits; the error of each (relative,
// before rounding) stands beside it.
#pragma once

#include "core.h"

// Adding this to |t| < 2^51 rounds t to an integer, whose value is then in the sum's low bits.
static const double kRound = 0x1.8p52;
static inline int exponentOf(double shifted) { return static_cast<int>(bits(shifted)); }

// e^x = 2^exponent (1 + r + tail), |r| < 0.35; rLow is what r lost to rounding.
struct ExpParts {
  double r, rLow, tail;
  int exponent;
  // e^x 2^extra; a NaN's exponent may be any number, so that the sum must be free to wrap.
  double value(int extra) const {
    return scale(1.0 + (r + tail), static_cast<int>(static_cast<unsigned>(exponent) + extra));
  }
};

// e^r - 1 - r for |r| < 0.3466: r^2 q, 2^-64
static inline double expTail(double r) {
  double q = horner(r, 0x1.0p-1, 0x1.555555555555cp-3, 0x1.5555555555556p-5, 0x1.111111110e97ep-7,
                    0x1.6c16c16c161e5p-10, 0x1.a01a01b490194p-13, 0x1.a01a01a660117p-16, 0x1.71dded8ec9fc9p-19,
                    0x1.27e4df0283b2ap-22, 0x1.af7038371ea02p-26, 0x1.1f68785345fc2p-29);
  return r * r * q;
}

// x is limited to where the result is neither 0 nor infinite, and a little beyond; a NaN passes.
static inline ExpParts expParts(double x) {
  double limited = x < -750.0 ? -750.0 : x > 715.0 ? 715.0 : x;
  double shifted = fma(limited, 0x1.71547652b82fep+0, kRound);
  double n = shifted - kRound;
  double exact = fma(n, -0x1.62e42fefa39efp-1, limited);
  double r = fma(n, -0x1.abc9e3b39803fp-56, exact);
  double rLow = fma(n, -0x1.abc9e3b39803fp-56, subRn(exact, r));
  return {r, rLow, expTail(r), exponentOf(shifted)};
}

// 2^r - 1 for |r| <= 0.5: 2^-63
static inline double exp2MinusOne(double r) {
  double q = horner(r, 0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a0ccp-5, 0x1.3b2ab6fba4d05p-7, 0x1.5d87fe78a2657p-10,
                    0x1.430912f8e01c6p-13, 0x1.ffcbfc765d393p-17, 0x1.62c02056dfb92p-20, 0x1.b524d88a9739ep-24,
                    0x1.e4d6465b35ef5p-28, 0x1.ea09ef757c4c9p-32, 0x1.bab10d6958346p-36);
  return fma(r, 0x1.62e42fefa39efp-1, r * fma(r, q, 0x1.abc9e3b39803fp-56));
}

// A positive finite number as 2^exponent (1 + fraction), fraction in [sqrt(1/2) - 1, sqrt(2) - 1), exact.
struct LogParts {
  double fraction, exponent;
};
static inline LogParts logParts(double x) {
  bool subnormal = x < 0x1p-1022;
  double normal = subnormal ? x * 0x1p54 : x;
  int64_t exponent = static_cast<int64_t>(bits(normal) - 0x3fe6a09e667f3bcdull) >> 52;
  double m = fromBits(bits(normal) - (static_cast<uint64_t>(exponent) << 52));
  return {m - 1.0, static_cast<double>(static_cast<int>(exponent) - (subnormal ? 54 : 0))};
}

// log(1 + f) - f. With s = f / (2 + f): log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + 2 s^2 P(s^2)), 2^-66.
static inline double log1pTail(double f) {
  double s = f / (2.0 + f);
  double z = s * s;
  double p = horner(z, 0x1.5555555555555p-2, 0x1.9999999999d11p-3, 0x1.2492492439871p-3, 0x1.c71c724b53b73p-4,
                    0x1.745ce1d15771cp-4, 0x1.3b2022bc84831p-4, 0x1.0f677070d8a1bp-4, 0x1.0f0c288513ff1p-4);
  double half = 0.5 * f * f;
  return fma(s, fma(z + z, p, half), -half);
}

// What a logarithm gives outside the positive finite numbers.
static inline double logSpecial(double x, double result) {
  result = x == 0.0 ? -kInfinity : result;
  result = x < 0.0 ? kNan : result;
  return x < kInfinity ? result : x;  // +infinity and NaN pass
}

// log2(x) of a positive number as a pair, relative error about 2^-65. log(m) = 2 atanh(s), s = f / (2 + f);
// s and s^3/3 are pairs, the rest of the series is not.
static inline Pair<double> log2Pair(double x) {
  LogParts p = logParts(x);
  double f = p.fraction;
  double d = addRn(2.0, f);
  double dLow = subRn(f, subRn(d, 2.0));
  double inverse = 1.0 / d;
  double s = mulRn(f, inverse);
  double sLow = inverse * fma(-s, dLow, fma(-s, d, f));
  Pair<double> z = twoProduct(s, s);
  z.low = fma(s + s, sLow, z.low);
  double rest = horner(z.high, 0x1.99999999999e1p-3, 0x1.2492492479950p-3, 0x1.c71c7203b65d9p-4, 0x1.745cf6c0a1b89p-4,
                       0x1.3b1ccda590ce2p-4, 0x1.0fad8a034e5c3p-4, 0x1.0cb7dc278a786p-4);
  // q = 1/3 + z rest, then the series is s + s z q
  Pair<double> q = fastTwoSum(0x1.5555555555555p-2, z.high * rest);
  q.low += 0x1.5555555555555p-56 + z.low * rest;
  Pair<double> zq = twoProduct(z.high, q.high);
  zq.low += fma(z.high, q.low, z.low * q.high);
  Pair<double> szq = twoProduct(s, zq.high);
  szq.low += fma(s, zq.low, sLow * zq.high);
  Pair<double> series = fastTwoSum(s, szq.high);
  series.low += szq.low + sLow;
  // times 2 / log(2)
  Pair<double> product = twoProduct(series.high, 0x1.71547652b82fep+1);
  product.low = fma(series.high, 0x1.777d0ffda0d24p-55, fma(series.low, 0x1.71547652b82fep+1, product.low));
  Pair<double> sum = fastTwoSum(p.exponent, product.high);
  Pair<double> whole = {sum.high, sum.low + product.low};
  whole = p.exponent == 0.0 ? product : whole;
  return fastTwoSum(whole.high, whole.low);
}

// factor * 2^(high + low) for |high| <= 1300, |low| < 2^-40, factor near 1: one rounding of the result more.
static inline double exp2Pair(Pair<double> x, double factor) {
  double n = __builtin_rint(x.high);
  double r = subRn(x.high, n);
  double p = exp2MinusOne(r);
  p = fma(x.low * 0x1.62e42fefa39efp-1, 1.0 + p, p);
  return scale(fma(factor, p, factor), static_cast<int>(n));
}

// Products and sums of pairs, relative error about 2^-103.
static inline Pair<double> multiply(Pair<double> a, Pair<double> b) {
  Pair<double> product = twoProduct(a.high, b.high);
  product.low += fma(a.high, b.low, a.low * b.high);
  return fastTwoSum(product.high, product.low);
}
static inline Pair<double> add(Pair<double> a, Pair<double> b) {
  Pair<double> sum = twoSum(a.high, b.high);
  Pair<double> low = twoSum(a.low, b.low);
  sum = fastTwoSum(sum.high, sum.low + low.high);
  return fastTwoSum(sum.high, sum.low + low.low);
}
static inline Pair<double> reciprocal(double a) {
  double high = 1.0 / a;
  return {high, fma(-high, a, 1.0) / a};
}
