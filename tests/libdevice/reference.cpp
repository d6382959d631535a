// SPDX-License-Identifier: Apache-2.0
#include "tests/libdevice/reference.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace strata::libdevice {
namespace {

constexpr mpfr_rnd_t kRound = MPFR_RNDN;

template <int (*function)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)>
void plain(Exact &result, const Exact &x) {
  function(result.get(), x.get(), kRound);
}

void rcbrt(Exact &r, const Exact &x) {
  mpfr_cbrt(r.get(), x.get(), kRound);
  mpfr_ui_div(r.get(), 1, r.get(), kRound);
}

// sin or cos of pi x. x modulo 2 is exact, then pi times it.
void ofPi(Exact &r, const Exact &x, bool sine) {
  Exact two(2.0), pi;
  if (!mpfr_number_p(x.get())) return mpfr_set_nan(r.get());
  mpfr_fmod(r.get(), x.get(), two.get(), kRound);
  Exact doubled;
  mpfr_mul_2ui(doubled.get(), r.get(), 1, kRound);
  if (mpfr_integer_p(doubled.get())) {
    long halves = mpfr_get_si(doubled.get(), kRound);
    const double quarter[] = {0, 1, 0, -1};
    mpfr_set_d(r.get(), quarter[((sine ? halves : halves + 1) % 4 + 4) % 4], kRound);
    if (sine && mpfr_zero_p(r.get())) mpfr_setsign(r.get(), r.get(), mpfr_signbit(x.get()), kRound);
    return;
  }
  mpfr_const_pi(pi.get(), kRound);
  mpfr_mul(r.get(), r.get(), pi.get(), kRound);
  sine ? mpfr_sin(r.get(), r.get(), kRound) : mpfr_cos(r.get(), r.get(), kRound);
}
void sinpi(Exact &r, const Exact &x) { ofPi(r, x, true); }
void cospi(Exact &r, const Exact &x) { ofPi(r, x, false); }

void erfcx(Exact &r, const Exact &x) {
  Exact square;
  mpfr_sqr(square.get(), x.get(), kRound);
  mpfr_exp(square.get(), square.get(), kRound);
  mpfr_erfc(r.get(), x.get(), kRound);
  mpfr_mul(r.get(), r.get(), square.get(), kRound);
}

void normcdf(Exact &r, const Exact &x) {
  Exact root;
  mpfr_sqrt_ui(root.get(), 2, kRound);
  mpfr_div(r.get(), x.get(), root.get(), kRound);
  mpfr_neg(r.get(), r.get(), kRound);
  mpfr_erfc(r.get(), r.get(), kRound);
  mpfr_div_2ui(r.get(), r.get(), 1, kRound);
}

// Newton's method on erf or erfc (y) from a double start.
void inverseErf(Exact &r, const Exact &y, bool complement) {
  double value = mpfr_get_d(y.get(), kRound);
  double tail = complement ? (value < 1 ? value : 2 - value) : 1 - std::fabs(value);
  if (!(tail > 0)) {
    if (tail < 0 || std::isnan(tail)) return mpfr_set_nan(r.get());
    bool negative = complement ? value > 1 : value < 0;
    return mpfr_set_inf(r.get(), negative ? -1 : 1);
  }
  if (value == (complement ? 1.0 : 0.0))
    return mpfr_set(r.get(), y.get(), kRound), mpfr_sub_d(r.get(), r.get(), complement, kRound), void();
  double t = std::sqrt(-2 * std::log(tail * 0.5));
  double start = (t - (2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481))) / std::sqrt(2.0);
  if ((complement ? value > 1 : value < 0)) start = -start;
  if (tail > 0.9) start = (complement ? 1 - value : value) * 0.886;
  mpfr_set_d(r.get(), start, kRound);
  Exact error, slope, pi;
  mpfr_const_pi(pi.get(), kRound);
  mpfr_sqrt(pi.get(), pi.get(), kRound);
  mpfr_div_2ui(pi.get(), pi.get(), 1, kRound);
  for (int step = 0; step < 9; ++step) {
    complement ? mpfr_erfc(error.get(), r.get(), kRound) : mpfr_erf(error.get(), r.get(), kRound);
    mpfr_sub(error.get(), error.get(), y.get(), kRound);
    mpfr_sqr(slope.get(), r.get(), kRound);
    mpfr_exp(slope.get(), slope.get(), kRound);
    mpfr_mul(error.get(), error.get(), slope.get(), kRound);
    mpfr_mul(error.get(), error.get(), pi.get(), kRound);
    complement ? mpfr_add(r.get(), r.get(), error.get(), kRound) : mpfr_sub(r.get(), r.get(), error.get(), kRound);
  }
}
void erfinv(Exact &r, const Exact &x) { inverseErf(r, x, false); }
void erfcinv(Exact &r, const Exact &x) { inverseErf(r, x, true); }
void normcdfinv(Exact &r, const Exact &x) {
  Exact doubled, root;
  mpfr_mul_2ui(doubled.get(), x.get(), 1, kRound);
  inverseErf(r, doubled, true);
  mpfr_sqrt_ui(root.get(), 2, kRound);
  mpfr_mul(r.get(), r.get(), root.get(), kRound);
  mpfr_neg(r.get(), r.get(), kRound);
}

void lgamma(Exact &r, const Exact &x) {
  int sign;
  mpfr_lgamma(r.get(), &sign, x.get(), kRound);
}

// The power series of I_0 and I_1: all terms have one sign.
void besselI(Exact &r, const Exact &x, unsigned order) {
  Exact quarter, term;
  mpfr_sqr(quarter.get(), x.get(), kRound);
  mpfr_div_2ui(quarter.get(), quarter.get(), 2, kRound);
  mpfr_set_ui(term.get(), 1, kRound);
  if (order) mpfr_div_2ui(term.get(), x.get(), 1, kRound);
  mpfr_set(r.get(), term.get(), kRound);
  for (unsigned k = 1; k < 300; ++k) {
    mpfr_mul(term.get(), term.get(), quarter.get(), kRound);
    mpfr_div_ui(term.get(), term.get(), k * (k + order), kRound);
    mpfr_add(r.get(), r.get(), term.get(), kRound);
  }
}
void besselI0(Exact &r, const Exact &x) { besselI(r, x, 0); }
void besselI1(Exact &r, const Exact &x) { besselI(r, x, 1); }

template <int (*function)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t)>
void plain2(Exact &result, const Exact &x, const Exact &y) {
  function(result.get(), x.get(), y.get(), kRound);
}
void rhypot(Exact &r, const Exact &x, const Exact &y) {
  mpfr_hypot(r.get(), x.get(), y.get(), kRound);
  mpfr_ui_div(r.get(), 1, r.get(), kRound);
}

struct NamedUnary {
  const char *name;
  Unary function;
};
struct NamedBinary {
  const char *name;
  Binary function;
};

const NamedUnary kUnary[] = {{"acos", plain<mpfr_acos>},
                             {"acosh", plain<mpfr_acosh>},
                             {"asin", plain<mpfr_asin>},
                             {"asinh", plain<mpfr_asinh>},
                             {"atan", plain<mpfr_atan>},
                             {"atanh", plain<mpfr_atanh>},
                             {"cbrt", plain<mpfr_cbrt>},
                             {"cos", plain<mpfr_cos>},
                             {"cosh", plain<mpfr_cosh>},
                             {"erf", plain<mpfr_erf>},
                             {"erfc", plain<mpfr_erfc>},
                             {"exp", plain<mpfr_exp>},
                             {"exp10", plain<mpfr_exp10>},
                             {"exp2", plain<mpfr_exp2>},
                             {"expm1", plain<mpfr_expm1>},
                             {"log", plain<mpfr_log>},
                             {"log10", plain<mpfr_log10>},
                             {"log1p", plain<mpfr_log1p>},
                             {"log2", plain<mpfr_log2>},
                             {"rcbrt", rcbrt},
                             {"sin", plain<mpfr_sin>},
                             {"sinh", plain<mpfr_sinh>},
                             {"tan", plain<mpfr_tan>},
                             {"tanh", plain<mpfr_tanh>},
                             {"tgamma", plain<mpfr_gamma>},
                             {"cospi", cospi},
                             {"sinpi", sinpi},
                             {"erfcx", erfcx},
                             {"erfinv", erfinv},
                             {"erfcinv", erfcinv},
                             {"normcdf", normcdf},
                             {"normcdfinv", normcdfinv},
                             {"lgamma", lgamma},
                             {"j0", plain<mpfr_j0>},
                             {"j1", plain<mpfr_j1>},
                             {"y0", plain<mpfr_y0>},
                             {"y1", plain<mpfr_y1>},
                             {"cyl_bessel_i0", besselI0},
                             {"cyl_bessel_i1", besselI1}};
const NamedBinary kBinary[] = {{"atan2", plain2<mpfr_atan2>},         {"fmod", plain2<mpfr_fmod>},
                               {"hypot", plain2<mpfr_hypot>},         {"pow", plain2<mpfr_pow>},
                               {"remainder", plain2<mpfr_remainder>}, {"rhypot", rhypot}};

}  // namespace

Unary unaryReference(const char *name) {
  for (const NamedUnary &row : kUnary)
    if (!std::strcmp(row.name, name)) return row.function;
  return nullptr;
}
Binary binaryReference(const char *name) {
  for (const NamedBinary &row : kBinary)
    if (!std::strcmp(row.name, name)) return row.function;
  return nullptr;
}

double errorInUlps(double computed, const Exact &exact, int digits, int least) {
  const double wrong = std::numeric_limits<double>::infinity();
  if (mpfr_nan_p(exact.get())) return std::isnan(computed) ? 0 : wrong;
  if (std::isnan(computed)) return wrong;
  if (mpfr_zero_p(exact.get())) return computed == 0 ? 0 : wrong;
  if (mpfr_inf_p(exact.get()))
    return std::isinf(computed) && std::signbit(computed) == (mpfr_signbit(exact.get()) != 0) ? 0 : wrong;
  bool negative = mpfr_signbit(exact.get()) != 0;
  mpfr_exp_t exponent = mpfr_get_exp(exact.get());
  // -least - digits … mirrors the largest exponent: IEEE formats are nearly symmetric
  mpfr_exp_t largest = 3 - least;
  if (std::isinf(computed)) {
    if (std::signbit(computed) != negative) return wrong;
    if (exponent > largest) return 0;
    return exponent == largest ? 1 : wrong;
  }
  if (exponent > largest) return wrong;
  if (exponent < least) exponent = least;
  Exact error;
  mpfr_set_d(error.get(), computed, kRound);
  mpfr_sub(error.get(), error.get(), exact.get(), kRound);
  mpfr_mul_2si(error.get(), error.get(), digits - exponent, kRound);
  return std::fabs(mpfr_get_d(error.get(), kRound));
}

}  // namespace strata::libdevice
