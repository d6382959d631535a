// SPDX-License-Identifier: Apache-2.0
// Cores that several float functions share: e^x in parts, 2^r, log(1 + f), arc functions. Polynomials are
// minimax fits with float coefficients; each one's error (relative, before rounding) stands beside it.
#pragma once

#include "core.h"

// Adding this to |t| < 2^22 rounds t to an integer, whose value is then in the sum's low bits.
static const float kRoundF = 0x1.8p23f;
static inline int exponentOf(float shifted) { return static_cast<int>(bits(shifted) - bits(kRoundF)); }

// e^x = 2^exponent (1 + r + tail), |r| < 0.35.
struct ExpParts {
  float r, tail;
  int exponent;
  // e^x 2^extra
  float value(int extra) const { return scale(1.0f + (r + tail), exponent + extra); }
};

// x is limited to where the result is neither 0 nor infinite, and a little beyond; a NaN passes.
static inline ExpParts expParts(float x) {
  float limited = x < -105.0f ? -105.0f : x > 90.0f ? 90.0f : x;
  float shifted = fma(limited, 0x1.715476p+0f, kRoundF);
  float n = shifted - kRoundF;
  float r = fma(n, -0x1.62e430p-1f, limited);
  r = fma(n, 0x1.05c610p-29f, r);
  // e^r = 1 + r + r^2/2 + r^3 q, 2^-31
  float q = horner(r, 0x1.555556p-3f, 0x1.5554ecp-5f, 0x1.110f66p-7f, 0x1.6d4a0ap-10f, 0x1.a3db32p-13f);
  return {r, r * r * fma(r, q, 0.5f), exponentOf(shifted)};
}

// 2^r for |r| <= 0.5: 2^-28.5
static inline float exp2Poly(float r) {
  float q = horner(r, 0x1.ebfbdcp-3f, 0x1.c6af76p-5f, 0x1.3b2d9ap-7f, 0x1.5f0c76p-10f, 0x1.41c7e8p-13f);
  return fma(r, fma(r, q, 0x1.62e430p-1f), 1.0f);
}

// A positive finite number as 2^exponent (1 + fraction), fraction in [sqrt(1/2) - 1, sqrt(2) - 1), exact.
struct LogParts {
  float fraction;
  float exponent;
};
static inline LogParts logParts(float x) {
  bool subnormal = x < 0x1p-126f;
  float normal = subnormal ? x * 0x1p23f : x;
  int32_t exponent = static_cast<int32_t>(bits(normal) - 0x3f3504f3u) >> 23;
  float m = fromBits(bits(normal) - (static_cast<uint32_t>(exponent) << 23));
  return {m - 1.0f, static_cast<float>(subnormal ? exponent - 23 : exponent)};
}

// (log(1 + f) - f + f^2/2) / f^3 for f in [sqrt(1/2) - 1, sqrt(2) - 1), 2^-30
static inline float log1pPoly(float f) {
  return horner(f, 0x1.555546p-2f, -0x1.000060p-2f, 0x1.99a602p-3f, -0x1.5536e6p-3f, 0x1.22ffc2p-3f, -0x1.00710cp-3f,
                0x1.eea81ap-4f, -0x1.c5cff0p-4f, 0x1.cd8af8p-5f);
}
static inline float log1pTail(float f) { return f * f * fma(f, log1pPoly(f), -0.5f); }

// What a logarithm gives outside the positive finite numbers.
static inline float logSpecial(float x, float result) {
  result = x == 0.0f ? -kInfinityF : result;
  result = x < 0.0f ? kNanF : result;
  return x < kInfinityF ? result : x;  // +infinity and NaN pass
}

// atan(t) for 0 <= t <= 1: t + t^3 P(t^2), 2^-26
static inline float atanPoly(float t) {
  float z = t * t;
  float p = horner(z, -0x1.5554eep-2f, 0x1.997c1ep-3f, -0x1.23245ep-3f, 0x1.b5a8bep-4f, -0x1.36fdbep-4f, 0x1.65df5ep-5f,
                   -0x1.10ebccp-6f, 0x1.884548p-9f);
  return fma(t * z, p, t);
}

// asin(t) for |t| <= 0.5625, z = t^2: t + t z P(z), 2^-29
static inline float asinPoly(float t, float z) {
  float p = horner(z, 0x1.555524p-3f, 0x1.3349dap-4f, 0x1.6a472cp-5f, 0x1.1710c0p-5f, 0x1.afa13ep-8f, 0x1.865b16p-5f);
  return fma(t * z, p, t);
}
