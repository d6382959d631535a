// SPDX-License-Identifier: Apache-2.0
// Prototypes of the device math library (toolkit/libdevice): read by the device headers, by the library
// itself and by its tests. STRATA_NV marks functions of their arguments only, STRATA_NV_OUT those that
// write through pointers.
#pragma once
#pragma GCC system_header

#ifdef __CUDA__
#define STRATA_NV(type, name, ...) \
  extern "C" __device__ __attribute__((const, nothrow)) type __nv_##name(__VA_ARGS__);
#define STRATA_NV_OUT(type, name, ...) extern "C" __device__ __attribute__((nothrow)) type __nv_##name(__VA_ARGS__);
#else
#define STRATA_NV(type, name, ...) extern "C" type __nv_##name(__VA_ARGS__);
#define STRATA_NV_OUT(type, name, ...) extern "C" type __nv_##name(__VA_ARGS__);
#endif

// Both precisions of a function of one, two, … arguments.
#define STRATA_NV1(name) STRATA_NV(double, name, double) STRATA_NV(float, name##f, float)
#define STRATA_NV2(name) STRATA_NV(double, name, double, double) STRATA_NV(float, name##f, float, float)
#define STRATA_NV3(name) \
  STRATA_NV(double, name, double, double, double) STRATA_NV(float, name##f, float, float, float)
#define STRATA_NV4(name) \
  STRATA_NV(double, name, double, double, double, double) STRATA_NV(float, name##f, float, float, float, float)

STRATA_NV1(acos)
STRATA_NV1(acosh)
STRATA_NV1(asin)
STRATA_NV1(asinh)
STRATA_NV1(atan)
STRATA_NV1(atanh)
STRATA_NV1(cbrt)
STRATA_NV1(ceil)
STRATA_NV1(cos)
STRATA_NV1(cosh)
STRATA_NV1(cospi)
STRATA_NV1(cyl_bessel_i0)
STRATA_NV1(cyl_bessel_i1)
STRATA_NV1(erf)
STRATA_NV1(erfc)
STRATA_NV1(erfcinv)
STRATA_NV1(erfcx)
STRATA_NV1(erfinv)
STRATA_NV1(exp)
STRATA_NV1(exp10)
STRATA_NV1(exp2)
STRATA_NV1(expm1)
STRATA_NV1(fabs)
STRATA_NV1(floor)
STRATA_NV1(j0)
STRATA_NV1(j1)
STRATA_NV1(lgamma)
STRATA_NV1(log)
STRATA_NV1(log10)
STRATA_NV1(log1p)
STRATA_NV1(log2)
STRATA_NV1(logb)
STRATA_NV1(nearbyint)
STRATA_NV1(normcdf)
STRATA_NV1(normcdfinv)
STRATA_NV1(rcbrt)
STRATA_NV1(rint)
STRATA_NV1(round)
STRATA_NV1(rsqrt)
STRATA_NV1(sin)
STRATA_NV1(sinh)
STRATA_NV1(sinpi)
STRATA_NV1(sqrt)
STRATA_NV1(tan)
STRATA_NV1(tanh)
STRATA_NV1(tgamma)
STRATA_NV1(trunc)
STRATA_NV1(y0)
STRATA_NV1(y1)

STRATA_NV2(atan2)
STRATA_NV2(copysign)
STRATA_NV2(fdim)
STRATA_NV2(fmax)
STRATA_NV2(fmin)
STRATA_NV2(fmod)
STRATA_NV2(hypot)
STRATA_NV2(nextafter)
STRATA_NV2(pow)
STRATA_NV2(remainder)
STRATA_NV2(rhypot)

STRATA_NV3(fma)
STRATA_NV3(norm3d)
STRATA_NV3(rnorm3d)
STRATA_NV4(norm4d)
STRATA_NV4(rnorm4d)

STRATA_NV(int, ilogb, double)
STRATA_NV(int, ilogbf, float)
STRATA_NV(long long, llrint, double)
STRATA_NV(long long, llrintf, float)
STRATA_NV(long long, llround, double)
STRATA_NV(long long, llroundf, float)
STRATA_NV(double, ldexp, double, int)
STRATA_NV(float, ldexpf, float, int)
STRATA_NV(double, scalbn, double, int)
STRATA_NV(float, scalbnf, float, int)
STRATA_NV(double, powi, double, int)
STRATA_NV(float, powif, float, int)
STRATA_NV(double, jn, int, double)
STRATA_NV(float, jnf, int, float)
STRATA_NV(double, yn, int, double)
STRATA_NV(float, ynf, int, float)
STRATA_NV_OUT(double, frexp, double, int *)
STRATA_NV_OUT(float, frexpf, float, int *)
STRATA_NV_OUT(double, modf, double, double *)
STRATA_NV_OUT(float, modff, float, float *)
STRATA_NV_OUT(double, remquo, double, double, int *)
STRATA_NV_OUT(float, remquof, float, float, int *)
STRATA_NV_OUT(void, sincos, double, double *, double *)
STRATA_NV_OUT(void, sincosf, float, float *, float *)
STRATA_NV_OUT(void, sincospi, double, double *, double *)
STRATA_NV_OUT(void, sincospif, float, float *, float *)
STRATA_NV_OUT(double, norm, int, const double *)
STRATA_NV_OUT(float, normf, int, const float *)
STRATA_NV_OUT(double, rnorm, int, const double *)
STRATA_NV_OUT(float, rnormf, int, const float *)

// Fast variants: a few instructions, errors as the programming guide's table of intrinsics states.
STRATA_NV(float, fast_cosf, float)
STRATA_NV(float, fast_exp10f, float)
STRATA_NV(float, fast_expf, float)
STRATA_NV(float, fast_fdividef, float, float)
STRATA_NV(float, fast_log10f, float)
STRATA_NV(float, fast_log2f, float)
STRATA_NV(float, fast_logf, float)
STRATA_NV(float, fast_powf, float, float)
STRATA_NV(float, fast_sinf, float)
STRATA_NV(float, fast_tanf, float)
STRATA_NV(float, fast_tanhf, float)
STRATA_NV_OUT(void, fast_sincosf, float, float *, float *)

// Arithmetic with the rounding in the name, never contracted: f = float, d = double.
#define STRATA_NV_ROUNDED(suffix)                \
  STRATA_NV(float, fadd_##suffix, float, float)   \
  STRATA_NV(float, fsub_##suffix, float, float)   \
  STRATA_NV(float, fmul_##suffix, float, float)   \
  STRATA_NV(float, fdiv_##suffix, float, float)   \
  STRATA_NV(float, frcp_##suffix, float)          \
  STRATA_NV(float, fsqrt_##suffix, float)         \
  STRATA_NV(float, fmaf_##suffix, float, float, float) \
  STRATA_NV(double, dadd_##suffix, double, double) \
  STRATA_NV(double, dsub_##suffix, double, double) \
  STRATA_NV(double, dmul_##suffix, double, double) \
  STRATA_NV(double, ddiv_##suffix, double, double) \
  STRATA_NV(double, drcp_##suffix, double)        \
  STRATA_NV(double, dsqrt_##suffix, double)       \
  STRATA_NV(double, fma_##suffix, double, double, double) \
  STRATA_NV(int, float2int_##suffix, float)       \
  STRATA_NV(unsigned, float2uint_##suffix, float) \
  STRATA_NV(long long, float2ll_##suffix, float)  \
  STRATA_NV(unsigned long long, float2ull_##suffix, float) \
  STRATA_NV(int, double2int_##suffix, double)     \
  STRATA_NV(unsigned, double2uint_##suffix, double) \
  STRATA_NV(long long, double2ll_##suffix, double) \
  STRATA_NV(unsigned long long, double2ull_##suffix, double) \
  STRATA_NV(float, double2float_##suffix, double) \
  STRATA_NV(float, int2float_##suffix, int)       \
  STRATA_NV(float, uint2float_##suffix, unsigned) \
  STRATA_NV(float, ll2float_##suffix, long long)  \
  STRATA_NV(float, ull2float_##suffix, unsigned long long) \
  STRATA_NV(double, ll2double_##suffix, long long) \
  STRATA_NV(double, ull2double_##suffix, unsigned long long)
STRATA_NV_ROUNDED(rn)
STRATA_NV_ROUNDED(rz)
STRATA_NV_ROUNDED(rd)
STRATA_NV_ROUNDED(ru)
#undef STRATA_NV_ROUNDED
STRATA_NV(double, int2double_rn, int)
STRATA_NV(double, uint2double_rn, unsigned)
STRATA_NV(float, frsqrt_rn, float)
STRATA_NV(float, fmaf_ieee_rn, float, float, float)
STRATA_NV(float, fmaf_ieee_rz, float, float, float)
STRATA_NV(float, fmaf_ieee_rd, float, float, float)
STRATA_NV(float, fmaf_ieee_ru, float, float, float)
STRATA_NV(float, saturatef, float)

#undef STRATA_NV1
#undef STRATA_NV2
#undef STRATA_NV3
#undef STRATA_NV4
#undef STRATA_NV
#undef STRATA_NV_OUT
