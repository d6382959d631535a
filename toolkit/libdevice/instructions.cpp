// SPDX-License-Identifier: Apache-2.0
// Functions that are one PTX instruction, or a few: arithmetic with a stated rounding, conversions, fast
// approximations. NVPTX only. __nvvm_reflect("__CUDA_FTZ") is a constant by the time code is made.
#include "core.h"

static inline bool ftz() { return __nvvm_reflect("__CUDA_FTZ") != 0; }

#define FTZ1(builtin, x) (ftz() ? builtin##_ftz_f(x) : builtin##_f(x))
#define FTZ2(builtin, x, y) (ftz() ? builtin##_ftz_f(x, y) : builtin##_f(x, y))
#define FTZ3(builtin, x, y, z) (ftz() ? builtin##_ftz_f(x, y, z) : builtin##_f(x, y, z))

extern "C" {

// rounding(CUDA's suffix, PTX's letters)
#define ROUNDED(r, p)                                                                                        \
  float __nv_fadd_##r(float x, float y) { return FTZ2(__nvvm_add_##p, x, y); }                               \
  float __nv_fsub_##r(float x, float y) { return FTZ2(__nvvm_add_##p, x, -y); }                              \
  float __nv_fmul_##r(float x, float y) { return FTZ2(__nvvm_mul_##p, x, y); }                               \
  float __nv_fdiv_##r(float x, float y) { return FTZ2(__nvvm_div_##p, x, y); }                               \
  float __nv_frcp_##r(float x) { return FTZ1(__nvvm_rcp_##p, x); }                                           \
  float __nv_fsqrt_##r(float x) { return FTZ1(__nvvm_sqrt_##p, x); }                                         \
  float __nv_fmaf_##r(float x, float y, float z) { return FTZ3(__nvvm_fma_##p, x, y, z); }                   \
  float __nv_fmaf_ieee_##r(float x, float y, float z) { return __nvvm_fma_##p##_f(x, y, z); }                \
  double __nv_dadd_##r(double x, double y) { return __nvvm_add_##p##_d(x, y); }                              \
  double __nv_dsub_##r(double x, double y) { return __nvvm_add_##p##_d(x, -y); }                             \
  double __nv_dmul_##r(double x, double y) { return __nvvm_mul_##p##_d(x, y); }                              \
  double __nv_ddiv_##r(double x, double y) { return __nvvm_div_##p##_d(x, y); }                              \
  double __nv_drcp_##r(double x) { return __nvvm_rcp_##p##_d(x); }                                           \
  double __nv_dsqrt_##r(double x) { return __nvvm_sqrt_##p##_d(x); }                                         \
  double __nv_fma_##r(double x, double y, double z) { return __nvvm_fma_##p##_d(x, y, z); }                  \
  int __nv_float2int_##r(float x) { return ftz() ? __nvvm_f2i_##p##_ftz(x) : __nvvm_f2i_##p(x); }            \
  unsigned __nv_float2uint_##r(float x) { return ftz() ? __nvvm_f2ui_##p##_ftz(x) : __nvvm_f2ui_##p(x); }    \
  long long __nv_float2ll_##r(float x) { return ftz() ? __nvvm_f2ll_##p##_ftz(x) : __nvvm_f2ll_##p(x); }     \
  unsigned long long __nv_float2ull_##r(float x) {                                                           \
    return ftz() ? __nvvm_f2ull_##p##_ftz(x) : __nvvm_f2ull_##p(x);                                          \
  }                                                                                                          \
  int __nv_double2int_##r(double x) { return __nvvm_d2i_##p(x); }                                            \
  unsigned __nv_double2uint_##r(double x) { return __nvvm_d2ui_##p(x); }                                     \
  long long __nv_double2ll_##r(double x) { return __nvvm_d2ll_##p(x); }                                      \
  unsigned long long __nv_double2ull_##r(double x) { return __nvvm_d2ull_##p(x); }                           \
  float __nv_double2float_##r(double x) { return ftz() ? __nvvm_d2f_##p##_ftz(x) : __nvvm_d2f_##p(x); }      \
  float __nv_int2float_##r(int x) { return __nvvm_i2f_##p(x); }                                              \
  float __nv_uint2float_##r(unsigned x) { return __nvvm_ui2f_##p(x); }                                       \
  float __nv_ll2float_##r(long long x) { return __nvvm_ll2f_##p(x); }                                        \
  float __nv_ull2float_##r(unsigned long long x) { return __nvvm_ull2f_##p(x); }                             \
  double __nv_ll2double_##r(long long x) { return __nvvm_ll2d_##p(x); }                                      \
  double __nv_ull2double_##r(unsigned long long x) { return __nvvm_ull2d_##p(x); }
ROUNDED(rn, rn)
ROUNDED(rz, rz)
ROUNDED(rd, rm)
ROUNDED(ru, rp)
#undef ROUNDED

double __nv_int2double_rn(int x) { return x; }
double __nv_uint2double_rn(unsigned x) { return x; }
float __nv_saturatef(float x) { return FTZ1(__nvvm_saturate, x); }

float __nv_rsqrtf(float x) { return FTZ1(__nvvm_rsqrt_approx, x); }

float __nv_fast_cosf(float x) { return FTZ1(__nvvm_cos_approx, x); }
float __nv_fast_sinf(float x) { return FTZ1(__nvvm_sin_approx, x); }
float __nv_fast_log2f(float x) { return FTZ1(__nvvm_lg2_approx, x); }
float __nv_fast_logf(float x) { return FTZ1(__nvvm_lg2_approx, x) * 0x1.62e430p-1f; }
float __nv_fast_log10f(float x) { return FTZ1(__nvvm_lg2_approx, x) * 0x1.344136p-2f; }
float __nv_fast_expf(float x) { return FTZ1(__nvvm_ex2_approx, x * 0x1.715476p+0f); }
float __nv_fast_exp10f(float x) { return FTZ1(__nvvm_ex2_approx, x * 0x1.a934f0p+1f); }
float __nv_fast_powf(float x, float y) { return FTZ1(__nvvm_ex2_approx, y * FTZ1(__nvvm_lg2_approx, x)); }
float __nv_fast_fdividef(float x, float y) { return FTZ2(__nvvm_div_approx, x, y); }
float __nv_fast_tanf(float x) { return __nv_fast_fdividef(__nv_fast_sinf(x), __nv_fast_cosf(x)); }
void __nv_fast_sincosf(float x, float *sine, float *cosine) {
  *sine = __nv_fast_sinf(x);
  *cosine = __nv_fast_cosf(x);
}
// tanh.approx needs sm_75; this form runs everywhere: 1 - 2 / (e^2x + 1)
float __nv_fast_tanhf(float x) {
  float e = FTZ1(__nvvm_ex2_approx, x * 0x1.715476p+1f);
  return 1.0f - __nv_fast_fdividef(2.0f, e + 1.0f);
}

}  // extern "C"
