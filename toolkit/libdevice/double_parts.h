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
  // e^x 2^extra
  double value(int extra) const { return scale(1.0 + (r + tail), exponent + extra); }
};

// e^r - 1 - r for |r| < 0.3466: r^2 q, 2^-64
static inline double expTail(double r) {
  double q = horner(r, 0x1.0p-1, 0x1.555555555555cp-3, 0x1.5555555555556p-5, 0x1.111111110e97ep-7, 0x1.6c16c16c161e5p-10,
                    0x1.a01a01b490194p-13, 0x1.a01a01a660117p-16, 0x1.71dded8ec9fc9p-19, 0x1.27e4df0283b2ap-22,
                    0x1.af7038371ea02p-26, 0x1.1f68785345fc2p-29);
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
