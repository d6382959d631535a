// SPDX-License-Identifier: Apache-2.0
// What every part of the device math library uses. The sources compile twice: to NVPTX bitcode (the
// library) and to host objects (tests/libdevice compares them with MPFR), so they use no intrinsic outside
// this file and instructions.cpp.
//
// House rules: no memory tables (a gather is slow on a SIMD device), selects in place of branches, one
// rarely taken branch at most. Sums and products whose rounding error is computed afterwards are written
// with addRn/mulRn: NVPTX and ptxas may fuse a plain a * b + c.
#pragma once

#include <stdint.h>

#include "strata/device/libdevice.h"

#if defined(__NVPTX__)
#define STRATA_LIBDEVICE_RN(suffix, Type)                                                  \
  static inline Type addRn(Type a, Type b) { return __nvvm_add_rn_##suffix(a, b); }        \
  static inline Type subRn(Type a, Type b) { return __nvvm_add_rn_##suffix(a, -b); }       \
  static inline Type mulRn(Type a, Type b) { return __nvvm_mul_rn_##suffix(a, b); }
#else
#define STRATA_LIBDEVICE_RN(suffix, Type)                     \
  static inline Type addRn(Type a, Type b) { return a + b; }  \
  static inline Type subRn(Type a, Type b) { return a - b; }  \
  static inline Type mulRn(Type a, Type b) { return a * b; }
#endif
STRATA_LIBDEVICE_RN(f, float)
STRATA_LIBDEVICE_RN(d, double)
#undef STRATA_LIBDEVICE_RN

static inline uint32_t bits(float x) { return __builtin_bit_cast(uint32_t, x); }
static inline uint64_t bits(double x) { return __builtin_bit_cast(uint64_t, x); }
static inline float fromBits(uint32_t x) { return __builtin_bit_cast(float, x); }
static inline double fromBits(unsigned long x) { return __builtin_bit_cast(double, x); }
static inline double fromBits(unsigned long long x) { return __builtin_bit_cast(double, x); }

static inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline float abs(float x) { return __builtin_fabsf(x); }
static inline double abs(double x) { return __builtin_fabs(x); }
static inline float withSign(float magnitude, float sign) { return __builtin_copysignf(magnitude, sign); }
static inline double withSign(double magnitude, double sign) { return __builtin_copysign(magnitude, sign); }
static inline bool isNan(float x) { return x != x; }
static inline bool isNan(double x) { return x != x; }

static const float kInfinityF = __builtin_inff();
static const double kInfinity = __builtin_inf();
static const float kNanF = __builtin_nanf("");
static const double kNan = __builtin_nan("");

// Coefficients from the constant term upwards, by Horner's rule.
template <typename Float>
static inline Float horner(Float, Float last) {
  return last;
}
template <typename Float, typename... Rest>
static inline Float horner(Float x, Float first, Float second, Rest... rest) {
  return fma(horner(x, second, rest...), x, first);
}

// 2^n for normal results: n in [-126, 127], [-1022, 1023].
static inline float pow2f(int n) { return fromBits(static_cast<uint32_t>(n + 127) << 23); }
static inline double pow2(int n) { return fromBits(static_cast<uint64_t>(n + 1023) << 52); }
// x * 2^n, rounded once if x is normal: n in [-252, 254], [-2044, 2046].
static inline float scale(float x, int n) {
  int half = n >> 1;
  return x * pow2f(half) * pow2f(n - half);
}
static inline double scale(double x, int n) {
  int half = n >> 1;
  return x * pow2(half) * pow2(n - half);
}

// An unevaluated sum, |low| <= ulp(high) / 2.
template <typename Float>
struct Pair {
  Float high, low;
};
// a + b exactly, for |a| >= |b| or a = 0.
template <typename Float>
static inline Pair<Float> fastTwoSum(Float a, Float b) {
  Float sum = addRn(a, b);
  return {sum, subRn(b, subRn(sum, a))};
}
template <typename Float>
static inline Pair<Float> twoSum(Float a, Float b) {
  Float sum = addRn(a, b);
  Float bPart = subRn(sum, a);
  return {sum, addRn(subRn(a, subRn(sum, bPart)), subRn(b, bPart))};
}
template <typename Float>
static inline Pair<Float> twoProduct(Float a, Float b) {
  Float product = mulRn(a, b);
  return {product, fma(a, b, -product)};
}
