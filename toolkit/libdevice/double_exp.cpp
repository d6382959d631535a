// SPDX-License-Identifier: Apache-2.0
// Exponentials and hyperbolic functions in double.
#include "double_parts.h"

extern "C" {

double __nv_exp(double x) { return expParts(x).value(0); }

double __nv_exp2(double x) {
  double limited = x < -1080.0 ? -1080.0 : x > 1030.0 ? 1030.0 : x;
  double shifted = addRn(limited, kRound);
  double r = limited - subRn(shifted, kRound);
  return scale(1.0 + exp2MinusOne(r), exponentOf(shifted));
}

double __nv_exp10(double x) {
  double limited = x < -330.0 ? -330.0 : x > 310.0 ? 310.0 : x;
  double shifted = fma(limited, 0x1.a934f0979a371p+1, kRound);
  double n = shifted - kRound;
  double t = fma(n, -0x1.34413509f79ffp-2, limited);
  t = fma(n, 0x1.9dc1da994fd21p-59, t);
  // 10^t = e^(t log 10), the product in two parts: e^(high + low) = e^high (1 + low)
  Pair<double> r = twoProduct(t, 0x1.26bb1bbb55516p+1);
  double low = fma(t, -0x1.f48ad494ea3e9p-53, r.low);
  double tail = expTail(r.high);
  return scale(1.0 + (r.high + fma(low, 1.0 + r.high, tail)), exponentOf(shifted));
}

double __nv_expm1(double x) {
  double limited = x < -40.0 ? -40.0 : x;
  ExpParts e = expParts(limited);
  // 2^n (1 + r + tail) - 1 = (2^n - 1) + 2^n r + 2^n tail; the first sum in two parts
  int n = e.exponent < 1023 ? e.exponent : 1023;
  double unit = pow2(n);
  double base = subRn(unit, 1.0);
  double baseLow = subRn(-1.0, subRn(base, unit));
  Pair<double> sum = fastTwoSum(base, unit * e.r);
  double result = sum.high + (sum.low + fma(unit, e.tail + e.rLow, baseLow));
  result = e.exponent > 1023 ? e.value(0) : result;
  return x == 0.0 ? x : result;
}

double __nv_sinh(double x) {
  double a = abs(x);
  double z = x * x;
  double small = fma(z * x,
                     horner(z, 0x1.5555555555555p-3, 0x1.1111111111199p-7, 0x1.a01a01a007b20p-13, 0x1.71de3a6824848p-19,
                            0x1.ae6442049a1c0p-26, 0x1.6130b39381e4ep-33, 0x1.a6cdbb81dcb7cp-41, 0x1.c49b8bb4b2017p-48),
                     x);
  double half = expParts(a).value(-1);
  double large = half - 0.25 / half;
  return a < 1.0 ? small : withSign(large, x);
}

double __nv_cosh(double x) {
  double half = expParts(abs(x)).value(-1);
  return half + 0.25 / half;
}

double __nv_tanh(double x) {
  double a = abs(x);
  double z = x * x;
  double small =
      fma(z * x,
          horner(z, -0x1.5555555555555p-2, 0x1.111111111105cp-3, -0x1.ba1ba1ba0d344p-5, 0x1.664f487e5f21ep-6,
                 -0x1.226e349b53cb1p-7, 0x1.d6d3a6339e4f1p-9, -0x1.7da04c4b56d4ap-10, 0x1.3531092e5d182p-11,
                 -0x1.f2d61831cd11dp-13, 0x1.86c7fdcf9c489p-14, -0x1.0bd4d99dbddedp-15, 0x1.cc639336fa26bp-18),
          x);
  double limited = a > 20.0 ? 20.0 : a;
  double e = expParts(limited + limited).value(0);
  double large = fma(-2.0, 1.0 / (e + 1.0), 1.0);
  return withSign(a < 0.55 ? small : isNan(x) ? x : large, x);
}

}  // extern "C"
