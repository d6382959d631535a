// SPDX-License-Identifier: Apache-2.0
// The gamma function and its logarithm in double. From 12 on, Stirling's series; below, the argument is raised
// to 12 and the product of the steps divided out, all in pairs; below 0, by reflection.
#include "double_parts.h"

namespace {

// log2 of Gamma(y), y >= 12.
inline Pair<double> log2GammaLarge(double y) {
  Pair<double> l = log2Pair(y);
  // (y - 1/2) log2(y) - y / log(2) + log2(2 pi) / 2
  double m = y - 0.5;
  Pair<double> first = twoProduct(m, l.high);
  first.low = fma(m, l.low, first.low);
  Pair<double> second = twoProduct(-y, 0x1.71547652b82fep+0);
  second.low = fma(-y, 0x1.777d0ffda0d24p-56, second.low);
  Pair<double> sum = twoSum(first.high, second.high);
  sum.low += first.low + second.low;
  Pair<double> whole = twoSum(sum.high, 0x1.536439a4c6efcp+0);
  double z = 1.0 / y, z2 = z * z;
  double series =
      z * horner(z2, 0x1.5555555555555p-4, -0x1.6c16c16c16c17p-9, 0x1.a01a01a01a01ap-11, -0x1.3813813813814p-11,
                 0x1.b951e2b18ff23p-11, -0x1.f6ab0d9993c7dp-10, 0x1.a41a41a41a41ap-8, -0x1.e4286cb0f5398p-6);
  whole.low += fma(series, 0x1.71547652b82fep+0, sum.low - 0x1.49e49a361efebp-54);
  return fastTwoSum(whole.high, whole.low);
}

// x (x + 1) … (x + n - 1) with the least n that brings x > 0 to 12; raised is x + n.
struct Raised {
  double x;
  Pair<double> product;
};
inline Raised raise(double x) {
  Raised result = {x, {1.0, 0.0}};
  for (int step = 0; step < 12; ++step) {
    bool below = result.x < 12.0;
    // x + step loses bits for small x: both parts enter the product
    Pair<double> factor = twoSum(x, static_cast<double>(step));
    Pair<double> next = multiply(result.product, factor);
    result.product.high = below ? next.high : result.product.high;
    result.product.low = below ? next.low : result.product.low;
    result.x = below ? x + static_cast<double>(step + 1) : result.x;
  }
  return result;
}

inline double gammaPositive(double x) {
  Raised r = raise(x);
  // what x + n lost to rounding changes Gamma by the factor 1 + lost * digamma, about log(12)
  double n = __builtin_rint(r.x - x);
  double lost = n > 0.0 ? subRn(x, subRn(r.x, n)) : 0.0;
  double top = exp2Pair(log2GammaLarge(r.x < 180.0 ? r.x : 180.0), fma(lost, 0x1.3c34f0p+1, 1.0));
  double quotient = top / r.product.high;
  double corrected = fma(-quotient, r.product.low / r.product.high, quotient);
  return quotient < kInfinity ? corrected : quotient;
}

// Gamma(x) = pi / (sin(pi x) (-x) Gamma(-x)), the division done in the exponent where Gamma(-x) overflows.
inline double gammaNegative(double x) {
  double y = -x;
  Raised r = raise(y);
  double n = r.x > y ? __builtin_rint(r.x - y) : 0.0;
  double lost = n > 0.0 ? subRn(y, subRn(r.x, n)) : 0.0;
  Pair<double> l = log2GammaLarge(r.x);
  // -pi / (x sin(pi x)) with the steps' product; its low part as a relative correction
  double divisor = x * __nv_sinpi(x);
  double factor = -0x1.921fb54442d18p+1 * r.product.high / divisor;
  factor = fma(factor, fma(-lost, 0x1.3c34f0p+1, r.product.low / r.product.high), factor);
  return exp2Pair({-l.high, -l.low}, factor);
}

// log(Gamma(x)), x > 0.
inline double logGammaPositive(double x) {
  // [0.5, 2.5]: z psi(2) + z^2 P(z) about 2, and from there to 1 by log(Gamma(1 + z)) = log(Gamma(2 + z)) - log(1 + z):
  // 2^-62
  bool aboutOne = x < 1.5;
  double z = aboutOne ? x - 1.0 : x - 2.0;
  double p = horner(z, 0x1.4a34cc4a60fa6p-2, -0x1.13e001a55760ap-4, 0x1.51322ac7d84aep-6, -0x1.e404fc218db6dp-8,
                    0x1.7add6eadb0300p-9, -0x1.38ac5c2d4ac19p-10, 0x1.0b36af89fb200p-11, -0x1.d3fd4b65e9df2p-13,
                    0x1.a127ae92a823fp-14, -0x1.78de9b05f8a0ap-15, 0x1.580e4253f2c49p-16, -0x1.3cb3b5d98ca82p-17,
                    0x1.2589dd0b5f8adp-18, -0x1.1277707c997b9p-19, 0x1.016e049181747p-20, -0x1.ce0e761dca103p-22,
                    0x1.af2b25d5b1e98p-23, -0x1.2019895f3e7f2p-23, 0x1.1a30a96afd192p-24);
  // the first term, psi(2) = 1 - gamma times z, in two parts, and the logarithm too
  Pair<double> first = twoProduct(z, 0x1.b0ee6072093cep-2);
  first.low = fma(z * z, p, fma(z, 0x1.6cb90701fbfabp-58, first.low));
  Pair<double> logarithm = multiply(log2Pair(x), {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56});
  double near = first.high + first.low;
  Pair<double> one = twoSum(first.high, -logarithm.high);
  double nearOne = one.high + (one.low + (first.low - logarithm.low));
  // elsewhere
  Raised r = raise(x);
  double n = r.x > x ? __builtin_rint(r.x - x) : 0.0;
  double lost = n > 0.0 ? subRn(x, subRn(r.x, n)) : 0.0;
  Pair<double> l = log2GammaLarge(r.x);
  Pair<double> steps = log2Pair(r.product.high);
  bool raised = r.x > x;
  Pair<double> difference = twoSum(l.high, raised ? -steps.high : 0.0);
  difference.low += l.low - (raised ? steps.low : 0.0);
  double far = fma(difference.high, 0x1.62e42fefa39efp-1,
                   fma(difference.high, 0x1.abc9e3b39803fp-56, difference.low * 0x1.62e42fefa39efp-1));
  far += lost * 0x1.3c34f0p+1 - (raised ? r.product.low / r.product.high : 0.0);
  double result = x >= 0.5 && x <= 2.5 ? (aboutOne ? nearOne : near) : far;
  return x < 0x1p1015 ? result : kInfinity;
}

}  // namespace

extern "C" {

double __nv_tgamma(double x) {
  double positive = gammaPositive(x > 0.0 ? x : 1.0);
  double negative = gammaNegative(x < 0.0 ? (x > -190.0 ? x : -190.5) : -0.5);
  // below -190 the result vanishes, with the sign that alternates between integers
  double whole = __builtin_floor(x);
  double half = whole * 0.5;
  negative = x < -190.0 ? withSign(0.0, half == __builtin_floor(half) ? 1.0 : -1.0) : negative;
  double result = x > 0.0 ? positive : negative;
  result = x > 172.0 ? kInfinity : result;
  result = x < 0.0 && x == whole ? kNan : result;
  result = abs(x) < 0x1p-60 ? 1.0 / x : result;
  return isNan(x) ? x + x : result;
}

double __nv_lgamma(double x) {
  double a = abs(x);
  bool negative = x < 0.0;
  double result = logGammaPositive(negative ? 1.0 + a : x);
  if (negative) {
    // |Gamma(x)| = pi / (|sin(pi x)| Gamma(1 + a))
    double sine = abs(__nv_sinpi(x));
    result = a < 0x1p-70 ? -__nv_log(a) : __nv_log(0x1.921fb54442d18p+1 / sine) - result;
    result = x == __builtin_trunc(x) ? kInfinity : result;
  }
  result = x == 0.0 || a == kInfinity ? kInfinity : result;
  return isNan(x) ? x + x : result;
}

float __nv_tgammaf(float x) { return static_cast<float>(__nv_tgamma(static_cast<double>(x))); }
float __nv_lgammaf(float x) { return static_cast<float>(__nv_lgamma(static_cast<double>(x))); }

}  // extern "C"
