/* SPDX-License-Identifier: Apache-2.0 */
/* __nv_bfloat16 and __nv_bfloat162 (float's upper 16 bits). */
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__
#pragma GCC system_header

#include "cuda_fp16.h"

#if defined(__CUDA__)
struct __nv_bfloat16;

namespace __strata {
// bfloat16 on the device: a + b and a * b are fma(a, 1, b) and fma(a, b, -0), the forms sm_80 has; below, float
// arithmetic with integer rounding.
template <>
struct Native<__nv_bfloat16> {
  static __device__ float toFloat(unsigned short a) {
    return __builtin_bit_cast(float, static_cast<unsigned>(a) << 16);
  }
  static __device__ unsigned short fromFloat(float a) {
#if STRATA_DEVICE_ARCH >= 800
    unsigned short result;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(a));
    return result;
#else
    unsigned bits = __builtin_bit_cast(unsigned, a);
    return a != a ? 0x7fff : static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
  }
  static __device__ unsigned short fma(unsigned short a, unsigned short b, unsigned short c) {
#if STRATA_DEVICE_ARCH >= 800
    unsigned short result;
    asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(result) : "h"(a), "h"(b), "h"(c));
    return result;
#else
    double product = static_cast<double>(toFloat(a)) * static_cast<double>(toFloat(b));
    return toSmallFloat<8, 7>(oddSum(product, toFloat(c)), roundNearest, 0x7fff);
#endif
  }
  static __device__ unsigned fma2(unsigned a, unsigned b, unsigned c) {
#if STRATA_DEVICE_ARCH >= 800
    unsigned result;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    return result;
#else
    return fma(static_cast<unsigned short>(a), static_cast<unsigned short>(b), static_cast<unsigned short>(c)) |
           static_cast<unsigned>(fma(static_cast<unsigned short>(a >> 16), static_cast<unsigned short>(b >> 16),
                                     static_cast<unsigned short>(c >> 16)))
               << 16;
#endif
  }
  static __device__ unsigned short add(unsigned short a, unsigned short b) { return fma(a, 0x3f80, b); }
  static __device__ unsigned short subtract(unsigned short a, unsigned short b) { return fma(b, 0xbf80, a); }
  static __device__ unsigned short multiply(unsigned short a, unsigned short b) { return fma(a, b, 0x8000); }
  static __device__ unsigned add2(unsigned a, unsigned b) { return fma2(a, 0x3f803f80u, b); }
  static __device__ unsigned subtract2(unsigned a, unsigned b) { return fma2(b, 0xbf80bf80u, a); }
  static __device__ unsigned multiply2(unsigned a, unsigned b) { return fma2(a, b, 0x80008000u); }
  // The instruction needs sm_90; before, compare and swap of the word.
  static __device__ unsigned atomicAdd2(unsigned *address, unsigned value) {
#if STRATA_DEVICE_ARCH >= 900
    unsigned old;
    asm volatile("atom.add.noftz.bf16x2 %0, [%1], %2;" : "=r"(old) : "l"(address), "r"(value) : "memory");
    return old;
#else
    unsigned seen = *reinterpret_cast<volatile unsigned *>(address), old;
    do {
      old = seen;
      seen = ::atomicCAS(address, old, add2(old, value));
    } while (seen != old);
    return old;
#endif
  }
#if STRATA_DEVICE_ARCH >= 700
  static __device__ unsigned short atomicAdd(unsigned short *address, unsigned short value) {
#if STRATA_DEVICE_ARCH >= 900
    unsigned short old;
    asm volatile("atom.add.noftz.bf16 %0, [%1], %2;" : "=h"(old) : "l"(address), "h"(value) : "memory");
    return old;
#else
    unsigned short seen = *reinterpret_cast<volatile unsigned short *>(address), old;
    do {
      old = seen;
      seen = ::atomicCAS(address, old, add(old, value));
    } while (seen != old);
    return old;
#endif
  }
#endif
};
}  // namespace __strata
#endif

#define STRATA_H bfloat16
#define STRATA_H2 bfloat162
#define STRATA_TYPE __nv_bfloat16
#define STRATA_TYPE2 __nv_bfloat162
#define STRATA_EXPONENT 8
#define STRATA_MANTISSA 7
#ifdef __CUDA_NO_BFLOAT16_CONVERSIONS__
#define STRATA_NO_CONVERSIONS 1
#else
#define STRATA_NO_CONVERSIONS 0
#endif
#if defined(__CUDA_NO_BFLOAT16_OPERATORS__) || defined(__CUDA_NO_BFLOAT162_OPERATORS__)
#define STRATA_NO_OPERATORS 1
#else
#define STRATA_NO_OPERATORS 0
#endif
#include "strata/half.inc"

#if defined(__cplusplus) && !defined(CUDA_NO_BFLOAT16)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#endif

#define CUDART_INF_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x7f80u))
#define CUDART_NAN_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x7fffu))
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x0001u))
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x7f7fu))
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x8000u))
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x0000u))
#define CUDART_ONE_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x3f80u))

#endif
