// SPDX-License-Identifier: Apache-2.0
// Host versions of the mathematics that CUDA adds to the C library.
#pragma once
#pragma GCC system_header

#include <math.h>

#include "strata/device/define.h"

STRATA_HOST double rsqrt(double x) { return 1.0 / ::sqrt(x); }
STRATA_HOST float rsqrtf(float x) { return static_cast<float>(1.0 / ::sqrt(static_cast<double>(x))); }
STRATA_HOST float rsqrt(float x) { return rsqrtf(x); }
STRATA_HOST double rcbrt(double x) { return 1.0 / ::cbrt(x); }
STRATA_HOST float rcbrtf(float x) { return static_cast<float>(1.0 / ::cbrt(static_cast<double>(x))); }
STRATA_HOST float rcbrt(float x) { return rcbrtf(x); }

namespace __strata {
// sin and cos of pi x: x modulo 2 is exact, and so is its distance from the nearest half integer.
STRATA_HOST double sineOfPi(double x, double quarter) {
  double reduced = ::fmod(x, 2.0), halves = ::rint(reduced * 2.0);
  double angle = (reduced - halves * 0.5) * 3.14159265358979323846;
  switch (static_cast<int>(halves + quarter) & 3) {
    case 0: return ::sin(angle);
    case 1: return ::cos(angle);
    case 2: return -::sin(angle);
    default: return -::cos(angle);
  }
}
}  // namespace __strata
STRATA_HOST double sinpi(double x) { return x == ::trunc(x) ? ::copysign(0.0, x) : __strata::sineOfPi(x, 0.0); }
STRATA_HOST double cospi(double x) { return __strata::sineOfPi(::fabs(x), 1.0) + 0.0; }
STRATA_HOST float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
STRATA_HOST float sinpi(float x) { return sinpif(x); }
STRATA_HOST float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
STRATA_HOST float cospi(float x) { return cospif(x); }
STRATA_HOST void sincospi(double x, double *sine, double *cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
STRATA_HOST void sincospif(float x, float *sine, float *cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
STRATA_HOST void sincospi(float x, float *sine, float *cosine) { sincospif(x, sine, cosine); }
STRATA_HOST void sincos(float x, float *sine, float *cosine) { ::sincosf(x, sine, cosine); }

STRATA_HOST double normcdf(double x) { return 0.5 * ::erfc(x * -0.70710678118654752440); }
STRATA_HOST float normcdff(float x) { return static_cast<float>(normcdf(static_cast<double>(x))); }
STRATA_HOST float normcdf(float x) { return normcdff(x); }

namespace __strata {
// Halley steps on erfc from a rational start.
STRATA_HOST double inverseErfc(double y) {
  if (!(y > 0.0 && y < 2.0)) return y == 0.0 ? HUGE_VAL : y == 2.0 ? -HUGE_VAL : NAN;
  double p = y < 1.0 ? y : 2.0 - y;
  double t = ::sqrt(-2.0 * ::log(p * 0.5));
  double x = 0.70710678118654752440 * (t - (2.30753 + t * 0.27061) / (1.0 + t * (0.99229 + t * 0.04481)));
  for (int step = 0; step < 3; ++step) {
    double error = (::erfc(x) - p) / (1.12837916709551257390 * ::exp(-x * x));
    x += error / (1.0 - x * error);
  }
  return y < 1.0 ? x : -x;
}
}  // namespace __strata
STRATA_HOST double erfcinv(double y) { return __strata::inverseErfc(y); }
STRATA_HOST double erfinv(double y) {
  if (::fabs(y) > 0.5) return y > 0.0 ? __strata::inverseErfc(1.0 - y) : -__strata::inverseErfc(1.0 + y);
  // near 0: Newton on erf itself keeps the small result's digits
  double x = y * 0.88622692545275801365;
  for (int step = 0; step < 4; ++step) {
    double error = (::erf(x) - y) / (1.12837916709551257390 * ::exp(-x * x));
    x -= error / (1.0 + x * error);
  }
  return x;
}
STRATA_HOST float erfcinvf(float y) { return static_cast<float>(erfcinv(static_cast<double>(y))); }
STRATA_HOST float erfcinv(float y) { return erfcinvf(y); }
STRATA_HOST float erfinvf(float y) { return static_cast<float>(erfinv(static_cast<double>(y))); }
STRATA_HOST float erfinv(float y) { return erfinvf(y); }
STRATA_HOST double normcdfinv(double y) { return -1.41421356237309504880 * erfcinv(2.0 * y); }
STRATA_HOST float normcdfinvf(float y) { return static_cast<float>(normcdfinv(static_cast<double>(y))); }
STRATA_HOST float normcdfinv(float y) { return normcdfinvf(y); }

// e^(x^2) erfc(x): by the continued fraction where the product would overflow times underflow.
STRATA_HOST double erfcx(double x) {
  if (x < 10.0) return ::exp(x * x) * ::erfc(x);
  double fraction = x;
  for (int k = 40; k > 0; --k) fraction = x + 0.5 * k / fraction;
  return 0.56418958354775628695 / fraction;
}
STRATA_HOST float erfcxf(float x) { return static_cast<float>(erfcx(static_cast<double>(x))); }
STRATA_HOST float erfcx(float x) { return erfcxf(x); }

STRATA_HOST double norm3d(double x, double y, double z) { return ::hypot(::hypot(x, y), z); }
STRATA_HOST float norm3df(float x, float y, float z) { return static_cast<float>(norm3d(x, y, z)); }
STRATA_HOST double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
STRATA_HOST float rnorm3df(float x, float y, float z) { return static_cast<float>(rnorm3d(x, y, z)); }
STRATA_HOST double norm4d(double x, double y, double z, double w) { return ::hypot(norm3d(x, y, z), w); }
STRATA_HOST float norm4df(float x, float y, float z, float w) { return static_cast<float>(norm4d(x, y, z, w)); }
STRATA_HOST double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
STRATA_HOST float rnorm4df(float x, float y, float z, float w) { return static_cast<float>(rnorm4d(x, y, z, w)); }
STRATA_HOST double rhypot(double x, double y) { return 1.0 / ::hypot(x, y); }
STRATA_HOST float rhypotf(float x, float y) { return static_cast<float>(rhypot(x, y)); }
STRATA_HOST float rhypot(float x, float y) { return rhypotf(x, y); }
STRATA_HOST double norm(int count, const double *values) {
  double sum = 0.0;
  for (int i = 0; i < count; ++i) sum = ::hypot(sum, values[i]);
  return sum;
}
STRATA_HOST float normf(int count, const float *values) {
  double sum = 0.0;
  for (int i = 0; i < count; ++i) sum = ::hypot(sum, static_cast<double>(values[i]));
  return static_cast<float>(sum);
}
STRATA_HOST double rnorm(int count, const double *values) { return 1.0 / norm(count, values); }
STRATA_HOST float rnormf(int count, const float *values) { return 1.0f / normf(count, values); }

namespace __strata {
// Modified Bessel functions of order 0 and 1 by their power series, which has positive terms only; beyond 25
// by the asymptotic series.
STRATA_HOST double besselI(int order, double x) {
  double a = ::fabs(x);
  if (a > 25.0) {
    double term = 1.0, sum = 1.0;
    for (int k = 1; k < 30; ++k) {
      double odd = 2.0 * k - 1.0;
      term *= (odd * odd - 4.0 * order * order) / (8.0 * k * a);
      sum += term;
    }
    double half = ::exp(a * 0.5);
    return (order && x < 0.0 ? -1.0 : 1.0) * half * (sum / ::sqrt(6.28318530717958647693 * a)) * half;
  }
  double quarter = 0.25 * x * x, term = order ? 0.5 * x : 1.0, sum = term;
  for (int k = 1; k < 80; ++k) {
    term *= quarter / (static_cast<double>(k) * (k + order));
    sum += term;
  }
  return sum;
}
}  // namespace __strata
STRATA_HOST double cyl_bessel_i0(double x) { return __strata::besselI(0, x); }
STRATA_HOST double cyl_bessel_i1(double x) { return __strata::besselI(1, x); }
STRATA_HOST float cyl_bessel_i0f(float x) { return static_cast<float>(cyl_bessel_i0(static_cast<double>(x))); }
STRATA_HOST float cyl_bessel_i1f(float x) { return static_cast<float>(cyl_bessel_i1(static_cast<double>(x))); }
STRATA_HOST float cyl_bessel_i0(float x) { return cyl_bessel_i0f(x); }
STRATA_HOST float cyl_bessel_i1(float x) { return cyl_bessel_i1f(x); }
