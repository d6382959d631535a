// SPDX-License-Identifier: Apache-2.0
// Powers and roots in float.
#include "float_parts.h"

namespace {

// log2(x) of a positive normal or subnormal number as a pair, relative error about 2^-31.
// log(m) = 2 atanh(s), s = f / (2 + f), all in pairs where it matters.
inline Pair<float> log2Pair(float x) {
  LogParts p = logParts(x);
  float f = p.fraction;
  float d = addRn(2.0f, f);
  float dLow = subRn(f, subRn(d, 2.0f));
  float inverse = 1.0f / d;
  float s = mulRn(f, inverse);
  float sLow = inverse * fma(-s, dLow, fma(-s, d, f));
  float z = s * s;
  float tail = z * s * horner(z, 0x1.555554p-2f, 0x1.999c26p-3f, 0x1.23d3e0p-3f, 0x1.f13b76p-4f);
  Pair<float> series = fastTwoSum(s, tail + sLow);
  // times 2 / log(2)
  Pair<float> product = twoProduct(series.high, 0x1.715476p+1f);
  product.low = fma(series.high, 0x1.4ae0c0p-25f, fma(series.low, 0x1.715476p+1f, product.low));
  Pair<float> sum = fastTwoSum(p.exponent, product.high);
  Pair<float> result = p.exponent == 0.0f ? product : Pair<float>{sum.high, sum.low + product.low};
  return fastTwoSum(result.high, result.low);
}

// |x|^y for finite, non-zero, positive x; limited where it overflows or vanishes.
inline float powPositive(float x, float y) {
  Pair<float> l = log2Pair(x);
  float high = mulRn(y, l.high);
  float low = fma(y, l.low, fma(y, l.high, -high));
  bool huge = abs(high) > 200.0f || isNan(high);
  high = huge ? withSign(200.0f, y * l.high) : high;
  low = huge ? 0.0f : low;
  float n = __builtin_rintf(high);
  float r = (high - n) + low;
  return scale(exp2Poly(r), static_cast<int>(n));
}

// 0: not an integer, 1: odd, 2: even.
inline int parity(float y) {
  float a = abs(y);
  bool integer = a == __builtin_truncf(a);
  float half = a * 0.5f;
  bool even = half == __builtin_truncf(half);
  return integer ? (even ? 2 : 1) : 0;
}

inline float powSpecial(float x, float y, float result) {
  float a = abs(x);
  int kind = parity(y);
  bool negative = bits(x) >> 31;
  // x = 0 or infinite: the result is 0 or infinite by the sign of y
  bool zeroBase = a == 0.0f, infiniteBase = a == kInfinityF;
  result = zeroBase || infiniteBase ? ((y < 0.0f) != infiniteBase ? kInfinityF : 0.0f) : result;
  // y infinite
  bool infiniteExponent = abs(y) == kInfinityF;
  result = infiniteExponent ? (a == 1.0f ? 1.0f : ((a > 1.0f) == (y > 0.0f) ? kInfinityF : 0.0f)) : result;
  result = negative && kind == 1 && !infiniteExponent ? -result : result;
  result = x < 0.0f && a < kInfinityF && kind == 0 && !infiniteExponent ? kNanF : result;
  result = isNan(x) || isNan(y) ? x + y : result;
  return x == 1.0f || y == 0.0f ? 1.0f : result;
}

// a^(-1/3) for normal a, error about 2^-22: dividing the exponent by -3 gives a guess within 5 %, and each
// of two steps cubes its error.
inline float inverseCubeRoot(float a) {
  float z = fromBits(0x548c2b4bu - bits(a) / 3);
  for (int step = 0; step < 2; ++step) {
    float h = fma(-(a * z), z * z, 1.0f);
    z = fma(z * h, fma(h, 0x1.c71c72p-3f, 0x1.555556p-2f), z);
  }
  return z;
}

}  // namespace

extern "C" {

float __nv_powf(float x, float y) { return powSpecial(x, y, powPositive(abs(x), y)); }

float __nv_powif(float x, int y) { return __nv_powf(x, static_cast<float>(y)); }

float __nv_cbrtf(float x) {
  float a = abs(x);
  bool subnormal = a < 0x1p-126f;
  float normal = subnormal ? a * 0x1p24f : a;
  float z = inverseCubeRoot(normal);
  float y = normal * z * z;
  // one Newton step with the residual a - y^3 exact to first order
  Pair<float> square = twoProduct(y, y);
  float residual = fma(-square.high, y, normal) - square.low * y;
  y = fma(residual * z, z * 0x1.555556p-2f, y);
  y = subnormal ? y * 0x1p-8f : y;
  return a == 0.0f || !(a < kInfinityF) ? x + x : withSign(y, x);
}

float __nv_rcbrtf(float x) {
  float a = abs(x);
  bool subnormal = a < 0x1p-126f;
  float normal = subnormal ? a * 0x1p24f : a;
  float z = inverseCubeRoot(normal);
  Pair<float> p = twoProduct(normal, z), q = twoProduct(z, z);
  float h = fma(-p.high, q.high, 1.0f) - fma(p.low, q.high, p.high * q.low);
  z = fma(z * 0x1.555556p-2f, h, z);
  z = subnormal ? z * 0x1p8f : z;
  z = a == 0.0f ? kInfinityF : z;
  z = a == kInfinityF ? 0.0f : z;
  return isNan(x) ? x : withSign(z, x);
}

float __nv_hypotf(float x, float y) {
  float a = abs(x), b = abs(y);
  float larger = a > b ? a : b, smaller = a > b ? b : a;
  // a power of two that brings the larger one near 1
  uint32_t exponent = bits(larger) & 0x7f800000u;
  exponent = exponent > 0x7e000000u ? 0x7e000000u : exponent < 0x01000000u ? 0x01000000u : exponent;
  float down = fromBits(0x7f000000u - exponent), up = fromBits(exponent);
  float l = larger * down, s = smaller * down;
  float result = __builtin_sqrtf(fma(l, l, s * s)) * up;
  result = isNan(x) || isNan(y) ? x + y : result;
  return a == kInfinityF || b == kInfinityF ? kInfinityF : result;
}

}  // extern "C"
