// SPDX-License-Identifier: Apache-2.0
// Bodies of the mathematics declared in math_declarations.h, and CUDA's own additions to it.
#pragma once
#pragma GCC system_header

#include "strata/device/math_declarations.h"

#define EXT1(name, inDouble, inFloat)                          \
  STRATA_DEVICE double name(double x) { return inDouble(x); }  \
  STRATA_DEVICE float name##f(float x) { return inFloat(x); }  \
  STRATA_DEVICE float name(float x) { return inFloat(x); }
#define EXT2(name, inDouble, inFloat)                                       \
  STRATA_DEVICE double name(double x, double y) { return inDouble(x, y); }  \
  STRATA_DEVICE float name##f(float x, float y) { return inFloat(x, y); }   \
  STRATA_DEVICE float name(float x, float y) { return inFloat(x, y); }
#define STD1(name, inDouble, inFloat)                            \
  EXT1(name, inDouble, inFloat)                                  \
  template <typename First>                                      \
  STRATA_DEVICE __strata::ForInteger<First> name(First x) {      \
    return inDouble(static_cast<double>(x));                     \
  }
#define STD2(name, inDouble, inFloat)                                        \
  EXT2(name, inDouble, inFloat)                                              \
  template <typename First, typename Second>                                 \
  STRATA_DEVICE __strata::ForMixed<First, Second> name(First x, Second y) {  \
    return inDouble(static_cast<double>(x), static_cast<double>(y));         \
  }
#include "strata/device/math.def"
#undef EXT1
#undef EXT2
#undef STD1
#undef STD2

STRATA_DEVICE int abs(int x) { return __builtin_abs(x); }
STRATA_DEVICE long abs(long x) { return __builtin_labs(x); }
STRATA_DEVICE long long abs(long long x) { return __builtin_llabs(x); }
STRATA_DEVICE float abs(float x) { return __builtin_fabsf(x); }
STRATA_DEVICE double abs(double x) { return __builtin_fabs(x); }
STRATA_DEVICE long labs(long x) { return __builtin_labs(x); }
STRATA_DEVICE long long llabs(long long x) { return __builtin_llabs(x); }
STRATA_DEVICE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
STRATA_DEVICE float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
STRATA_DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
STRATA_DEVICE double frexp(double x, int *exponent) { return __nv_frexp(x, exponent); }
STRATA_DEVICE float frexpf(float x, int *exponent) { return __nv_frexpf(x, exponent); }
STRATA_DEVICE float frexp(float x, int *exponent) { return __nv_frexpf(x, exponent); }
STRATA_DEVICE int ilogb(double x) { return __nv_ilogb(x); }
STRATA_DEVICE int ilogbf(float x) { return __nv_ilogbf(x); }
STRATA_DEVICE int ilogb(float x) { return __nv_ilogbf(x); }
STRATA_DEVICE double ldexp(double x, int exponent) { return __nv_ldexp(x, exponent); }
STRATA_DEVICE float ldexpf(float x, int exponent) { return __nv_ldexpf(x, exponent); }
STRATA_DEVICE float ldexp(float x, int exponent) { return __nv_ldexpf(x, exponent); }
STRATA_DEVICE double scalbn(double x, int exponent) { return __nv_scalbn(x, exponent); }
STRATA_DEVICE float scalbnf(float x, int exponent) { return __nv_scalbnf(x, exponent); }
STRATA_DEVICE float scalbn(float x, int exponent) { return __nv_scalbnf(x, exponent); }

namespace __strata {
// An exponent beyond int's range scales to zero or infinity as its limit does.
STRATA_DEVICE int clampExponent(long exponent) {
  return exponent > 100000 ? 100000 : exponent < -100000 ? -100000 : static_cast<int>(exponent);
}
// nan("n"): CUDA's payload rules; a payload that is not a number gives the default NaN.
STRATA_DEVICE unsigned long long nanPayload(const char *tag) {
  unsigned long long value = 0;
  int base = 10;
  if (tag && tag[0] == '0') {
    base = tag[1] == 'x' || tag[1] == 'X' ? 16 : 8;
    tag += base == 16 ? 2 : 1;
  }
  for (; tag && *tag; ++tag) {
    int digit = *tag >= '0' && *tag <= '9'   ? *tag - '0'
                : *tag >= 'a' && *tag <= 'f' ? *tag - 'a' + 10
                : *tag >= 'A' && *tag <= 'F' ? *tag - 'A' + 10
                                             : 99;
    if (digit >= base) return 0;
    value = value * base + digit;
  }
  return value;
}
}  // namespace __strata

STRATA_DEVICE double scalbln(double x, long exponent) { return __nv_scalbn(x, __strata::clampExponent(exponent)); }
STRATA_DEVICE float scalblnf(float x, long exponent) { return __nv_scalbnf(x, __strata::clampExponent(exponent)); }
STRATA_DEVICE float scalbln(float x, long exponent) { return __nv_scalbnf(x, __strata::clampExponent(exponent)); }
STRATA_DEVICE long long llrint(double x) { return __nv_llrint(x); }
STRATA_DEVICE long long llrintf(float x) { return __nv_llrintf(x); }
STRATA_DEVICE long long llrint(float x) { return __nv_llrintf(x); }
STRATA_DEVICE long long llround(double x) { return __nv_llround(x); }
STRATA_DEVICE long long llroundf(float x) { return __nv_llroundf(x); }
STRATA_DEVICE long long llround(float x) { return __nv_llroundf(x); }
STRATA_DEVICE long lrint(double x) { return __nv_llrint(x); }
STRATA_DEVICE long lrintf(float x) { return __nv_llrintf(x); }
STRATA_DEVICE long lrint(float x) { return __nv_llrintf(x); }
STRATA_DEVICE long lround(double x) { return __nv_llround(x); }
STRATA_DEVICE long lroundf(float x) { return __nv_llroundf(x); }
STRATA_DEVICE long lround(float x) { return __nv_llroundf(x); }
STRATA_DEVICE double modf(double x, double *whole) { return __nv_modf(x, whole); }
STRATA_DEVICE float modff(float x, float *whole) { return __nv_modff(x, whole); }
STRATA_DEVICE float modf(float x, float *whole) { return __nv_modff(x, whole); }
STRATA_DEVICE double nan(const char *tag) {
  return __builtin_bit_cast(double, 0x7ff8000000000000ull | (__strata::nanPayload(tag) & 0x7ffffffffffffull));
}
STRATA_DEVICE float nanf(const char *tag) {
  return __builtin_bit_cast(float, 0x7fc00000u | static_cast<unsigned>(__strata::nanPayload(tag) & 0x3fffff));
}
STRATA_DEVICE double remquo(double x, double y, int *quotient) { return __nv_remquo(x, y, quotient); }
STRATA_DEVICE float remquof(float x, float y, int *quotient) { return __nv_remquof(x, y, quotient); }
STRATA_DEVICE float remquo(float x, float y, int *quotient) { return __nv_remquof(x, y, quotient); }

// Integer arguments where C++ promotes them to double.
template <typename First>
STRATA_DEVICE __strata::ForInteger<First> frexp(First x, int *exponent) {
  return __nv_frexp(static_cast<double>(x), exponent);
}
template <typename First>
STRATA_DEVICE __strata::ForInteger<First> ldexp(First x, int exponent) {
  return __nv_ldexp(static_cast<double>(x), exponent);
}

// CUDA's additions to the C library.
STRATA_DEVICE void sincos(double x, double *sine, double *cosine) { __nv_sincos(x, sine, cosine); }
STRATA_DEVICE void sincosf(float x, float *sine, float *cosine) { STRATA_FAST(sincosf)(x, sine, cosine); }
STRATA_DEVICE void sincos(float x, float *sine, float *cosine) { STRATA_FAST(sincosf)(x, sine, cosine); }
STRATA_DEVICE void sincospi(double x, double *sine, double *cosine) { __nv_sincospi(x, sine, cosine); }
STRATA_DEVICE void sincospif(float x, float *sine, float *cosine) { __nv_sincospif(x, sine, cosine); }
STRATA_DEVICE void sincospi(float x, float *sine, float *cosine) { __nv_sincospif(x, sine, cosine); }
STRATA_DEVICE double jn(int order, double x) { return __nv_jn(order, x); }
STRATA_DEVICE float jnf(int order, float x) { return __nv_jnf(order, x); }
STRATA_DEVICE float jn(int order, float x) { return __nv_jnf(order, x); }
STRATA_DEVICE double yn(int order, double x) { return __nv_yn(order, x); }
STRATA_DEVICE float ynf(int order, float x) { return __nv_ynf(order, x); }
STRATA_DEVICE float yn(int order, float x) { return __nv_ynf(order, x); }
STRATA_DEVICE double norm3d(double x, double y, double z) { return __nv_norm3d(x, y, z); }
STRATA_DEVICE float norm3df(float x, float y, float z) { return __nv_norm3df(x, y, z); }
STRATA_DEVICE double rnorm3d(double x, double y, double z) { return __nv_rnorm3d(x, y, z); }
STRATA_DEVICE float rnorm3df(float x, float y, float z) { return __nv_rnorm3df(x, y, z); }
STRATA_DEVICE double norm4d(double x, double y, double z, double w) { return __nv_norm4d(x, y, z, w); }
STRATA_DEVICE float norm4df(float x, float y, float z, float w) { return __nv_norm4df(x, y, z, w); }
STRATA_DEVICE double rnorm4d(double x, double y, double z, double w) { return __nv_rnorm4d(x, y, z, w); }
STRATA_DEVICE float rnorm4df(float x, float y, float z, float w) { return __nv_rnorm4df(x, y, z, w); }
STRATA_DEVICE double norm(int count, const double *values) { return __nv_norm(count, values); }
STRATA_DEVICE float normf(int count, const float *values) { return __nv_normf(count, values); }
STRATA_DEVICE double rnorm(int count, const double *values) { return __nv_rnorm(count, values); }
STRATA_DEVICE float rnormf(int count, const float *values) { return __nv_rnormf(count, values); }
#ifdef __USE_FAST_MATH__
STRATA_DEVICE float fdividef(float x, float y) { return __nv_fast_fdividef(x, y); }
#else
STRATA_DEVICE float fdividef(float x, float y) { return x / y; }
#endif

// The C library's classification, as functions where a header may have left only std:: ones.
STRATA_DEVICE int __finitef(float x) { return __builtin_isfinite(x); }
STRATA_DEVICE int __finite(double x) { return __builtin_isfinite(x); }
STRATA_DEVICE int __isinff(float x) { return __builtin_isinf(x); }
STRATA_DEVICE int __isinf(double x) { return __builtin_isinf(x); }
STRATA_DEVICE int __isnanf(float x) { return __builtin_isnan(x); }
STRATA_DEVICE int __isnan(double x) { return __builtin_isnan(x); }
STRATA_DEVICE int __signbitf(float x) { return __builtin_signbitf(x); }
STRATA_DEVICE int __signbit(double x) { return __builtin_signbit(x); }
