// SPDX-License-Identifier: Apache-2.0
// Floating-point intrinsics: arithmetic with a stated rounding, fast approximations, conversions with a
// stated rounding, and the same bits seen as another type.
#pragma once
#pragma GCC system_header

#include "device_types.h"
#include "strata/device/define.h"
#include "strata/device/libdevice.h"

#define STRATA_ROUNDED(r)                                                                              \
  STRATA_DEVICE float __fadd_##r(float x, float y) { return __nv_fadd_##r(x, y); }                     \
  STRATA_DEVICE float __fsub_##r(float x, float y) { return __nv_fsub_##r(x, y); }                     \
  STRATA_DEVICE float __fmul_##r(float x, float y) { return __nv_fmul_##r(x, y); }                     \
  STRATA_DEVICE float __fdiv_##r(float x, float y) { return __nv_fdiv_##r(x, y); }                     \
  STRATA_DEVICE float __frcp_##r(float x) { return __nv_frcp_##r(x); }                                 \
  STRATA_DEVICE float __fsqrt_##r(float x) { return __nv_fsqrt_##r(x); }                               \
  STRATA_DEVICE float __fmaf_##r(float x, float y, float z) { return __nv_fmaf_##r(x, y, z); }         \
  STRATA_DEVICE float __fmaf_ieee_##r(float x, float y, float z) { return __nv_fmaf_ieee_##r(x, y, z); } \
  STRATA_DEVICE double __dadd_##r(double x, double y) { return __nv_dadd_##r(x, y); }                  \
  STRATA_DEVICE double __dsub_##r(double x, double y) { return __nv_dsub_##r(x, y); }                  \
  STRATA_DEVICE double __dmul_##r(double x, double y) { return __nv_dmul_##r(x, y); }                  \
  STRATA_DEVICE double __ddiv_##r(double x, double y) { return __nv_ddiv_##r(x, y); }                  \
  STRATA_DEVICE double __drcp_##r(double x) { return __nv_drcp_##r(x); }                               \
  STRATA_DEVICE double __dsqrt_##r(double x) { return __nv_dsqrt_##r(x); }                             \
  STRATA_DEVICE double __fma_##r(double x, double y, double z) { return __nv_fma_##r(x, y, z); }       \
  STRATA_DEVICE int __float2int_##r(float x) { return __nv_float2int_##r(x); }                         \
  STRATA_DEVICE unsigned __float2uint_##r(float x) { return __nv_float2uint_##r(x); }                  \
  STRATA_DEVICE long long __float2ll_##r(float x) { return __nv_float2ll_##r(x); }                     \
  STRATA_DEVICE unsigned long long __float2ull_##r(float x) { return __nv_float2ull_##r(x); }          \
  STRATA_DEVICE int __double2int_##r(double x) { return __nv_double2int_##r(x); }                      \
  STRATA_DEVICE unsigned __double2uint_##r(double x) { return __nv_double2uint_##r(x); }               \
  STRATA_DEVICE long long __double2ll_##r(double x) { return __nv_double2ll_##r(x); }                  \
  STRATA_DEVICE unsigned long long __double2ull_##r(double x) { return __nv_double2ull_##r(x); }       \
  STRATA_DEVICE float __double2float_##r(double x) { return __nv_double2float_##r(x); }                \
  STRATA_DEVICE float __int2float_##r(int x) { return __nv_int2float_##r(x); }                         \
  STRATA_DEVICE float __uint2float_##r(unsigned x) { return __nv_uint2float_##r(x); }                  \
  STRATA_DEVICE float __ll2float_##r(long long x) { return __nv_ll2float_##r(x); }                     \
  STRATA_DEVICE float __ull2float_##r(unsigned long long x) { return __nv_ull2float_##r(x); }          \
  STRATA_DEVICE double __ll2double_##r(long long x) { return __nv_ll2double_##r(x); }                  \
  STRATA_DEVICE double __ull2double_##r(unsigned long long x) { return __nv_ull2double_##r(x); }
STRATA_ROUNDED(rn)
STRATA_ROUNDED(rz)
STRATA_ROUNDED(rd)
STRATA_ROUNDED(ru)
#undef STRATA_ROUNDED
STRATA_DEVICE float __frsqrt_rn(float x) { return __nv_frsqrt_rn(x); }
STRATA_DEVICE double __int2double_rn(int x) { return x; }
STRATA_DEVICE double __uint2double_rn(unsigned x) { return x; }

STRATA_DEVICE float __cosf(float x) { return __nv_fast_cosf(x); }
STRATA_DEVICE float __exp10f(float x) { return __nv_fast_exp10f(x); }
STRATA_DEVICE float __expf(float x) { return __nv_fast_expf(x); }
STRATA_DEVICE float __fdividef(float x, float y) { return __nv_fast_fdividef(x, y); }
STRATA_DEVICE float __log10f(float x) { return __nv_fast_log10f(x); }
STRATA_DEVICE float __log2f(float x) { return __nv_fast_log2f(x); }
STRATA_DEVICE float __logf(float x) { return __nv_fast_logf(x); }
STRATA_DEVICE float __powf(float x, float y) { return __nv_fast_powf(x, y); }
STRATA_DEVICE float __sinf(float x) { return __nv_fast_sinf(x); }
STRATA_DEVICE float __tanf(float x) { return __nv_fast_tanf(x); }
STRATA_DEVICE float __tanhf(float x) { return __nv_fast_tanhf(x); }
STRATA_DEVICE void __sincosf(float x, float *sine, float *cosine) { __nv_fast_sincosf(x, sine, cosine); }
STRATA_DEVICE float __saturatef(float x) { return __nv_saturatef(x); }
STRATA_DEVICE float saturate(float x) { return __nv_saturatef(x); }

STRATA_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
STRATA_DEVICE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
STRATA_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
STRATA_DEVICE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
STRATA_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
STRATA_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
STRATA_DEVICE int __double2hiint(double x) { return static_cast<int>(__builtin_bit_cast(long long, x) >> 32); }
STRATA_DEVICE int __double2loint(double x) { return static_cast<int>(__builtin_bit_cast(long long, x)); }
STRATA_DEVICE double __hiloint2double(int high, int low) {
  return __builtin_bit_cast(
      double, (static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32) | static_cast<unsigned>(low));
}

// The older names of conversions.
STRATA_DEVICE int float_as_int(float x) { return __float_as_int(x); }
STRATA_DEVICE float int_as_float(int x) { return __int_as_float(x); }
STRATA_DEVICE unsigned float_as_uint(float x) { return __float_as_uint(x); }
STRATA_DEVICE float uint_as_float(unsigned x) { return __uint_as_float(x); }
STRATA_DEVICE int float2int(float x, cudaRoundMode mode = cudaRoundZero) {
  return mode == cudaRoundNearest  ? __nv_float2int_rn(x)
         : mode == cudaRoundPosInf ? __nv_float2int_ru(x)
         : mode == cudaRoundMinInf ? __nv_float2int_rd(x)
                                   : __nv_float2int_rz(x);
}
