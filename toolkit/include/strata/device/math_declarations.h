// SPDX-License-Identifier: Apache-2.0
// Device overloads of the C library's mathematics, declared before <cmath> is read for the first time.
// clang lets a __device__ function overload a __host__ one of the same signature, and keeps libstdc++'s
// constexpr overloads (which would otherwise be callable on both sides, and lower to calls of a libm that
// a device lacks) on the host where a device overload stands already: therefore the order here.
#pragma once
#pragma GCC system_header

#include <bits/cpp_type_traits.h>

#include <ext/type_traits.h>

#include "strata/device/define.h"
#include "strata/device/libdevice.h"

#if defined(__USE_FAST_MATH__) || defined(__CLANG_GPU_APPROX_TRANSCENDENTALS__)
#define STRATA_FAST(name) __nv_fast_##name
#else
#define STRATA_FAST(name) __nv_##name
#endif

namespace __strata {
// double where all of the types are arithmetic and not all float: C++'s rule for mixed arguments.
template <typename First>
using ForInteger = typename __gnu_cxx::__enable_if<std::__is_integer<First>::__value, double>::__type;
template <typename First, typename Second>
using ForMixed =
    typename __gnu_cxx::__enable_if<std::__is_arithmetic<First>::__value && std::__is_arithmetic<Second>::__value,
                                    double>::__type;
}  // namespace __strata

#define EXT1(name, inDouble, inFloat)     \
  STRATA_DEVICE double name(double);      \
  STRATA_DEVICE float name##f(float);     \
  STRATA_DEVICE float name(float);
#define EXT2(name, inDouble, inFloat)         \
  STRATA_DEVICE double name(double, double);  \
  STRATA_DEVICE float name##f(float, float);  \
  STRATA_DEVICE float name(float, float);
#define STD1(name, inDouble, inFloat)             \
  EXT1(name, inDouble, inFloat)                   \
  template <typename First>                       \
  STRATA_DEVICE __strata::ForInteger<First> name(First);
#define STD2(name, inDouble, inFloat)                 \
  EXT2(name, inDouble, inFloat)                       \
  template <typename First, typename Second>          \
  STRATA_DEVICE __strata::ForMixed<First, Second> name(First, Second);
#include "strata/device/math.def"
#undef EXT1
#undef EXT2
#undef STD1
#undef STD2

STRATA_DEVICE int abs(int);
STRATA_DEVICE long abs(long);
STRATA_DEVICE long long abs(long long);
STRATA_DEVICE float abs(float);
STRATA_DEVICE double abs(double);
STRATA_DEVICE long labs(long);
STRATA_DEVICE long long llabs(long long);
STRATA_DEVICE double fma(double, double, double);
STRATA_DEVICE float fmaf(float, float, float);
STRATA_DEVICE float fma(float, float, float);
STRATA_DEVICE double frexp(double, int *);
STRATA_DEVICE float frexpf(float, int *);
STRATA_DEVICE float frexp(float, int *);
STRATA_DEVICE int ilogb(double);
STRATA_DEVICE int ilogbf(float);
STRATA_DEVICE int ilogb(float);
STRATA_DEVICE double ldexp(double, int);
STRATA_DEVICE float ldexpf(float, int);
STRATA_DEVICE float ldexp(float, int);
STRATA_DEVICE double scalbn(double, int);
STRATA_DEVICE float scalbnf(float, int);
STRATA_DEVICE float scalbn(float, int);
STRATA_DEVICE double scalbln(double, long);
STRATA_DEVICE float scalblnf(float, long);
STRATA_DEVICE float scalbln(float, long);
STRATA_DEVICE long lrint(double);
STRATA_DEVICE long lrintf(float);
STRATA_DEVICE long lrint(float);
STRATA_DEVICE long lround(double);
STRATA_DEVICE long lroundf(float);
STRATA_DEVICE long lround(float);
STRATA_DEVICE long long llrint(double);
STRATA_DEVICE long long llrintf(float);
STRATA_DEVICE long long llrint(float);
STRATA_DEVICE long long llround(double);
STRATA_DEVICE long long llroundf(float);
STRATA_DEVICE long long llround(float);
STRATA_DEVICE double modf(double, double *);
STRATA_DEVICE float modff(float, float *);
STRATA_DEVICE float modf(float, float *);
STRATA_DEVICE double nan(const char *);
STRATA_DEVICE float nanf(const char *);
STRATA_DEVICE double remquo(double, double, int *);
STRATA_DEVICE float remquof(float, float, int *);
STRATA_DEVICE float remquo(float, float, int *);

namespace std {
#define EXT1(name, inDouble, inFloat)
#define EXT2(name, inDouble, inFloat)
#define STD1(name, inDouble, inFloat) \
  using ::name;                       \
  using ::name##f;
#define STD2 STD1
#include "strata/device/math.def"
#undef EXT1
#undef EXT2
#undef STD1
#undef STD2
using ::abs;
using ::fma;
using ::fmaf;
using ::frexp;
using ::frexpf;
using ::ilogb;
using ::ilogbf;
using ::labs;
using ::ldexp;
using ::ldexpf;
using ::llabs;
using ::llrint;
using ::llrintf;
using ::llround;
using ::llroundf;
using ::lrint;
using ::lrintf;
using ::lround;
using ::lroundf;
using ::modf;
using ::modff;
using ::nan;
using ::nanf;
using ::remquo;
using ::remquof;
using ::scalbln;
using ::scalblnf;
using ::scalbn;
using ::scalbnf;
}  // namespace std
