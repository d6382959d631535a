// SPDX-License-Identifier: Apache-2.0
// Logarithms and inverse hyperbolic functions in double.
#include "double_parts.h"

// e log(2) + log(1 + f) + more, the small terms first. log(2)'s first part has 40 bits: its product is exact.
static inline double logSum(double e, double f, double more) {
  double low = fma(e, -0x1.8432a1b0e2634p-43, log1pTail(f) + more);
  double high = e * 0x1.62e42fefa4p-1;
  Pair<double> sum = fastTwoSum(high, f);
  Pair<double> alone = {f, 0.0};
  sum = e == 0.0 ? alone : sum;
  return sum.high + (sum.low + low);
}

// log(1 + x) for x > -1: 1 + x is rounded, and what that loses is added to first order.
static inline double log1pCore(double x) {
  double sum = addRn(1.0, x);
  double lost = x < 1.0 ? subRn(x, subRn(sum, 1.0)) : subRn(1.0, subRn(sum, x));
  LogParts p = logParts(sum);
  return logSum(p.exponent, p.fraction, lost / sum);
}

extern "C" {

double __nv_log(double x) {
  LogParts p = logParts(x);
  return logSpecial(x, logSum(p.exponent, p.fraction, 0.0));
}

double __nv_log2(double x) {
  LogParts p = logParts(x);
  Pair<double> l = fastTwoSum(p.fraction, log1pTail(p.fraction));
  Pair<double> product = twoProduct(l.high, 0x1.71547652b82fep+0);
  double low = fma(l.high, 0x1.777d0ffda0d24p-56, fma(l.low, 0x1.71547652b82fep+0, product.low));
  Pair<double> sum = fastTwoSum(p.exponent, product.high);
  Pair<double> alone = {product.high, 0.0};
  sum = p.exponent == 0.0 ? alone : sum;
  return logSpecial(x, sum.high + (sum.low + low));
}

double __nv_log10(double x) {
  LogParts p = logParts(x);
  Pair<double> l = fastTwoSum(p.fraction, log1pTail(p.fraction));
  Pair<double> product = twoProduct(l.high, 0x1.bcb7b1526e50ep-2);
  double low = fma(l.high, 0x1.95355baaafad3p-57, fma(l.low, 0x1.bcb7b1526e50ep-2, product.low));
  low = fma(p.exponent, -0x1.80433b83b532ap-44, low);
  Pair<double> sum = fastTwoSum(p.exponent * 0x1.34413509f8p-2, product.high);
  Pair<double> alone = {product.high, 0.0};
  sum = p.exponent == 0.0 ? alone : sum;
  return logSpecial(x, sum.high + (sum.low + low));
}

double __nv_log1p(double x) {
  double result = log1pCore(x);
  result = x == -1.0 ? -kInfinity : result;
  result = x < -1.0 ? kNan : result;
  result = x < kInfinity ? result : x;
  return abs(x) < 0x1p-27 ? fma(x * x, -0.5, x) : result;
}

double __nv_asinh(double x) {
  double a = abs(x);
  double z = a * a;
  // log(a + sqrt(a^2 + 1)) = log1p(a + a^2 / (1 + sqrt(a^2 + 1))); from 2^27 on log(2a)
  double small = log1pCore(a + z / (1.0 + __builtin_sqrt(z + 1.0)));
  LogParts p = logParts(a);
  double large = logSum(p.exponent + 1.0, p.fraction, 0.0);
  double result = a < 0x1p27 ? small : large;
  result = a < kInfinity ? result : a;
  return a < 0x1p-27 ? x : withSign(result, x);
}

double __nv_acosh(double x) {
  // log(x + sqrt(x^2 - 1)) = log1p(t + sqrt(2t + t^2)), t = x - 1
  double t = x - 1.0;
  double small = log1pCore(t + __builtin_sqrt(fma(t, t, t + t)));
  LogParts p = logParts(x);
  double large = logSum(p.exponent + 1.0, p.fraction, 0.0);
  double result = x < 0x1p27 ? small : large;
  result = x < 1.0 ? kNan : result;
  return x < kInfinity ? result : x;
}

double __nv_atanh(double x) {
  double a = abs(x);
  double t = (a + a) / (1.0 - a);
  double result = 0.5 * log1pCore(t);
  result = a == 1.0 ? kInfinity : result;
  result = a > 1.0 ? kNan : result;
  return a < 0x1p-27 || isNan(x) ? x : withSign(result, x);
}

}  // extern "C"
