// SPDX-License-Identifier: Apache-2.0
// Correctly rounded results in any float format, from MPFR: the reference of the math tests.
#pragma once

#include <mpfr.h>

#include <cmath>
#include <cstdint>
#include <cstring>

namespace strata::simt::test {

struct Format {
  const char *name, *ir;  // "f32", "float"
  unsigned bits, precision;
  long emin, emax;  // MPFR's: values are in [1/2, 1) * 2^e

  unsigned fraction() const { return precision - 1; }
  std::uint64_t exponentMask() const { return ((1ull << (bits - 1 - fraction())) - 1) << fraction(); }
  long bias() const { return emax - 1; }
};
inline constexpr Format kHalf{"f16", "half", 16, 11, -23, 16}, kBfloat{"bf16", "bfloat", 16, 8, -132, 128},
    kFloat{"f32", "float", 32, 24, -148, 128}, kDouble{"f64", "double", 64, 53, -1073, 1024};

inline double decode(const Format &f, std::uint64_t bits) {
  const bool negative = bits >> (f.bits - 1) & 1;
  const std::uint64_t exponent = (bits & f.exponentMask()) >> f.fraction(),
                      fraction = bits & ((1ull << f.fraction()) - 1);
  double v = 0;
  if ((bits & f.exponentMask()) == f.exponentMask()) v = fraction ? NAN : INFINITY;
  else if (exponent == 0) v = std::ldexp(static_cast<double>(fraction), static_cast<int>(1 - f.bias() - f.fraction()));
  else
    v = std::ldexp(static_cast<double>(fraction | 1ull << f.fraction()),
                   static_cast<int>(static_cast<long>(exponent) - f.bias() - f.fraction()));
  return negative ? -v : v;
}

// v must be a value of the format.
inline std::uint64_t encode(const Format &f, double v) {
  const std::uint64_t sign = std::signbit(v) ? 1ull << (f.bits - 1) : 0;
  if (std::isnan(v)) return f.exponentMask() | 1ull << (f.fraction() - 1);
  if (std::isinf(v)) return sign | f.exponentMask();
  if (v == 0) return sign;
  int e = 0;
  std::frexp(v, &e);
  const long exponent = std::max<long>(e - 1, 1 - f.bias());
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::fabs(v), static_cast<int>(f.fraction() - exponent)));
  const bool subnormal = mantissa < 1ull << f.fraction();
  return sign | (subnormal ? mantissa
                           : ((static_cast<std::uint64_t>(exponent + f.bias()) << f.fraction()) +
                              (mantissa - (1ull << f.fraction()))));
}

inline bool isNan(const Format &f, std::uint64_t bits) { return std::isnan(decode(f, bits)); }

// Runs compute(result, rounding) -> MPFR's ternary value with the format's precision and range.
template <class Compute>
std::uint64_t rounded(const Format &f, mpfr_rnd_t rounding, const Compute &compute) {
  mpfr_t r;
  mpfr_init2(r, f.precision);
  int ternary = compute(r, rounding);
  mpfr_set_emin(f.emin);
  mpfr_set_emax(f.emax);
  ternary = mpfr_check_range(r, ternary, rounding);
  mpfr_subnormalize(r, ternary, rounding);
  const double v = mpfr_get_d(r, MPFR_RNDN);
  mpfr_clear(r);
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  return encode(f, v);
}

// An MPFR number that holds a double exactly.
class Exact {
public:
  explicit Exact(double v) { mpfr_init2(v_, 53), mpfr_set_d(v_, v, MPFR_RNDN); }
  explicit Exact(std::int64_t v) { mpfr_init2(v_, 64), mpfr_set_sj(v_, v, MPFR_RNDN); }
  explicit Exact(std::uint64_t v) { mpfr_init2(v_, 64), mpfr_set_uj(v_, v, MPFR_RNDN); }
  Exact(const Exact &) = delete;
  ~Exact() { mpfr_clear(v_); }
  operator mpfr_srcptr() const { return v_; }

private:
  mpfr_t v_;
};

}  // namespace strata::simt::test
