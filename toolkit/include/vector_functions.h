/* SPDX-License-Identifier: Apache-2.0 */
/* make_float4 and its kin: one row a vector type. */
#pragma once
#pragma GCC system_header

#include "cuda_runtime_api.h"
#include "vector_types.h"

#if defined(__cplusplus) && defined(__CUDA__)
#define __STRATA_MAKE static __inline__ __host__ __device__ __attribute__((always_inline))
#else
#define __STRATA_MAKE static __inline__
#endif
#define __STRATA_MAKE_VECTOR(type1, type2, type3, type4, Element)                                       \
  __STRATA_MAKE struct type1 make_##type1(Element x) {                                                  \
    struct type1 v = {x};                                                                               \
    return v;                                                                                           \
  }                                                                                                     \
  __STRATA_MAKE struct type2 make_##type2(Element x, Element y) {                                       \
    struct type2 v = {x, y};                                                                            \
    return v;                                                                                           \
  }                                                                                                     \
  __STRATA_MAKE struct type3 make_##type3(Element x, Element y, Element z) {                            \
    struct type3 v = {x, y, z};                                                                         \
    return v;                                                                                           \
  }                                                                                                     \
  __STRATA_MAKE_VECTOR4(type4, Element)
#define __STRATA_MAKE_VECTOR4(type4, Element)                                                           \
  __STRATA_MAKE type4 make_##type4(Element x, Element y, Element z, Element w) {                        \
    type4 v = {x, y, z, w};                                                                             \
    return v;                                                                                           \
  }

__STRATA_MAKE_VECTOR(char1, char2, char3, char4, signed char)
__STRATA_MAKE_VECTOR(uchar1, uchar2, uchar3, uchar4, unsigned char)
__STRATA_MAKE_VECTOR(short1, short2, short3, short4, short)
__STRATA_MAKE_VECTOR(ushort1, ushort2, ushort3, ushort4, unsigned short)
__STRATA_MAKE_VECTOR(int1, int2, int3, int4, int)
__STRATA_MAKE_VECTOR(uint1, uint2, uint3, uint4, unsigned)
__STRATA_MAKE_VECTOR(long1, long2, long3, long4, long)
__STRATA_MAKE_VECTOR(ulong1, ulong2, ulong3, ulong4, unsigned long)
__STRATA_MAKE_VECTOR(longlong1, longlong2, longlong3, longlong4, long long)
__STRATA_MAKE_VECTOR(ulonglong1, ulonglong2, ulonglong3, ulonglong4, unsigned long long)
__STRATA_MAKE_VECTOR(float1, float2, float3, float4, float)
__STRATA_MAKE_VECTOR(double1, double2, double3, double4, double)
__STRATA_MAKE_VECTOR4(long4_16a, long)
__STRATA_MAKE_VECTOR4(long4_32a, long)
__STRATA_MAKE_VECTOR4(ulong4_16a, unsigned long)
__STRATA_MAKE_VECTOR4(ulong4_32a, unsigned long)
__STRATA_MAKE_VECTOR4(longlong4_16a, long long)
__STRATA_MAKE_VECTOR4(longlong4_32a, long long)
__STRATA_MAKE_VECTOR4(ulonglong4_16a, unsigned long long)
__STRATA_MAKE_VECTOR4(ulonglong4_32a, unsigned long long)
__STRATA_MAKE_VECTOR4(double4_16a, double)
__STRATA_MAKE_VECTOR4(double4_32a, double)
#undef __STRATA_MAKE
#undef __STRATA_MAKE_VECTOR
#undef __STRATA_MAKE_VECTOR4
