// SPDX-License-Identifier: Apache-2.0
// Exact results by MPFR, by the name that bounds.def uses.
#pragma once

#include <mpfr.h>

namespace strata::libdevice {

constexpr mpfr_prec_t kPrecision = 200;

// One MPFR variable of kPrecision bits.
class Exact {
public:
  Exact() { mpfr_init2(value_, kPrecision); }
  explicit Exact(double x) : Exact() { mpfr_set_d(value_, x, MPFR_RNDN); }
  ~Exact() { mpfr_clear(value_); }
  Exact(const Exact &) = delete;
  Exact &operator=(const Exact &) = delete;
  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }

private:
  mpfr_t value_;
};

using Unary = void (*)(Exact &result, const Exact &x);
using Binary = void (*)(Exact &result, const Exact &x, const Exact &y);
Unary unaryReference(const char *name);  // null: unknown
Binary binaryReference(const char *name);

// |computed - exact| in units of the last place of a format with `digits` bits and least exponent `least` (of frexp's
// kind). Infinite where one is NaN or infinite and the other is not, or where zero has the wrong sign.
double errorInUlps(double computed, const Exact &exact, int digits, int least);

}  // namespace strata::libdevice
