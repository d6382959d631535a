/* SPDX-License-Identifier: Apache-2.0 */
/* 4-bit floating point: e2m1 (0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives). One in the low bits of a byte, two in a
   byte, the first in its low half. Values are stored; to compute they are converted. */
#ifndef __CUDA_FP4_H__
#define __CUDA_FP4_H__
#pragma GCC system_header

#include "cuda_fp6.h"

typedef __nv_fp8_storage_t __nv_fp4_storage_t;
typedef __nv_fp8_storage_t __nv_fp4x2_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;

#if defined(__cplusplus)
#define __CUDA_FP4_TYPES_EXIST__

// ---- Conversion functions ----------------------------------------------------------------------------
STRATA_HOST_DEVICE __nv_fp4_storage_t __nv_cvt_double_to_fp4(double x, __nv_fp4_interpretation_t,
                                                             cudaRoundMode rounding) {
  return __strata::toTinyFloat<2, 1>(x, rounding);
}
STRATA_HOST_DEVICE __half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t x, __nv_fp4_interpretation_t) {
  return static_cast<__half_raw>(__float2half(__strata::fromTinyFloat<2, 1>(x)));
}
#define STRATA_INTERPRETATION __nv_fp4_interpretation_t
#define STRATA_SHIFT 4
#define STRATA_OF(from, to) __nv_cvt_##from##_to_fp4##to
#define STRATA_TO_HALF __nv_cvt_fp4_to_halfraw
#define STRATA_TO_HALF2 __nv_cvt_fp4x2_to_halfraw2
#define STRATA_STORAGE __nv_fp4_storage_t
#define STRATA_STORAGE_X2 __nv_fp4x2_storage_t
#define STRATA_STORAGE_X4 __nv_fp4x4_storage_t
#include "strata/tiny_float_conversions.inc"

// ---- Types: one, two and four values -------------------------------------------------------------------
#define STRATA_FLOAT __nv_fp4_e2m1
#define STRATA_FLOAT_X2 __nv_fp4x2_e2m1
#define STRATA_FLOAT_X4 __nv_fp4x4_e2m1
#define STRATA_FORMAT __NV_E2M1
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
