// SPDX-License-Identifier: Apache-2.0
// The error function and its relatives in float, built as in double_error.cpp.
#include "float_parts.h"

namespace {

// erfcx(x), x >= 0: (1 + 2x) erfcx(x) as a polynomial in t = (x - 4) / (x + 4), 2^-28
inline float erfcxPositive(float x) {
  float limited = x < 0x1p30f ? x : 0x1p30f;
  float sum = addRn(limited, 4.0f), sumLow = subRn(4.0f, subRn(sum, limited));
  float difference = subRn(limited, 4.0f), differenceLow = subRn(limited, addRn(difference, 4.0f));
  float inverse = 1.0f / sum;
  float t = difference * inverse;
  t = fma(fma(-t, sum, difference) + (differenceLow - t * sumLow), inverse, t);
  float p = horner(t, 0x1.3ba592p+0f, -0x1.1df1aap-3f, 0x1.f7f756p-7f, 0x1.16ec1cp-4f, -0x1.9dddd6p-4f, 0x1.7ff534p-4f,
                   -0x1.0fa15cp-4f, 0x1.30439ep-5f, -0x1.0a0456p-6f, 0x1.4cfec2p-8f, -0x1.70f44cp-11f, -0x1.040ec4p-12f,
                   0x1.d75ec6p-14f);
  return p / fma(2.0f, x, 1.0f);
}

// e^(sign x^2), x = high + low, as 1 + … and an exponent.
struct Gauss {
  float mantissa;
  int exponent;
};
inline Gauss gauss(float high, float low, float sign) {
  Pair<float> square = twoProduct(high, high);
  square.low = fma(high + high, low, square.low);
  ExpParts e = expParts(sign * square.high);
  return {1.0f + (e.r + fma(sign * square.low, 1.0f + (e.r + e.tail), e.tail)), e.exponent};
}

inline float erfcPositive(float high, float low) {
  float x = high < 15.0f ? high : 15.0f;
  Gauss g = gauss(x, low, -1.0f);
  return scale(g.mantissa * erfcxPositive(x), g.exponent);
}

// erf(x) - x for |x| <= 1: x P(x^2), 2^-29.5
inline float erfTail(float x) {
  float z = x * x;
  return x * horner(z, 0x1.06eba8p-3f, -0x1.812740p-2f, 0x1.ce2d50p-4f, -0x1.b7fe90p-6f, 0x1.542e0ep-8f,
                    -0x1.a50ae6p-11f, 0x1.4c338cp-14f);
}

}  // namespace

extern "C" {

float __nv_erfcxf(float x) {
  float a = abs(x);
  float positive = erfcxPositive(a);
  Gauss g = gauss(a < 12.0f ? a : 12.0f, 0.0f, 1.0f);
  float growth = scale(g.mantissa, g.exponent);
  float reflected = fma(2.0f, growth, -positive);
  // about 0 from erf, where its digits are better
  float near = (1.0f - (x + erfTail(x))) * growth;
  float result = a < 0.5f ? near : x < 0.0f ? reflected : positive;
  return isNan(x) ? x : result;
}

float __nv_erfcf(float x) {
  float a = abs(x);
  float far = erfcPositive(a, 0.0f);
  float near = 1.0f - (x + erfTail(x));
  float result = x < 0.0f ? 2.0f - far : far;
  result = a < 0.25f ? near : result;
  return isNan(x) ? x : result;
}

float __nv_erff(float x) {
  float a = abs(x);
  float far = 1.0f - erfcPositive(a, 0.0f);
  float near = x + erfTail(x);
  return a < 1.0f ? near : withSign(isNan(x) ? x : far, x);
}

float __nv_normcdff(float x) {
  // erfc(-x / sqrt(2)) / 2, the quotient in two parts
  float a = abs(x) < 20.0f ? abs(x) : 20.0f;
  Pair<float> h = twoProduct(a, 0x1.6a09e6p-1f);
  h.low = fma(a, 0x1.9fcef4p-27f, h.low);
  float tail = 0.5f * erfcPositive(h.high, h.low);
  float result = x < 0.0f ? tail : 1.0f - tail;
  return isNan(x) ? x : result;
}

}  // extern "C"
