// SPDX-License-Identifier: Apache-2.0
// Bessel functions in double. Below 20 the power series, summed in pairs: its terms reach 2^26 times the sum,
// and near a zero of the function the sum is small again. Beyond, Hankel's asymptotic series.
#include "double_parts.h"

namespace {

const double kSeriesLimit = 20.0;
const int kTerms = 56;

struct Series {
  Pair<double> first;   // J or I: sum of t_k
  Pair<double> second;  // Y: sum of (H_k + H_(k + order)) t_k, H harmonic numbers
};

// t_k = (sign x^2/4)^k / (k! (k + order)!), order 0 or 1; x in [0, 20].
inline Series powerSeries(int order, double x, double sign) {
  Pair<double> q = twoProduct(0.5 * x, 0.5 * x);
  q = {sign * q.high, sign * q.low};
  Pair<double> term = {1.0, 0.0}, harmonic = {0.0, 0.0}, harmonicNext = {static_cast<double>(order), 0.0};
  Series s = {{1.0, 0.0}, {static_cast<double>(order), 0.0}};
  for (int k = 1; k < kTerms; ++k) {
    double divisor = static_cast<double>(k * (k + order));
    term = multiply(multiply(term, q), reciprocal(divisor));
    harmonic = add(harmonic, reciprocal(static_cast<double>(k)));
    harmonicNext = add(harmonicNext, reciprocal(static_cast<double>(k + order)));
    s.first = add(s.first, term);
    s.second = add(s.second, multiply(add(harmonic, harmonicNext), term));
  }
  return s;
}

// log(x / 2) + gamma
inline Pair<double> logHalfPlusGamma(double x) {
  Pair<double> l = log2Pair(0.5 * x);
  Pair<double> natural = multiply(l, {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56});
  return add(natural, {0x1.2788cfc6fb619p-1, -0x1.6cb90701fbfabp-58});
}

struct JY {
  double j, y;
};

// x >= 20: sqrt(2 / (pi x)) (P cos(c) -+ Q sin(c)), c = x - pi/4 - order pi/2.
inline JY hankel(int order, double x) {
  double mu = 4.0 * order * order, t = 0.125 / x;
  double term = 1.0, p = 1.0, q = 0.0;
  for (int k = 1; k < 24; ++k) {
    double odd = 2.0 * k - 1.0;
    term *= (mu - odd * odd) * t / static_cast<double>(k);
    double signedTerm = (k >> 1) & 1 ? -term : term;
    p += k & 1 ? 0.0 : signedTerm;
    q += k & 1 ? signedTerm : 0.0;
  }
  double sine, cosine;
  __nv_sincos(x, &sine, &cosine);
  double c = 0x1.6a09e667f3bcdp-1 * (order ? sine - cosine : cosine + sine);
  double s = 0x1.6a09e667f3bcdp-1 * (order ? -(sine + cosine) : sine - cosine);
  double amplitude = __builtin_sqrt(0x1.45f306dc9c883p-1 / x);
  return {amplitude * (p * c - q * s), amplitude * (p * s + q * c)};
}

inline double besselJ(int order, double x) {
  double a = abs(x);
  double result;
  if (a < kSeriesLimit) {
    Pair<double> sum = powerSeries(order, a, -1.0).first;
    result = order ? 0.5 * a * sum.high : sum.high;
  } else {
    result = a < kInfinity ? hankel(order, a).j : a - a == 0.0 ? 0.0 : isNan(x) ? x : 0.0;
  }
  return order && x < 0.0 ? -result : result;
}

inline double besselY(int order, double x) {
  double result;
  if (x < kSeriesLimit) {
    double a = x > 0.0 ? x : 1.0;
    Series s = powerSeries(order, a, -1.0);
    Pair<double> j = s.first;
    // order 0: 2/pi (L J - S/2); order 1: 2/pi (x/2) (L J - S/2) - 2/(pi x), S the second sum
    Pair<double> inner = add(multiply(logHalfPlusGamma(a), j), {-0.5 * s.second.high, -0.5 * s.second.low});
    if (order) {
      Pair<double> scaled = multiply(inner, {0.5 * a, 0.0});
      Pair<double> pole = reciprocal(a);
      inner = add(scaled, {-pole.high, -pole.low});
    }
    Pair<double> scaled = multiply(inner, {0x1.45f306dc9c883p-1, -0x1.6b01ec5417056p-55});
    result = inner.high < -0x1p1000 ? inner.high * 0x1.45f306dc9c883p-1 : scaled.high;
    result = x == 0.0 ? -kInfinity : x < 0.0 || isNan(x) ? kNan : result;
  } else {
    result = x < kInfinity ? hankel(order, x).y : isNan(x) ? x : 0.0;
  }
  return result;
}

inline double besselI(int order, double x) {
  double a = abs(x);
  double result;
  if (a < kSeriesLimit) {
    Pair<double> sum = powerSeries(order, a, 1.0).first;
    result = order ? 0.5 * a * sum.high : sum.high;
  } else {
    // 1 + c_1 (1 + c_2 (1 + …)), the small terms first
    double mu = 4.0 * order * order, t = 0.125 / a, sum = 1.0;
    for (int k = 40; k > 0; --k) {
      double odd = 2.0 * k - 1.0;
      sum = fma((odd * odd - mu) * t / static_cast<double>(k), sum, 1.0);
    }
    // e^a may overflow before the quotient does: half of it at a time
    ExpParts e = expParts(a < 740.0 ? a : 740.0);
    double mantissa = 1.0 + (e.r + (e.tail + e.rLow));
    double quotient = mantissa * (sum / __builtin_sqrt(0x1.921fb54442d18p+2 * a));
    result = scale(quotient, e.exponent);
    result = a < kInfinity ? result : a;
    result = isNan(x) ? x : result;
  }
  return order && x < 0.0 ? -result : result;
}

}  // namespace

extern "C" {

double __nv_j0(double x) { return besselJ(0, x); }
double __nv_j1(double x) { return besselJ(1, x); }
double __nv_y0(double x) { return besselY(0, x); }
double __nv_y1(double x) { return besselY(1, x); }
double __nv_cyl_bessel_i0(double x) { return besselI(0, x); }
double __nv_cyl_bessel_i1(double x) { return besselI(1, x); }

// Forward recurrence where it is stable (order < x), else Miller's: downwards from far above, normalised by
// J_0 + 2 (J_2 + J_4 + …) = 1.
double __nv_jn(int order, double x) {
  if (order < 0) return kNan;
  if (order == 0) return besselJ(0, x);
  if (order == 1) return besselJ(1, x);
  double a = abs(x);
  if (isNan(x)) return x;
  if (a == 0.0 || a == kInfinity) return 0.0;
  double result;
  if (a > order) {
    double before = besselJ(0, a), now = besselJ(1, a);
    for (int k = 1; k < order; ++k) {
      double next = 2.0 * k / a * now - before;
      before = now;
      now = next;
    }
    result = now;
  } else {
    int start = 2 * ((order + static_cast<int>(__builtin_sqrt(160.0 * order)) + 16) / 2);
    double above = 0.0, now = 0x1p-600, sum = 0.0, wanted = 0.0;
    for (int k = start; k > 0; --k) {
      double below = 2.0 * k / a * now - above;
      above = now;
      now = below;
      bool large = abs(now) > 0x1p600;
      double down = large ? 0x1p-600 : 1.0;
      now *= down;
      above *= down;
      sum *= down;
      wanted *= down;
      wanted = k == order ? above : wanted;
      sum += (k - 1) % 2 == 0 && k > 1 ? now : 0.0;
    }
    result = wanted / (sum + sum + now);
  }
  return order % 2 && x < 0.0 ? -result : result;
}

double __nv_yn(int order, double x) {
  if (order < 0) return kNan;
  if (order == 0) return besselY(0, x);
  if (order == 1 || !(x > 0.0)) return besselY(1, x);
  double before = besselY(0, x), now = besselY(1, x);
  for (int k = 1; k < order; ++k) {
    double next = 2.0 * k / x * now - before;
    before = now;
    now = next < -0x1.fffffffffffffp1023 ? -kInfinity : next;
    if (now == -kInfinity) break;
  }
  return now;
}

#define IN_FLOAT(name) \
  float __nv_##name##f(float x) { return static_cast<float>(__nv_##name(static_cast<double>(x))); }
IN_FLOAT(j0)
IN_FLOAT(j1)
IN_FLOAT(y0)
IN_FLOAT(y1)
IN_FLOAT(cyl_bessel_i0)
IN_FLOAT(cyl_bessel_i1)
#undef IN_FLOAT
float __nv_jnf(int order, float x) { return static_cast<float>(__nv_jn(order, static_cast<double>(x))); }
float __nv_ynf(int order, float x) { return static_cast<float>(__nv_yn(order, static_cast<double>(x))); }

}  // extern "C"
