// SPDX-License-Identifier: Apache-2.0
// Powers and roots in double.
#include "double_parts.h"

namespace {

// x^y for finite, positive x; limited where it overflows or vanishes.
inline double powPositive(double x, double y) {
  Pair<double> l = log2Pair(x);
  double high = mulRn(y, l.high);
  double low = fma(y, l.low, fma(y, l.high, -high));
  bool huge = abs(high) > 1200.0 || isNan(high);
  high = huge ? withSign(1200.0, y * l.high) : high;
  low = huge ? 0.0 : low;
  return exp2Pair({high, low}, 1.0);
}

// 0: not an integer, 1: odd, 2: even.
inline int parity(double y) {
  double a = abs(y);
  bool integer = a == __builtin_trunc(a);
  double half = a * 0.5;
  bool even = half == __builtin_trunc(half);
  return integer ? (even ? 2 : 1) : 0;
}

inline double powSpecial(double x, double y, double result) {
  double a = abs(x);
  int kind = parity(y);
  bool negative = bits(x) >> 63;
  // x = 0 or infinite: the result is 0 or infinite by the sign of y
  bool zeroBase = a == 0.0, infiniteBase = a == kInfinity;
  result = zeroBase || infiniteBase ? ((y < 0.0) != infiniteBase ? kInfinity : 0.0) : result;
  bool infiniteExponent = abs(y) == kInfinity;
  result = infiniteExponent ? (a == 1.0 ? 1.0 : ((a > 1.0) == (y > 0.0) ? kInfinity : 0.0)) : result;
  result = negative && kind == 1 && !infiniteExponent ? -result : result;
  result = x < 0.0 && a < kInfinity && kind == 0 && !infiniteExponent ? kNan : result;
  result = isNan(x) || isNan(y) ? x + y : result;
  return x == 1.0 || y == 0.0 ? 1.0 : result;
}

// a^(-1/3) for normal a, error about 2^-50: dividing the exponent by -3 gives a guess within 5 %, and each of
// three steps cubes its error.
inline double inverseCubeRoot(double a) {
  double z = fromBits(0x553ef0ff289dd796ull - bits(a) / 3);
  for (int step = 0; step < 3; ++step) {
    double h = fma(-(a * z), z * z, 1.0);
    z = fma(z * h, fma(h, 0x1.c71c71c71c71cp-3, 0x1.5555555555555p-2), z);
  }
  return z;
}

}  // namespace

extern "C" {

double __nv_pow(double x, double y) { return powSpecial(x, y, powPositive(abs(x), y)); }

double __nv_powi(double x, int y) { return __nv_pow(x, static_cast<double>(y)); }

double __nv_rsqrt(double x) {
  // One correction of the rounded quotient: y + y (1 - x y^2) / 2, the residual exact.
  double y = 1.0 / __builtin_sqrt(x);
  Pair<double> root = twoProduct(x, y);
  double residual = fma(-root.high, y, 1.0) - root.low * y;
  double corrected = fma(0.5 * y, residual, y);
  return abs(residual) < 0.5 ? corrected : y;
}

double __nv_cbrt(double x) {
  double a = abs(x);
  bool subnormal = a < 0x1p-1022;
  double normal = subnormal ? a * 0x1p54 : a;
  double z = inverseCubeRoot(normal);
  double y = normal * z * z;
  // one Newton step with the residual a - y^3 exact to first order
  Pair<double> square = twoProduct(y, y);
  double residual = fma(-square.high, y, normal) - square.low * y;
  y = fma(residual * z, z * 0x1.5555555555555p-2, y);
  y = subnormal ? y * 0x1p-18 : y;
  return a == 0.0 || !(a < kInfinity) ? x + x : withSign(y, x);
}

double __nv_rcbrt(double x) {
  double a = abs(x);
  bool subnormal = a < 0x1p-1022;
  double normal = subnormal ? a * 0x1p54 : a;
  double z = inverseCubeRoot(normal);
  Pair<double> p = twoProduct(normal, z), q = twoProduct(z, z);
  double h = fma(-p.high, q.high, 1.0) - fma(p.low, q.high, p.high * q.low);
  z = fma(z * 0x1.5555555555555p-2, h, z);
  z = subnormal ? z * 0x1p18 : z;
  z = a == 0.0 ? kInfinity : z;
  z = a == kInfinity ? 0.0 : z;
  return isNan(x) ? x : withSign(z, x);
}

double __nv_hypot(double x, double y) {
  double a = abs(x), b = abs(y);
  double larger = a > b ? a : b, smaller = a > b ? b : a;
  // a power of two that brings the larger one near 1
  uint64_t exponent = bits(larger) & 0x7ff0000000000000ull;
  exponent = exponent > 0x7fc0000000000000ull   ? 0x7fc0000000000000ull
             : exponent < 0x0020000000000000ull ? 0x0020000000000000ull
                                                : exponent;
  double down = fromBits(0x7fe0000000000000ull - exponent), up = fromBits(exponent);
  double l = larger * down, s = smaller * down;
  double result = __builtin_sqrt(fma(l, l, s * s)) * up;
  result = isNan(x) || isNan(y) ? x + y : result;
  return a == kInfinity || b == kInfinity ? kInfinity : result;
}

}  // extern "C"
