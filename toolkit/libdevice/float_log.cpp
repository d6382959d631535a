// SPDX-License-Identifier: Apache-2.0
// Logarithms and inverse hyperbolic functions in float.
#include "float_parts.h"

// e log(2) + log(1 + f) + more, the small terms first.
static inline float logSum(float e, float f, float more) {
  float low = fma(e, 0x1.7f7d1cp-20f, log1pTail(f) + more);
  return fma(e, 0x1.62e4p-1f, f + low);
}

// log(1 + x) for x > -1: 1 + x is rounded, and what that loses is added to first order.
static inline float log1pCore(float x) {
  float sum = 1.0f + x;
  float lost = x - subRn(sum, 1.0f);
  LogParts p = logParts(sum);
  // for large x the 1 is what gets lost
  lost = x < 0x1p24f ? lost : 0.0f;
  return logSum(p.exponent, p.fraction, lost / sum);
}

extern "C" {

float __nv_logf(float x) {
  LogParts p = logParts(x);
  return logSpecial(x, logSum(p.exponent, p.fraction, 0.0f));
}

float __nv_log2f(float x) {
  LogParts p = logParts(x);
  // log(1 + f) as a pair, f^2/2 with what its rounding lost; then times 1 / log(2), a pair too
  float f = p.fraction, square = mulRn(f, f), lost = fma(f, f, -square);
  Pair<float> l = fastTwoSum(f, -0.5f * square);
  l.low += fma(square * f, log1pPoly(f), -0.5f * lost);
  Pair<float> product = twoProduct(l.high, 0x1.715476p+0f);
  float low = fma(l.high, 0x1.4ae0c0p-26f, fma(l.low, 0x1.715476p+0f, product.low));
  Pair<float> sum = fastTwoSum(p.exponent, product.high);
  return logSpecial(x, p.exponent == 0.0f ? product.high + low : sum.high + (sum.low + low));
}

float __nv_log10f(float x) {
  LogParts p = logParts(x);
  float f = p.fraction, tail = log1pTail(f);
  float low = fma(f, -0x1.5b235ep-27f, tail * 0x1.bcb7b2p-2f);
  low = fma(p.exponent, 0x1.3509f8p-18f, low);
  float high = mulRn(p.exponent, 0x1.3440p-2f);
  return logSpecial(x, high + fma(f, 0x1.bcb7b2p-2f, low));
}

float __nv_log1pf(float x) {
  float result = log1pCore(x);
  result = x == -1.0f ? -kInfinityF : result;
  result = x < -1.0f ? kNanF : result;
  result = x < kInfinityF ? result : x;
  return abs(x) < 0x1p-13f ? fma(x * x, -0.5f, x) : result;
}

float __nv_asinhf(float x) {
  float a = abs(x);
  float z = a * a;
  // log(a + sqrt(a^2 + 1)) = log1p(a + a^2 / (1 + sqrt(a^2 + 1))); from 2^12 on log(2a)
  float small = log1pCore(a + z / (1.0f + __builtin_sqrtf(z + 1.0f)));
  LogParts p = logParts(a);
  float large = logSum(p.exponent + 1.0f, p.fraction, 0.0f);
  float result = a < 0x1p12f ? small : large;
  result = a < kInfinityF ? result : a;
  return a < 0x1p-12f ? x : withSign(result, x);
}

float __nv_acoshf(float x) {
  // log(x + sqrt(x^2 - 1)) = log1p(t + sqrt(2t + t^2)), t = x - 1
  float t = x - 1.0f;
  float small = log1pCore(t + __builtin_sqrtf(fma(t, t, t + t)));
  LogParts p = logParts(x);
  float large = logSum(p.exponent + 1.0f, p.fraction, 0.0f);
  float result = x < 0x1p12f ? small : large;
  result = x < 1.0f ? kNanF : result;
  return x < kInfinityF ? result : x;
}

float __nv_atanhf(float x) {
  float a = abs(x);
  float t = (a + a) / (1.0f - a);
  float result = 0.5f * log1pCore(t);
  result = a == 1.0f ? kInfinityF : result;
  result = a > 1.0f ? kNanF : result;
  return a < 0x1p-12f || isNan(x) ? x : withSign(result, x);
}

}  // extern "C"
