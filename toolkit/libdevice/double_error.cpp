// SPDX-License-Identifier: Apache-2.0
// The error function and its relatives in double. All stand on erfcx(x) = e^(x^2) erfc(x) for x >= 0, one
// polynomial over the whole half line in t = (x - 4) / (x + 4).
#include "double_parts.h"

namespace {

// erfcx(x), x >= 0: (1 + 2x) erfcx(x) as a polynomial in t, 2^-61
inline double erfcxPositive(double x) {
  double limited = x < 0x1p60 ? x : 0x1p60;
  double t = (limited - 4.0) / (limited + 4.0);
  // what t lost, to first order: (x - 4) - t (x + 4) over x + 4
  double sum = addRn(limited, 4.0), sumLow = subRn(4.0, subRn(sum, limited));
  double difference = subRn(limited, 4.0), differenceLow = subRn(limited, addRn(difference, 4.0));
  t += (fma(-t, sum, difference) + (differenceLow - t * sumLow)) / sum;
  double p = horner(t, 0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a28ep-3, 0x1.f7f5df66fd7afp-7, 0x1.16ecefcfa5342p-4,
                    -0x1.9ddb23c3e909cp-4, 0x1.7fee004e13130p-4, -0x1.0fb06dfe49456p-4, 0x1.3079edf669851p-5,
                    -0x1.096238852de06p-6, 0x1.49c6728d9486fp-8, -0x1.8d4a99a80cbcfp-11, -0x1.a1df2abfa9589p-13,
                    0x1.3be0347a511e8p-13, -0x1.9958aac0830fbp-16, -0x1.7881d60129f21p-17, 0x1.7f2364f7067dcp-18,
                    0x1.386efc70447f6p-22, -0x1.badfdf9e5debfp-21, 0x1.529a60908de1fp-24, 0x1.d8db384867c85p-24,
                    -0x1.76f8a706f5bfcp-26, -0x1.f95f0ddf4319cp-27, 0x1.0dbb565185cf7p-28, 0x1.ebfba79ca9140p-30,
                    -0x1.2297a0cee3255p-31, -0x1.2e19911d07481p-33, 0x1.632f49e58b0bap-35);
  return p / fma(2.0, x, 1.0);
}

// e^(sign (square.high + square.low)), the low part as a factor.
inline double expOfSquare(Pair<double> square, double sign) {
  ExpParts e = expParts(sign * square.high);
  double mantissa = 1.0 + (e.r + fma(e.rLow + sign * square.low, 1.0 + (e.r + e.tail), e.tail));
  return scale(mantissa, e.exponent);
}

// erfc(x), x = high + low >= 0: e^(-x^2) erfcx(x). The exponential is applied last, so that results below the
// normal numbers are rounded once.
inline double erfcPositive(double high, double low) {
  double x = high < 40.0 ? high : 40.0;
  Pair<double> square = twoProduct(x, x);
  square.low = fma(x + x, low, square.low);
  ExpParts e = expParts(-square.high);
  double mantissa = 1.0 + (e.r + fma(e.rLow - square.low, 1.0 + (e.r + e.tail), e.tail));
  return scale(mantissa * erfcxPositive(x), e.exponent);
}

// erf(x) - x for |x| <= 1: x P(x^2), 2^-68
inline double erfTail(double x) {
  double z = x * x;
  double p = horner(z, 0x1.06eba8214db69p-3, -0x1.812746b037a1ap-2, 0x1.ce2f21a045127p-4, -0x1.b82ce313561d0p-6,
                    0x1.565bcd3500148p-8, -0x1.c02dbcaad8f5ep-11, 0x1.f9a464d6692adp-14, -0x1.f4f0a337d07cbp-17,
                    0x1.bbdc8544b8abbp-20, -0x1.759de319e6305p-23, 0x1.a6be887d99c11p-26, -0x1.ef421e7bf75aep-28,
                    0x1.2fb28c806f4b1p-29, -0x1.71882d44f932cp-32);
  return x * p;
}

// erfinv(x) / x by w = -log(1 - x^2): error 2^-21 for w < 6, 2^-15 beyond (|x| < 1, 1 - x^2 > 2^-1075).
inline double inverseGuess(double w) {
  double r = __builtin_sqrt(w);
  double small = horner(w, 0x1.c5bf7febff508p-1, 0x1.db2e8928bf454p-3, 0x1.790117b166141p-7, -0x1.270a9b2aff9d3p-9,
                        -0x1.b10bb1937a639p-13, 0x1.69bf3d90ab26ep-14, -0x1.28d1d69647d37p-17, 0x1.51a1aa1399da1p-22,
                        0x1.1be7aca23c988p-30);
  double large = horner(r, 0x1.a380a080e8241p-1, -0x1.b52bb952654a3p-2, 0x1.cd1f7c2b09b25p-1, -0x1.5320455a514d9p-2,
                        0x1.458eb2d13254ep-4, -0x1.ae1bbb3a5c449p-7, 0x1.923ffddc7ed15p-10, -0x1.0dffb193b00b9p-13,
                        0x1.04b35e2c46d1ap-17, -0x1.668c6638daf12p-22, 0x1.5646734f22776p-27, -0x1.aea9ae69497a0p-33,
                        0x1.40e2ae1050f63p-39, -0x1.acbb40e5d3612p-47);
  return w < 6.0 ? small : large;
}

// erfcinv(y) for 0 < y <= 1 by two Halley steps. The error is taken relative to y, both scaled by 2^200 where y
// is so small that erfc would lose digits.
inline double erfcinvLower(double y) {
  double x = (1.0 - y) * inverseGuess(-__nv_log(y * (2.0 - y)));
  int up = y < 0x1p-800 ? 200 : 0;
  double target = scale(y, up);
  for (int step = 0; step < 2; ++step) {
    double scaled = erfcxPositive(x);
    Pair<double> square = twoProduct(x, x);
    ExpParts e = expParts(-square.high);
    double mantissa = 1.0 + (e.r + fma(e.rLow - square.low, 1.0 + (e.r + e.tail), e.tail));
    double value = scale(mantissa * scaled, e.exponent + up);
    // Newton's step (erfc - y) / (2/sqrt(pi) e^(-x^2)), e^(-x^2) = erfc / erfcx
    double d = (value - target) / value * scaled * 0x1.c5bf891b4ef6ap-1;
    x += d / fma(-d, x, 1.0);
  }
  return x;
}

}  // namespace

extern "C" {

double __nv_erfcx(double x) {
  double a = abs(x);
  double positive = erfcxPositive(a);
  // below 0: 2 e^(x^2) - erfcx(-x)
  double limited = a < 30.0 ? a : 30.0;
  double growth = expOfSquare(twoProduct(limited, limited), 1.0);
  double reflected = fma(2.0, growth, -positive);
  // about 0 from erf, where its digits are better
  double near = (1.0 - (x + erfTail(x))) * growth;
  double result = a < 0.5 ? near : x < 0.0 ? reflected : positive;
  return isNan(x) ? x : result;
}

double __nv_erfc(double x) {
  double a = abs(x);
  double far = erfcPositive(a, 0.0);
  // about 0 by erf, where its digits are better
  double near = 1.0 - (x + erfTail(x));
  double result = x < 0.0 ? 2.0 - far : far;
  result = a < 0.25 ? near : result;
  return isNan(x) ? x : result;
}

double __nv_erf(double x) {
  double a = abs(x);
  double far = 1.0 - erfcPositive(a, 0.0);
  double near = x + erfTail(x);
  return a < 1.0 ? near : withSign(isNan(x) ? x : far, x);
}

double __nv_normcdf(double x) {
  // erfc(-x / sqrt(2)) / 2, the quotient in two parts
  double a = abs(x) < 60.0 ? abs(x) : 60.0;
  Pair<double> h = twoProduct(a, 0x1.6a09e667f3bcdp-1);
  h.low = fma(a, -0x1.bdd3413b26456p-55, h.low);
  double tail = 0.5 * erfcPositive(h.high, h.low);
  double result = x < 0.0 ? tail : 1.0 - tail;
  return isNan(x) ? x : result;
}

double __nv_erfcinv(double y) {
  double lower = y < 1.0 ? y : 2.0 - y;
  double inside = lower > 0.0 && lower <= 1.0 ? lower : 0.5;
  double x = erfcinvLower(inside);
  // about 1, where the result is small, erfinv has the digits
  double near = 1.0 - y;
  x = lower > 0.5 ? __nv_erfinv(near) : (y < 1.0 ? x : -x);
  x = y == 0.0 ? kInfinity : y == 2.0 ? -kInfinity : x;
  return y >= 0.0 && y <= 2.0 ? x : kNan;
}

double __nv_erfinv(double x) {
  double a = abs(x);
  double inside = a < 1.0 ? a : 0.5;
  // up to 0.5 Halley on erf itself, beyond on erfc(result) = 1 - a, exact there
  double middle = inside < 0.5 ? inside : 0.5;
  double near = middle * inverseGuess(-__nv_log1p(-middle * middle));
  double error = (near + erfTail(near)) - middle;
  double d = error * 0x1.c5bf891b4ef6ap-1 * expOfSquare(twoProduct(near, near), 1.0);
  near -= d / fma(d, near, 1.0);
  double far = erfcinvLower(inside > 0.5 ? 1.0 - inside : 0.5);
  double result = a <= 0.5 ? near : far;
  result = a == 1.0 ? kInfinity : result;
  result = a <= 1.0 ? withSign(result, x) : kNan;
  return a < 0x1p-500 ? x * 0x1.c5bf891b4ef6ap-1 : result;
}

double __nv_normcdfinv(double y) {
  // -sqrt(2) erfcinv(2y); about 1/2 by erfinv(2y - 1)
  double far = -__nv_erfcinv(y + y);
  double near = __nv_erfinv(fma(2.0, y, -1.0));
  double x = y > 0.25 && y < 0.75 ? near : far;
  return x * 0x1.6a09e667f3bcdp+0;
}

#define IN_FLOAT(name) \
  float __nv_##name##f(float x) { return static_cast<float>(__nv_##name(static_cast<double>(x))); }
IN_FLOAT(erfinv)
IN_FLOAT(erfcinv)
IN_FLOAT(normcdfinv)
#undef IN_FLOAT

}  // extern "C"
