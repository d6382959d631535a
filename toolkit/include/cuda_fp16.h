/* SPDX-License-Identifier: Apache-2.0 */
/* __half and __half2 (IEEE binary16). */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__
#pragma GCC system_header

#if defined(__CUDA__)
#include "cuda_runtime.h"
#endif
#include "vector_functions.h"

#if defined(__cplusplus)
#include <cstring>  // as CUDA's own header does, which programs have come to count on
#include <utility>

#include "strata/small_float.h"
#endif

#if defined(__CUDA__)
struct __half;

namespace __strata {
template <typename Type>
struct Native;

// binary16 on the device: clang's _Float16, which LLVM computes in float where the target has no f16.
template <>
struct Native<__half> {
  typedef _Float16 Vector __attribute__((ext_vector_type(2)));
  static __device__ float toFloat(unsigned short a) { return static_cast<float>(__builtin_bit_cast(_Float16, a)); }
  static __device__ unsigned short fromFloat(float a) {
    return __builtin_bit_cast(unsigned short, static_cast<_Float16>(a));
  }
#define STRATA_NATIVE(name, operation)                                                                      \
  static __device__ unsigned short name(unsigned short a, unsigned short b) {                               \
    return __builtin_bit_cast(unsigned short, static_cast<_Float16>(__builtin_bit_cast(_Float16, a)         \
                                                                        operation __builtin_bit_cast(_Float16, b))); \
  }                                                                                                         \
  static __device__ unsigned name##2(unsigned a, unsigned b) {                                              \
    return __builtin_bit_cast(unsigned, __builtin_bit_cast(Vector, a) operation __builtin_bit_cast(Vector, b)); \
  }
  STRATA_NATIVE(add, +)
  STRATA_NATIVE(subtract, -)
  STRATA_NATIVE(multiply, *)
#undef STRATA_NATIVE
  static __device__ unsigned short fma(unsigned short a, unsigned short b, unsigned short c) {
    return __builtin_bit_cast(unsigned short, static_cast<_Float16>(__builtin_elementwise_fma(
                                                  __builtin_bit_cast(_Float16, a), __builtin_bit_cast(_Float16, b),
                                                  __builtin_bit_cast(_Float16, c))));
  }
  static __device__ unsigned fma2(unsigned a, unsigned b, unsigned c) {
    return __builtin_bit_cast(unsigned,
                              __builtin_elementwise_fma(__builtin_bit_cast(Vector, a), __builtin_bit_cast(Vector, b),
                                                        __builtin_bit_cast(Vector, c)));
  }
  static __device__ unsigned atomicAdd2(unsigned *address, unsigned value) {
    unsigned old;
    asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;" : "=r"(old) : "l"(address), "r"(value) : "memory");
    return old;
  }
  static __device__ unsigned short atomicAdd(unsigned short *address, unsigned short value) {
    unsigned short old;
    asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old) : "l"(address), "h"(value) : "memory");
    return old;
  }
};
}  // namespace __strata
#endif

#define STRATA_H half
#define STRATA_H2 half2
#define STRATA_TYPE __half
#define STRATA_TYPE2 __half2
#define STRATA_EXPONENT 5
#define STRATA_MANTISSA 10
#ifdef __CUDA_NO_HALF_CONVERSIONS__
#define STRATA_NO_CONVERSIONS 1
#else
#define STRATA_NO_CONVERSIONS 0
#endif
#if defined(__CUDA_NO_HALF_OPERATORS__) || defined(__CUDA_NO_HALF2_OPERATORS__)
#define STRATA_NO_OPERATORS 1
#else
#define STRATA_NO_OPERATORS 0
#endif
#include "strata/half.inc"

#if defined(__cplusplus)
#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
#endif
typedef __half __nv_half;
typedef __half2 __nv_half2;
#endif

#define CUDART_INF_FP16 __ushort_as_half(static_cast<unsigned short>(0x7c00u))
#define CUDART_NAN_FP16 __ushort_as_half(static_cast<unsigned short>(0x7fffu))
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(static_cast<unsigned short>(0x0001u))
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(static_cast<unsigned short>(0x7bffu))
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(static_cast<unsigned short>(0x8000u))
#define CUDART_ZERO_FP16 __ushort_as_half(static_cast<unsigned short>(0x0000u))
#define CUDART_ONE_FP16 __ushort_as_half(static_cast<unsigned short>(0x3c00u))

#endif
