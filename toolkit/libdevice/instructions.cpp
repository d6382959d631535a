// SPDX-License-Identifier: Apache-2.0
// Functions that are one PTX instruction, or a few: arithmetic with a stated rounding, conversions, fast
// approximations. NVPTX only. __nvvm_reflect("__CUDA_FTZ") is a constant by the time a program's code is
// made: this file comes into the library as it is, not optimised.
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
  float __nv_double2float_##r(double x) { return ftz() ? __nvvm_d2f_##p##_ftz(x) : __nvvm_d2f_##p(x); }
ROUNDED(rn, rn)
ROUNDED(rz, rz)
ROUNDED(rd, rm)
ROUNDED(ru, rp)
#undef ROUNDED

// From integers: as instructions, since LLVM 19 takes the builtins that round towards zero for those that round to
// nearest.
#define ROUNDED(name, To, From, constraintTo, constraintFrom, types)                   \
  ROUNDED1(name, rn, rn, To, From, constraintTo, constraintFrom, types)                \
  ROUNDED1(name, rz, rz, To, From, constraintTo, constraintFrom, types)                \
  ROUNDED1(name, rd, rm, To, From, constraintTo, constraintFrom, types)                \
  ROUNDED1(name, ru, rp, To, From, constraintTo, constraintFrom, types)
#define ROUNDED1(name, r, p, To, From, constraintTo, constraintFrom, types)            \
  To __nv_##name##_##r(From x) {                                                       \
    To result;                                                                         \
    asm("cvt." #p "." types " %0, %1;" : constraintTo(result) : constraintFrom(x));    \
    return result;                                                                     \
  }
ROUNDED(int2float, float, int, "=f", "r", "f32.s32")
ROUNDED(uint2float, float, unsigned, "=f", "r", "f32.u32")
ROUNDED(ll2float, float, long long, "=f", "l", "f32.s64")
ROUNDED(ull2float, float, unsigned long long, "=f", "l", "f32.u64")
ROUNDED(ll2double, double, long long, "=d", "l", "f64.s64")
ROUNDED(ull2double, double, unsigned long long, "=d", "l", "f64.u64")
#undef ROUNDED1
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
// tanh.approx needs sm_75. Before, 1 - 2 / (e^2x + 1), and near zero, where that cancels, the first terms of the
// series.
float __nv_fast_tanhf(float x) {
  if (__nvvm_reflect("__CUDA_ARCH") >= 750) {
    float result;
    asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
  }
  if (__builtin_fabsf(x) < 0.25f) return x - x * x * x * (0x1.555556p-2f - x * x * 0x1.111112p-3f);
  float e = FTZ1(__nvvm_ex2_approx, x * 0x1.715476p+1f);
  return 1.0f - __nv_fast_fdividef(2.0f, e + 1.0f);
}

// What other compilers (Triton, Numba) look for in a library of this name.
int __nv_abs(int x) { return __builtin_abs(x); }
long long __nv_llabs(long long x) { return __builtin_llabs(x); }
int __nv_min(int x, int y) { return x < y ? x : y; }
int __nv_max(int x, int y) { return x > y ? x : y; }
unsigned __nv_umin(unsigned x, unsigned y) { return x < y ? x : y; }
unsigned __nv_umax(unsigned x, unsigned y) { return x > y ? x : y; }
long long __nv_llmin(long long x, long long y) { return x < y ? x : y; }
long long __nv_llmax(long long x, long long y) { return x > y ? x : y; }
unsigned long long __nv_ullmin(unsigned long long x, unsigned long long y) { return x < y ? x : y; }
unsigned long long __nv_ullmax(unsigned long long x, unsigned long long y) { return x > y ? x : y; }
int __nv_clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
int __nv_clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
int __nv_popc(int x) { return __builtin_popcount(static_cast<unsigned>(x)); }
int __nv_popcll(long long x) { return __builtin_popcountll(static_cast<unsigned long long>(x)); }
int __nv_ffs(int x) { return __builtin_ffs(x); }
int __nv_ffsll(long long x) { return __builtin_ffsll(x); }
int __nv_brev(int x) { return static_cast<int>(__builtin_bitreverse32(static_cast<unsigned>(x))); }
long long __nv_brevll(long long x) {
  return static_cast<long long>(__builtin_bitreverse64(static_cast<unsigned long long>(x)));
}
int __nv_mulhi(int x, int y) { return __nvvm_mulhi_i(x, y); }
unsigned __nv_umulhi(unsigned x, unsigned y) { return __nvvm_mulhi_ui(x, y); }
long long __nv_mul64hi(long long x, long long y) { return __nvvm_mulhi_ll(x, y); }
unsigned long long __nv_umul64hi(unsigned long long x, unsigned long long y) { return __nvvm_mulhi_ull(x, y); }
int __nv_mul24(int x, int y) { return __nvvm_mul24_i(x, y); }
unsigned __nv_umul24(unsigned x, unsigned y) { return __nvvm_mul24_ui(x, y); }
int __nv_sad(int x, int y, int z) { return __nvvm_sad_i(x, y, z); }
unsigned __nv_usad(unsigned x, unsigned y, unsigned z) { return __nvvm_sad_ui(x, y, z); }
int __nv_hadd(int x, int y) { return (x & y) + ((x ^ y) >> 1); }
int __nv_rhadd(int x, int y) { return (x | y) - ((x ^ y) >> 1); }
unsigned __nv_uhadd(unsigned x, unsigned y) { return (x & y) + ((x ^ y) >> 1); }
unsigned __nv_urhadd(unsigned x, unsigned y) { return (x | y) - ((x ^ y) >> 1); }
int __nv_byte_perm(int x, int y, int selector) { return __nvvm_prmt(x, y, selector & 0x7777); }
int __nv_isnanf(float x) { return __builtin_isnan(x); }
int __nv_isnand(double x) { return __builtin_isnan(x); }
int __nv_isinff(float x) { return __builtin_isinf(x); }
int __nv_isinfd(double x) { return __builtin_isinf(x); }
int __nv_finitef(float x) { return __builtin_isfinite(x); }
int __nv_isfinited(double x) { return __builtin_isfinite(x); }
int __nv_signbitf(float x) { return bits(x) >> 31; }
int __nv_signbitd(double x) { return bits(x) >> 63; }
int __nv_float_as_int(float x) { return __builtin_bit_cast(int, x); }
float __nv_int_as_float(int x) { return __builtin_bit_cast(float, x); }
unsigned __nv_float_as_uint(float x) { return bits(x); }
float __nv_uint_as_float(unsigned x) { return fromBits(x); }
long long __nv_double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
double __nv_longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
int __nv_double2hiint(double x) { return static_cast<int>(bits(x) >> 32); }
int __nv_double2loint(double x) { return static_cast<int>(bits(x)); }
double __nv_hiloint2double(int high, int low) {
  return fromBits((static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32) | static_cast<uint32_t>(low));
}

}  // extern "C"
