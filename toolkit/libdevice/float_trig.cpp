// SPDX-License-Identifier: Apache-2.0
// Trigonometric functions in float. The argument is brought to [-pi/4, pi/4] plus a quadrant: by fma with pi/2
// in three parts up to 2^16 or so, beyond by a product with the bits of 2/pi that matter (Payne and Hanek).
#include "float_parts.h"

namespace {

struct Reduced {
  float r;
  int quadrant;
};

// 2/pi's binary fraction, most significant word first: 24 + 128 bits reach past float's largest exponent.
const uint32_t kTwoOverPi[] = {0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
                               0xdb629599u, 0x3c439041u, 0xfe5163abu};

// |x| >= 2^16, finite. x = m 2^e with an integer m of 24 bits; of x * 2/pi only the two integer bits and the
// 62 bits after them are kept: words before do not change the quadrant, words after are below 2^-62 + 24.
__attribute__((noinline)) Reduced reduceLarge(float x) {
  uint32_t b = bits(x);
  uint32_t e = ((b >> 23) & 0xff) - 150;  // may wrap below 0 for 2^16 <= |x| < 2^23
  uint64_t m = (b & 0x7fffff) | 0x800000;
  // The product's bit of weight 2^0 lies e + … bits into the fraction: start one word earlier.
  int shift = static_cast<int>(e) - 2;  // bits of 2/pi that weigh 4 or more
  uint32_t skip = shift > 0 ? static_cast<uint32_t>(shift) : 0;
  uint32_t word = skip >> 5, bit = skip & 31;
  uint64_t w0 = kTwoOverPi[word], w1 = kTwoOverPi[word + 1], w2 = kTwoOverPi[word + 2], w3 = kTwoOverPi[word + 3];
  uint64_t high = (w0 << 32) | w1, low = (w2 << 32) | w3;
  uint64_t window = bit ? (high << bit) | (low >> (64 - bit)) : high;  // 64 bits from bit `skip` on
  uint64_t next = low << bit;                                          // and those after
  // product = m * (window.next), as a fraction of 4 after the left shift; wraps modulo 4 by itself
  unsigned __int128 product =
      static_cast<unsigned __int128>(window) * m + ((static_cast<unsigned __int128>(next) * m) >> 64);
  // window's unit is 2^-(skip + 64), so the product is x * 2/pi in units of 2^(e - skip - 64)
  int unit = static_cast<int>(e) - static_cast<int>(skip);           // <= 2, > -16
  uint64_t quarters = static_cast<uint64_t>(product >> (2 - unit));  // in units of 2^-62
  int quadrant = static_cast<int>(quarters >> 62);
  int64_t fraction = static_cast<int64_t>(quarters << 2);  // [-0.5, 0.5) in units of 2^-64
  quadrant += fraction < 0;
  double scaled = static_cast<double>(fraction) * (0x1.921fb54442d18p+0 * 0x1p-64);
  float r = static_cast<float>(scaled);
  return {x < 0.0f ? -r : r, x < 0.0f ? -quadrant : quadrant};
}

inline Reduced reduce(float x) {
  float shifted = fma(x, 0x1.45f306p-1f, kRoundF);
  float n = shifted - kRoundF;
  float r = fma(n, -0x1.921fb6p+0f, x);
  r = fma(n, 0x1.777a5cp-25f, r);
  r = fma(n, 0x1.ee59dap-50f, r);
  Reduced result = {r, exponentOf(shifted)};
  if (__builtin_expect(abs(x) >= 0x1p16f, 0)) {
    if (abs(x) < kInfinityF) result = reduceLarge(x);
    else result = {kNanF, 0};
  }
  return result;
}

inline float sinPoly(float r) {  // 2^-32.5
  float z = r * r;
  float p = horner(z, -0x1.555556p-3f, 0x1.111176p-7f, -0x1.a05bb8p-13f, 0x1.7cd738p-19f);
  return fma(z * r, p, r);
}

inline float cosPoly(float r) {  // 2^-37
  float z = r * r;
  float p = horner(z, 0x1.555556p-5f, -0x1.6c1762p-10f, 0x1.a075e8p-16f, -0x1.372430p-22f);
  return fma(z, fma(z, p, -0.5f), 1.0f);
}

inline float bySign(float x, int negative) { return fromBits(bits(x) ^ (static_cast<uint32_t>(negative) << 31)); }

struct SinCos {
  float sine, cosine;
};
// The quadrant turns (cos, sin) by 90 degrees each.
inline SinCos turn(float sine, float cosine, int quadrant) {
  float s = quadrant & 1 ? cosine : sine;
  float c = quadrant & 1 ? sine : cosine;
  return {bySign(s, (quadrant >> 1) & 1), bySign(c, ((quadrant + 1) >> 1) & 1)};
}

// sin(pi x) and cos(pi x): the nearest half integer is subtracted exactly.
inline SinCos sinCosPi(float x) {
  float limited = abs(x) < 0x1p24f ? x : 0.0f;  // from there on all floats are even
  float n = __builtin_rintf(limited + limited);
  float r = fma(n, -0.5f, limited);
  int quadrant = static_cast<int>(n);
  float z = r * r;
  float ps = horner(z, -0x1.4abbcep+2f, 0x1.466b78p+1f, -0x1.32adcep-1f, 0x1.445260p-4f);
  float sine = fma(r, 0x1.921fb6p+1f, r * fma(z, ps, -0x1.777a5cp-24f));
  float pc = horner(z, -0x1.3bd3ccp+2f, 0x1.03c1aep+2f, -0x1.55b148p+0f, 0x1.d478e0p-3f);
  float cosine = fma(z, pc, 1.0f);
  return turn(sine, cosine, quadrant);
}

}  // namespace

extern "C" {

float __nv_sinf(float x) {
  Reduced a = reduce(x);
  float sine = sinPoly(a.r), cosine = cosPoly(a.r);
  float result = a.quadrant & 1 ? cosine : sine;
  result = bySign(result, (a.quadrant >> 1) & 1);
  return x == 0.0f ? x : result;
}

float __nv_cosf(float x) {
  Reduced a = reduce(x);
  float sine = sinPoly(a.r), cosine = cosPoly(a.r);
  float result = a.quadrant & 1 ? sine : cosine;
  return bySign(result, ((a.quadrant + 1) >> 1) & 1);
}

void __nv_sincosf(float x, float *sine, float *cosine) {
  Reduced a = reduce(x);
  SinCos both = turn(sinPoly(a.r), cosPoly(a.r), a.quadrant);
  *sine = x == 0.0f ? x : both.sine;
  *cosine = both.cosine;
}

float __nv_tanf(float x) {
  Reduced a = reduce(x);
  float z = a.r * a.r;
  float p = horner(z, 0x1.555562p-2f, 0x1.110d22p-3f, 0x1.baed68p-5f, 0x1.5c0c30p-6f, 0x1.6615b6p-7f, -0x1.311f2ap-16f,
                   0x1.2211c0p-8f);
  float t = fma(z * a.r, p, a.r);
  t = a.quadrant & 1 ? -1.0f / t : t;
  return x == 0.0f ? x : t;
}

float __nv_sinpif(float x) {
  float sine = sinCosPi(x).sine;
  sine = x == __builtin_truncf(x) ? withSign(0.0f, x) : sine;
  return abs(x) < kInfinityF ? sine : kNanF;
}

float __nv_cospif(float x) {
  float cosine = sinCosPi(x).cosine;
  cosine = cosine == 0.0f ? 0.0f : cosine;  // never -0
  return abs(x) < kInfinityF ? cosine : kNanF;
}

void __nv_sincospif(float x, float *sine, float *cosine) {
  *sine = __nv_sinpif(x);
  *cosine = __nv_cospif(x);
}

float __nv_atanf(float x) {
  float a = abs(x);
  bool inverted = a > 1.0f;
  float t = inverted ? 1.0f / a : a;
  float p = atanPoly(t);
  // pi/2 in two parts
  p = inverted ? 0x1.921fb6p+0f - (p + 0x1.777a5cp-25f) : p;
  return withSign(p, x);
}

float __nv_atan2f(float y, float x) {
  float ax = abs(x), ay = abs(y);
  float larger = ax > ay ? ax : ay, smaller = ax > ay ? ay : ax;
  // Scaled away from overflow and underflow of the quotient's divisor
  float t = smaller / larger;
  t = larger == 0.0f ? 0.0f : t;
  t = ax == kInfinityF && ay == kInfinityF ? 1.0f : t;
  float p = atanPoly(t);
  p = ay > ax ? 0x1.921fb6p+0f - (p + 0x1.777a5cp-25f) : p;
  p = bits(x) >> 31 ? 0x1.921fb6p+1f - (p + 0x1.777a5cp-24f) : p;
  p = withSign(p, y);
  return isNan(x) || isNan(y) ? x + y : p;
}

float __nv_asinf(float x) {
  float a = abs(x);
  bool large = a > 0.5625f;
  // asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2))
  float z = large ? fma(a, -0.5f, 0.5f) : a * a;
  float t = large ? __builtin_sqrtf(z) : a;
  float p = asinPoly(t, z);
  p = large ? 0x1.921fb6p+0f - fma(2.0f, p, 0x1.777a5cp-25f) : p;
  return withSign(p, x);
}

float __nv_acosf(float x) {
  float a = abs(x);
  bool large = a > 0.5625f;
  float z = large ? fma(a, -0.5f, 0.5f) : a * a;
  float t = large ? __builtin_sqrtf(z) : a;
  float p = asinPoly(t, z);
  float twice = p + p;
  float outer = x < 0.0f ? 0x1.921fb6p+1f - (twice + 0x1.777a5cp-24f) : twice;
  float inner = 0x1.921fb6p+0f - (withSign(p, x) + 0x1.777a5cp-25f);
  return large ? outer : inner;
}

}  // extern "C"
