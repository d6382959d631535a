// SPDX-License-Identifier: Apache-2.0
// Exponentials and hyperbolic functions in float.
#include "float_parts.h"

extern "C" {

float __nv_expf(float x) { return expParts(x).value(0); }

float __nv_exp2f(float x) {
  float limited = x < -151.0f ? -151.0f : x > 129.0f ? 129.0f : x;
  float shifted = addRn(limited, kRoundF);
  float n = subRn(shifted, kRoundF);
  float r = limited - n;
  return scale(exp2Poly(r), exponentOf(shifted));
}

float __nv_exp10f(float x) {
  float limited = x < -46.0f ? -46.0f : x > 39.0f ? 39.0f : x;
  float shifted = fma(limited, 0x1.a934f0p+1f, kRoundF);
  float n = shifted - kRoundF;
  float r = fma(n, -0x1.344136p-2f, limited);
  r = fma(n, 0x1.ec10c0p-27f, r);
  // 10^r = 1 + r * q, the largest coefficient log(10) in two parts
  float q = horner(r, 0x1.53524ap+1f, 0x1.046f98p+1f, 0x1.2bd9b8p+0f, 0x1.156dfep-1f, 0x1.a6ba98p-3f);
  float p = fma(r, 0x1.26bb1cp+1f, fma(r * r, q, r * -0x1.12aabap-25f));
  return scale(1.0f + p, exponentOf(shifted));
}

float __nv_expm1f(float x) {
  float limited = x < -18.0f ? -18.0f : x;
  ExpParts e = expParts(limited);
  // 2^n (1 + r + tail) - 1 = (2^n - 1) + 2^n r + 2^n tail; the first sum in two parts
  int n = e.exponent < 127 ? e.exponent : 127;
  float unit = pow2f(n);
  float base = subRn(unit, 1.0f);
  float baseLow = subRn(-1.0f, subRn(base, unit));
  Pair<float> sum = fastTwoSum(base, unit * e.r);
  float result = sum.high + (sum.low + fma(unit, e.tail, baseLow));
  result = e.exponent > 127 ? e.value(0) : result;
  return x == 0.0f ? x : result;
}

float __nv_sinhf(float x) {
  float a = abs(x);
  // small: x + x^3 P(x^2); large: (e^a - e^-a) / 2 with the halving in the exponent
  float z = x * x;
  float small = fma(z * x, horner(z, 0x1.555556p-3f, 0x1.1110e2p-7f, 0x1.a02156p-13f, 0x1.75a6f0p-19f), x);
  ExpParts e = expParts(a);
  float half = e.value(-1);
  float large = half - 0.25f / half;
  return a < 1.0f ? small : withSign(large, x);
}

float __nv_coshf(float x) {
  float half = expParts(abs(x)).value(-1);
  return half + 0.25f / half;
}

float __nv_tanhf(float x) {
  float a = abs(x);
  float z = x * x;
  float small =
      fma(z * x, horner(z, -0x1.55554ap-2f, 0x1.110ceap-3f, -0x1.b91d46p-5f, 0x1.58d708p-6f, -0x1.98be22p-8f), x);
  float limited = a > 10.0f ? 10.0f : a;
  float e = expParts(limited + limited).value(0);
  float large = fma(-2.0f, 1.0f / (e + 1.0f), 1.0f);
  return withSign(a < 0.55f ? small : isNan(x) ? x : large, x);
}

}  // extern "C"
