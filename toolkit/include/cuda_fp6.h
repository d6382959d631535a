/* SPDX-License-Identifier: Apache-2.0 */
/* 6-bit floating point: e2m3 (up to 7.5) and e3m2 (up to 28), one in the low bits of a byte. Values are stored; to
   compute they are converted. */
#ifndef __CUDA_FP6_H__
#define __CUDA_FP6_H__
#pragma GCC system_header

#include "cuda_fp8.h"

typedef __nv_fp8_storage_t __nv_fp6_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp6x2_storage_t;
typedef __nv_fp8x4_storage_t __nv_fp6x4_storage_t;
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;

#if defined(__cplusplus)
#define __CUDA_FP6_TYPES_EXIST__
#include "strata/tiny_float.h"

// ---- Conversion functions ----------------------------------------------------------------------------
STRATA_HOST_DEVICE __nv_fp6_storage_t __nv_cvt_double_to_fp6(double x, __nv_fp6_interpretation_t format,
                                                             cudaRoundMode rounding) {
  return format == __NV_E2M3 ? __strata::toTinyFloat<2, 3>(x, rounding) : __strata::toTinyFloat<3, 2>(x, rounding);
}
STRATA_HOST_DEVICE __half_raw __nv_cvt_fp6_to_halfraw(__nv_fp6_storage_t x, __nv_fp6_interpretation_t format) {
  const float value = format == __NV_E2M3 ? __strata::fromTinyFloat<2, 3>(x) : __strata::fromTinyFloat<3, 2>(x);
  return static_cast<__half_raw>(__float2half(value));
}
#define STRATA_INTERPRETATION __nv_fp6_interpretation_t
#define STRATA_SHIFT 8
#define STRATA_OF(from, to) __nv_cvt_##from##_to_fp6##to
#define STRATA_TO_HALF __nv_cvt_fp6_to_halfraw
#define STRATA_TO_HALF2 __nv_cvt_fp6x2_to_halfraw2
#define STRATA_STORAGE __nv_fp6_storage_t
#define STRATA_STORAGE_X2 __nv_fp6x2_storage_t
#define STRATA_STORAGE_X4 __nv_fp6x4_storage_t
#include "strata/tiny_float_conversions.inc"

// ---- Types: one, two and four values -------------------------------------------------------------------
#define STRATA_FLOAT __nv_fp6_e2m3
#define STRATA_FLOAT_X2 __nv_fp6x2_e2m3
#define STRATA_FLOAT_X4 __nv_fp6x4_e2m3
#define STRATA_FORMAT __NV_E2M3
#include "strata/tiny_float.inc"
#undef STRATA_FLOAT
#undef STRATA_FLOAT_X2
#undef STRATA_FLOAT_X4
#undef STRATA_FORMAT
#define STRATA_FLOAT __nv_fp6_e3m2
#define STRATA_FLOAT_X2 __nv_fp6x2_e3m2
#define STRATA_FLOAT_X4 __nv_fp6x4_e3m2
#define STRATA_FORMAT __NV_E3M2
#include "strata/tiny_float.inc"
#undef STRATA_FLOAT
#undef STRATA_FLOAT_X2
#undef STRATA_FLOAT_X4
#undef STRATA_FORMAT
#undef STRATA_INTERPRETATION
#undef STRATA_SHIFT
#undef STRATA_OF
#undef STRATA_TO_HALF
#undef STRATA_TO_HALF2
#undef STRATA_STORAGE
#undef STRATA_STORAGE_X2
#undef STRATA_STORAGE_X4
#endif  // __cplusplus

#endif
