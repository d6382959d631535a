/* SPDX-License-Identifier: Apache-2.0 */
/* 8-bit floating point: e4m3 (no infinities), e5m2, and e8m0 (powers of two, for scales). Values are stored; to
   compute they are converted. */
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__
#pragma GCC system_header

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "device_types.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

#if defined(__cplusplus)
namespace __strata {

// Beyond the largest number: that number if saturating, else NaN (e4m3) or infinity (e5m2).
STRATA_HOST_DEVICE __nv_fp8_storage_t toFp8(double value, __nv_saturation_t saturation,
                                            __nv_fp8_interpretation_t format) {
  if (isNan(value)) return 0x7f;
  bool negative = __builtin_bit_cast(unsigned long long, value) >> 63;
  unsigned sign = negative ? 0x80u : 0u, largest = format == __NV_E4M3 ? 0x7eu : 0x7bu;
  unsigned beyond = format == __NV_E4M3 ? 0x7fu : 0x7cu;
  // far beyond either format; the code below would not fit a word
  bool huge = (__builtin_bit_cast(unsigned long long, value) << 1 >> 53) >= 1023u + 32u;
  unsigned code = huge                  ? 0xffu
                  : format == __NV_E4M3 ? roundMagnitude<4, 3>(value, roundNearest, negative)
                                        : roundMagnitude<5, 2>(value, roundNearest, negative);
  if (code > largest) code = saturation == __NV_SATFINITE ? largest : beyond;
  return static_cast<__nv_fp8_storage_t>(sign | code);
}
STRATA_HOST_DEVICE float fromFp8(__nv_fp8_storage_t code, __nv_fp8_interpretation_t format) {
  if (format == __NV_E5M2) return fromSmallFloat<5, 2>(code);
  if ((code & 0x7f) == 0x7f) return __builtin_nanf("");
  // Codes 0x78 … 0x7e are numbers in e4m3: the format's last exponent is no infinity.
  unsigned sign = static_cast<unsigned>(code & 0x80) << 24, magnitude = code & 0x7fu;
  if (magnitude < 8) {
    float value = static_cast<float>(magnitude) * 0.001953125f;  // the least unit, 2^-9
    return sign ? -value : value;
  }
  return __builtin_bit_cast(float, sign | ((magnitude << 20) + (120u << 23)));
}

// Two floats in one word, the first in the low byte.
STRATA_HOST_DEVICE __nv_fp8x2_storage_t toFp8x2(float low, float high, __nv_saturation_t saturation,
                                                __nv_fp8_interpretation_t format) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  if (saturation == __NV_SATFINITE) {
    unsigned short both;
    if (format == __NV_E4M3) asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(high), "f"(low));
    else asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(both) : "f"(high), "f"(low));
    return both;
  }
#endif
  return static_cast<__nv_fp8x2_storage_t>(toFp8(low, saturation, format) | toFp8(high, saturation, format) << 8);
}
STRATA_HOST_DEVICE __half2_raw fromFp8x2(__nv_fp8x2_storage_t both, __nv_fp8_interpretation_t format) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  unsigned halves;
  if (format == __NV_E4M3) asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(both));
  else asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(both));
  return __builtin_bit_cast(__half2_raw, halves);
#else
  __half2_raw halves;
  halves.x = __float2half(fromFp8(static_cast<unsigned char>(both), format)).__x;
  halves.y = __float2half(fromFp8(static_cast<unsigned char>(both >> 8), format)).__x;
  return halves;
#endif
}
}  // namespace __strata

// ---- Conversion functions ----------------------------------------------------------------------------
STRATA_HOST_DEVICE __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                             __nv_fp8_interpretation_t format) {
  return __strata::toFp8(x, saturate, format);
}
STRATA_HOST_DEVICE __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 x, __nv_saturation_t saturate,
                                                                  __nv_fp8_interpretation_t format) {
  return static_cast<__nv_fp8x2_storage_t>(__strata::toFp8(x.x, saturate, format) |
                                           __strata::toFp8(x.y, saturate, format) << 8);
}
STRATA_HOST_DEVICE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                            __nv_fp8_interpretation_t format) {
  return static_cast<__nv_fp8_storage_t>(__strata::toFp8x2(x, 0.0f, saturate, format));
}
STRATA_HOST_DEVICE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturate,
                                                                 __nv_fp8_interpretation_t format) {
  return __strata::toFp8x2(x.x, x.y, saturate, format);
}
STRATA_HOST_DEVICE __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                              __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(__half2float(__half(x)), saturate, format);
}
STRATA_HOST_DEVICE __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw x, __nv_saturation_t saturate,
                                                                   __nv_fp8_interpretation_t format) {
  return __nv_cvt_float2_to_fp8x2(__half22float2(__half2(x)), saturate, format);
}
STRATA_HOST_DEVICE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                                                                  __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(__bfloat162float(__nv_bfloat16(x)), saturate, format);
}
STRATA_HOST_DEVICE __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw x, __nv_saturation_t saturate,
                                                                       __nv_fp8_interpretation_t format) {
  return __nv_cvt_float2_to_fp8x2(__bfloat1622float2(__nv_bfloat162(x)), saturate, format);
}
STRATA_HOST_DEVICE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t format) {
  __half_raw half = {__strata::fromFp8x2(x, format).x};
  return half;
}
STRATA_HOST_DEVICE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t format) {
  return __strata::fromFp8x2(x, format);
}

// ---- Types: one, two and four values -------------------------------------------------------------------
#define STRATA_FP8(suffix, format)                                                                                \
  struct __nv_fp8_##suffix {                                                                                      \
    __nv_fp8_storage_t __x;                                                                                       \
    __nv_fp8_##suffix() = default;                                                                                \
    STRATA_INLINE explicit __nv_fp8_##suffix(float f) : __x(__nv_cvt_float_to_fp8(f, __NV_SATFINITE, format)) {}  \
    STRATA_INLINE explicit __nv_fp8_##suffix(double f) : __x(__nv_cvt_double_to_fp8(f, __NV_SATFINITE, format)) {} \
    STRATA_INLINE explicit __nv_fp8_##suffix(__half f) : __nv_fp8_##suffix(__half2float(f)) {}                    \
    STRATA_INLINE explicit __nv_fp8_##suffix(__nv_bfloat16 f) : __nv_fp8_##suffix(__bfloat162float(f)) {}         \
    STRATA_INLINE explicit __nv_fp8_##suffix(short i) : __nv_fp8_##suffix(static_cast<double>(i)) {}              \
    STRATA_INLINE explicit __nv_fp8_##suffix(unsigned short i) : __nv_fp8_##suffix(static_cast<double>(i)) {}     \
    STRATA_INLINE explicit __nv_fp8_##suffix(int i) : __nv_fp8_##suffix(static_cast<double>(i)) {}                \
    STRATA_INLINE explicit __nv_fp8_##suffix(unsigned i) : __nv_fp8_##suffix(static_cast<double>(i)) {}           \
    STRATA_INLINE explicit __nv_fp8_##suffix(long i) : __nv_fp8_##suffix(static_cast<double>(i)) {}               \
    STRATA_INLINE explicit __nv_fp8_##suffix(unsigned long i) : __nv_fp8_##suffix(static_cast<double>(i)) {}      \
    STRATA_INLINE explicit __nv_fp8_##suffix(long long i) : __nv_fp8_##suffix(static_cast<double>(i)) {}          \
    STRATA_INLINE explicit __nv_fp8_##suffix(unsigned long long i) : __nv_fp8_##suffix(static_cast<double>(i)) {} \
    STRATA_INLINE float strataValue() const { return __half2float(__half(__nv_cvt_fp8_to_halfraw(__x, format))); } \
    STRATA_INLINE explicit operator __half() const { return __half(__nv_cvt_fp8_to_halfraw(__x, format)); }       \
    STRATA_INLINE explicit operator __nv_bfloat16() const { return __float2bfloat16(strataValue()); }             \
    STRATA_INLINE explicit operator float() const { return strataValue(); }                                      \
    STRATA_INLINE explicit operator double() const { return strataValue(); }                                     \
    STRATA_INLINE explicit operator bool() const { return (__x & 0x7f) != 0; }                                   \
    template <typename Integer, int = sizeof(Integer(0) % Integer(1))>                                           \
    STRATA_INLINE explicit operator Integer() const {                                                            \
      return __strata::saturateToInteger<Integer>(__builtin_truncf(strataValue()));                              \
    }                                                                                                            \
  };                                                                                                             \
  struct alignas(2) __nv_fp8x2_##suffix {                                                                         \
    __nv_fp8x2_storage_t __x;                                                                                     \
    __nv_fp8x2_##suffix() = default;                                                                              \
    STRATA_INLINE explicit __nv_fp8x2_##suffix(float2 f) : __x(__nv_cvt_float2_to_fp8x2(f, __NV_SATFINITE, format)) {} \
    STRATA_INLINE explicit __nv_fp8x2_##suffix(double2 f) : __x(__nv_cvt_double2_to_fp8x2(f, __NV_SATFINITE, format)) {} \
    STRATA_INLINE explicit __nv_fp8x2_##suffix(__half2 f) : __nv_fp8x2_##suffix(__half22float2(f)) {}             \
    STRATA_INLINE explicit __nv_fp8x2_##suffix(__nv_bfloat162 f) : __nv_fp8x2_##suffix(__bfloat1622float2(f)) {}  \
    STRATA_INLINE explicit operator __half2() const { return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, format)); }  \
    STRATA_INLINE explicit operator float2() const { return __half22float2(static_cast<__half2>(*this)); }        \
  };                                                                                                             \
  struct alignas(4) __nv_fp8x4_##suffix {                                                                         \
    __nv_fp8x4_storage_t __x;                                                                                     \
    __nv_fp8x4_##suffix() = default;                                                                              \
    STRATA_INLINE explicit __nv_fp8x4_##suffix(float4 f)                                                          \
        : __x(__strata::toFp8x2(f.x, f.y, __NV_SATFINITE, format) |                                               \
              static_cast<unsigned>(__strata::toFp8x2(f.z, f.w, __NV_SATFINITE, format)) << 16) {}                \
    STRATA_INLINE explicit __nv_fp8x4_##suffix(double4 f)                                                         \
        : __x(__nv_cvt_double2_to_fp8x2(double2{f.x, f.y}, __NV_SATFINITE, format) |                              \
              static_cast<unsigned>(__nv_cvt_double2_to_fp8x2(double2{f.z, f.w}, __NV_SATFINITE, format)) << 16) {} \
    STRATA_INLINE explicit __nv_fp8x4_##suffix(double4_16a f) : __nv_fp8x4_##suffix(double4{f.x, f.y, f.z, f.w}) {}    \
    STRATA_INLINE explicit __nv_fp8x4_##suffix(double4_32a f) : __nv_fp8x4_##suffix(double4{f.x, f.y, f.z, f.w}) {}    \
    STRATA_INLINE __nv_fp8x4_##suffix(__half2 low, __half2 high)                                                  \
        : __x(__nv_cvt_halfraw2_to_fp8x2(low, __NV_SATFINITE, format) |                                           \
              static_cast<unsigned>(__nv_cvt_halfraw2_to_fp8x2(high, __NV_SATFINITE, format)) << 16) {}           \
    STRATA_INLINE __nv_fp8x4_##suffix(__nv_bfloat162 low, __nv_bfloat162 high)                                    \
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(low, __NV_SATFINITE, format) |                                       \
              static_cast<unsigned>(__nv_cvt_bfloat16raw2_to_fp8x2(high, __NV_SATFINITE, format)) << 16) {}       \
    STRATA_INLINE explicit operator float4() const {                                                              \
      float2 low = __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2(static_cast<unsigned short>(__x), format))); \
      float2 high = __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2(static_cast<unsigned short>(__x >> 16), format))); \
      return float4{low.x, low.y, high.x, high.y};                                                                \
    }                                                                                                             \
  };
STRATA_FP8(e4m3, __NV_E4M3)
STRATA_FP8(e5m2, __NV_E5M2)
#undef STRATA_FP8

// ---- e8m0: 2^(code - 127), 0xff is NaN -----------------------------------------------------------------
// Rounding is towards zero or towards +infinity; zero and what lies below 2^-127 become 2^-127.
STRATA_HOST_DEVICE __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float x, __nv_saturation_t saturate,
                                                             cudaRoundMode rounding) {
  unsigned bits = __builtin_bit_cast(unsigned, x) & 0x7fffffffu;
  if (bits > 0x7f800000u) return 0xff;
  if (bits == 0x7f800000u) return saturate == __NV_SATFINITE ? 0xfe : 0xff;
  unsigned exponent = bits >> 23, rest = bits & 0x7fffffu;
  // A subnormal lies in [2^-149, 2^-126): its neighbours are 2^-127 (code 0) and 2^-126 (code 1).
  bool up = rounding == cudaRoundPosInf && (exponent == 0 ? rest > 0x400000u : rest != 0);
  unsigned code = exponent + up;
  return code > 0xfe ? (saturate == __NV_SATFINITE ? 0xfe : 0xff) : static_cast<__nv_fp8_storage_t>(code);
}
STRATA_HOST_DEVICE __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double x, __nv_saturation_t saturate,
                                                              cudaRoundMode rounding) {
  const unsigned long long bits = __builtin_bit_cast(unsigned long long, x) & 0x7fffffffffffffffull;
  if (bits > 0x7ff0000000000000ull) return 0xff;
  const int exponent = static_cast<int>(bits >> 52) - 1023;
  const bool up = rounding == cudaRoundPosInf && (bits & 0xfffffffffffffull) != 0;
  const int code = exponent < -127 ? 0 : exponent + 127 + up;
  const bool staysFinite = saturate == __NV_SATFINITE || (rounding == cudaRoundZero && bits != 0x7ff0000000000000ull);
  return code > 0xfe ? (staysFinite ? 0xfe : 0xff) : static_cast<__nv_fp8_storage_t>(code);
}
STRATA_HOST_DEVICE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                                                                   cudaRoundMode rounding) {
  return __nv_cvt_float_to_e8m0(__bfloat162float(__nv_bfloat16(x)), saturate, rounding);
}
STRATA_HOST_DEVICE __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
  __nv_bfloat16_raw raw = {static_cast<unsigned short>(x == 0xff ? 0x7fff : x == 0 ? 0x0040 : x << 7)};
  return raw;
}
// Two in one word, the first in the low byte.
STRATA_HOST_DEVICE __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(float2 x, __nv_saturation_t saturate,
                                                                  cudaRoundMode rounding) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_float_to_e8m0(x.x, saturate, rounding) |
                                           __nv_cvt_float_to_e8m0(x.y, saturate, rounding) << 8);
}
STRATA_HOST_DEVICE __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(double2 x, __nv_saturation_t saturate,
                                                                   cudaRoundMode rounding) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_double_to_e8m0(x.x, saturate, rounding) |
                                           __nv_cvt_double_to_e8m0(x.y, saturate, rounding) << 8);
}
STRATA_HOST_DEVICE __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(__nv_bfloat162_raw x,
                                                                        __nv_saturation_t saturate,
                                                                        cudaRoundMode rounding) {
  return __nv_cvt_float2_to_e8m0x2(__bfloat1622float2(__nv_bfloat162(x)), saturate, rounding);
}
STRATA_HOST_DEVICE __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t x) {
  __nv_bfloat162_raw raw;
  raw.x = __nv_cvt_e8m0_to_bf16raw(static_cast<unsigned char>(x)).x;
  raw.y = __nv_cvt_e8m0_to_bf16raw(static_cast<unsigned char>(x >> 8)).x;
  return raw;
}

namespace __strata {
// Of an integer's size: a scale has no sign.
STRATA_HOST_DEVICE double magnitudeOf(long long i) {
  return oddFromInteger(i < 0 ? 0ull - static_cast<unsigned long long>(i) : static_cast<unsigned long long>(i));
}
}  // namespace __strata

struct __nv_fp8_e8m0 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e8m0() = default;
  STRATA_INLINE explicit __nv_fp8_e8m0(float f) : __x(__nv_cvt_float_to_e8m0(f, __NV_SATFINITE, cudaRoundPosInf)) {}
  STRATA_INLINE explicit __nv_fp8_e8m0(double f) : __x(__nv_cvt_double_to_e8m0(f, __NV_SATFINITE, cudaRoundPosInf)) {}
  STRATA_INLINE explicit __nv_fp8_e8m0(__half f) : __nv_fp8_e8m0(__half2float(f)) {}
  STRATA_INLINE explicit __nv_fp8_e8m0(__nv_bfloat16 f) : __nv_fp8_e8m0(__bfloat162float(f)) {}
  STRATA_INLINE explicit __nv_fp8_e8m0(short i) : __nv_fp8_e8m0(static_cast<double>(i)) {}
  STRATA_INLINE explicit __nv_fp8_e8m0(unsigned short i) : __nv_fp8_e8m0(static_cast<double>(i)) {}
  STRATA_INLINE explicit __nv_fp8_e8m0(int i) : __nv_fp8_e8m0(static_cast<double>(i)) {}
  STRATA_INLINE explicit __nv_fp8_e8m0(unsigned i) : __nv_fp8_e8m0(static_cast<double>(i)) {}
  STRATA_INLINE explicit __nv_fp8_e8m0(long i) : __nv_fp8_e8m0(__strata::magnitudeOf(i)) {}
  STRATA_INLINE explicit __nv_fp8_e8m0(unsigned long i) : __nv_fp8_e8m0(__strata::oddFromInteger(i)) {}
  STRATA_INLINE explicit __nv_fp8_e8m0(long long i) : __nv_fp8_e8m0(__strata::magnitudeOf(i)) {}
  STRATA_INLINE explicit __nv_fp8_e8m0(unsigned long long i) : __nv_fp8_e8m0(__strata::oddFromInteger(i)) {}
  STRATA_INLINE explicit operator __nv_bfloat16() const { return __nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(__x)); }
  STRATA_INLINE explicit operator float() const { return __bfloat162float(static_cast<__nv_bfloat16>(*this)); }
  STRATA_INLINE explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
  STRATA_INLINE explicit operator __half() const { return __float2half(static_cast<float>(*this)); }
  STRATA_INLINE explicit operator bool() const { return true; }  // there is no zero
  template <typename Integer, int = sizeof(Integer(0) % Integer(1))>
  STRATA_INLINE explicit operator Integer() const {
    return __strata::saturateToInteger<Integer>(__builtin_truncf(static_cast<float>(*this)));
  }
};
struct alignas(2) __nv_fp8x2_e8m0 {
  __nv_fp8x2_storage_t __x;
  __nv_fp8x2_e8m0() = default;
  STRATA_INLINE explicit __nv_fp8x2_e8m0(float2 f)
      : __x(__nv_cvt_float2_to_e8m0x2(f, __NV_SATFINITE, cudaRoundPosInf)) {}
  STRATA_INLINE explicit __nv_fp8x2_e8m0(double2 f)
      : __x(__nv_cvt_double2_to_e8m0x2(f, __NV_SATFINITE, cudaRoundPosInf)) {}
  STRATA_INLINE explicit __nv_fp8x2_e8m0(__half2 f) : __nv_fp8x2_e8m0(__half22float2(f)) {}
  STRATA_INLINE explicit __nv_fp8x2_e8m0(__nv_bfloat162 f) : __nv_fp8x2_e8m0(__bfloat1622float2(f)) {}
  STRATA_INLINE explicit operator __nv_bfloat162() const { return __nv_bfloat162(__nv_cvt_e8m0x2_to_bf162raw(__x)); }
};
struct alignas(4) __nv_fp8x4_e8m0 {
  __nv_fp8x4_storage_t __x;
  __nv_fp8x4_e8m0() = default;
  STRATA_INLINE explicit __nv_fp8x4_e8m0(__half2 low, __half2 high)
      : __x(join(__nv_fp8x2_e8m0(low), __nv_fp8x2_e8m0(high))) {}
  STRATA_INLINE explicit __nv_fp8x4_e8m0(__nv_bfloat162 low, __nv_bfloat162 high)
      : __x(join(__nv_fp8x2_e8m0(low), __nv_fp8x2_e8m0(high))) {}
  STRATA_INLINE explicit __nv_fp8x4_e8m0(float4 f)
      : __x(join(__nv_fp8x2_e8m0(float2{f.x, f.y}), __nv_fp8x2_e8m0(float2{f.z, f.w}))) {}
  STRATA_INLINE explicit __nv_fp8x4_e8m0(double4 f)
      : __x(join(__nv_fp8x2_e8m0(double2{f.x, f.y}), __nv_fp8x2_e8m0(double2{f.z, f.w}))) {}
  STRATA_INLINE explicit __nv_fp8x4_e8m0(double4_16a f) : __nv_fp8x4_e8m0(double4{f.x, f.y, f.z, f.w}) {}
  STRATA_INLINE explicit __nv_fp8x4_e8m0(double4_32a f) : __nv_fp8x4_e8m0(double4{f.x, f.y, f.z, f.w}) {}

private:
  static STRATA_INLINE __nv_fp8x4_storage_t join(__nv_fp8x2_e8m0 low, __nv_fp8x2_e8m0 high) {
    return low.__x | static_cast<unsigned>(high.__x) << 16;
  }
};
#endif  // __cplusplus

#endif
