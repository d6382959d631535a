/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of 1 to 4 elements and dim3. Sizes and alignments are part of the ABI between host and device:
   2- and 4-element vectors are aligned to their size up to 16 bytes, 3-element vectors to their element.
   CUDA 13 has 4-element vectors of 8-byte elements in two alignments (…4_16a, …4_32a); the plain name is the
   16-byte one. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__
#pragma GCC system_header

#include "host_defines.h"

#define __STRATA_VECTOR1(name, type) \
  struct name {                      \
    type x;                          \
  };                                 \
  typedef struct name name;
#define __STRATA_VECTOR2(name, type, alignment) \
  struct __align__(alignment) name {            \
    type x, y;                                  \
  };                                            \
  typedef struct name name;
#define __STRATA_VECTOR3(name, type) \
  struct name {                      \
    type x, y, z;                    \
  };                                 \
  typedef struct name name;
#define __STRATA_VECTOR4(name, type, alignment) \
  struct __align__(alignment) name {            \
    type x, y, z, w;                            \
  };                                            \
  typedef struct name name;

__STRATA_VECTOR1(char1, signed char)
__STRATA_VECTOR2(char2, signed char, 2)
__STRATA_VECTOR3(char3, signed char)
__STRATA_VECTOR4(char4, signed char, 4)
__STRATA_VECTOR1(uchar1, unsigned char)
__STRATA_VECTOR2(uchar2, unsigned char, 2)
__STRATA_VECTOR3(uchar3, unsigned char)
__STRATA_VECTOR4(uchar4, unsigned char, 4)
__STRATA_VECTOR1(short1, short)
__STRATA_VECTOR2(short2, short, 4)
__STRATA_VECTOR3(short3, short)
__STRATA_VECTOR4(short4, short, 8)
__STRATA_VECTOR1(ushort1, unsigned short)
__STRATA_VECTOR2(ushort2, unsigned short, 4)
__STRATA_VECTOR3(ushort3, unsigned short)
__STRATA_VECTOR4(ushort4, unsigned short, 8)
__STRATA_VECTOR1(int1, int)
__STRATA_VECTOR2(int2, int, 8)
__STRATA_VECTOR3(int3, int)
__STRATA_VECTOR4(int4, int, 16)
__STRATA_VECTOR1(uint1, unsigned int)
__STRATA_VECTOR2(uint2, unsigned int, 8)
__STRATA_VECTOR3(uint3, unsigned int)
__STRATA_VECTOR4(uint4, unsigned int, 16)
__STRATA_VECTOR1(float1, float)
__STRATA_VECTOR2(float2, float, 8)
__STRATA_VECTOR3(float3, float)
__STRATA_VECTOR4(float4, float, 16)
__STRATA_VECTOR1(long1, long)
__STRATA_VECTOR2(long2, long, 16)
__STRATA_VECTOR3(long3, long)
__STRATA_VECTOR4(long4, long, 16)
__STRATA_VECTOR4(long4_16a, long, 16)
__STRATA_VECTOR4(long4_32a, long, 32)
__STRATA_VECTOR1(ulong1, unsigned long)
__STRATA_VECTOR2(ulong2, unsigned long, 16)
__STRATA_VECTOR3(ulong3, unsigned long)
__STRATA_VECTOR4(ulong4, unsigned long, 16)
__STRATA_VECTOR4(ulong4_16a, unsigned long, 16)
__STRATA_VECTOR4(ulong4_32a, unsigned long, 32)
__STRATA_VECTOR1(longlong1, long long)
__STRATA_VECTOR2(longlong2, long long, 16)
__STRATA_VECTOR3(longlong3, long long)
__STRATA_VECTOR4(longlong4, long long, 16)
__STRATA_VECTOR4(longlong4_16a, long long, 16)
__STRATA_VECTOR4(longlong4_32a, long long, 32)
__STRATA_VECTOR1(ulonglong1, unsigned long long)
__STRATA_VECTOR2(ulonglong2, unsigned long long, 16)
__STRATA_VECTOR3(ulonglong3, unsigned long long)
__STRATA_VECTOR4(ulonglong4, unsigned long long, 16)
__STRATA_VECTOR4(ulonglong4_16a, unsigned long long, 16)
__STRATA_VECTOR4(ulonglong4_32a, unsigned long long, 32)
__STRATA_VECTOR1(double1, double)
__STRATA_VECTOR2(double2, double, 16)
__STRATA_VECTOR3(double3, double)
__STRATA_VECTOR4(double4, double, 16)
__STRATA_VECTOR4(double4_16a, double, 16)
__STRATA_VECTOR4(double4_32a, double, 32)

#undef __STRATA_VECTOR1
#undef __STRATA_VECTOR2
#undef __STRATA_VECTOR3
#undef __STRATA_VECTOR4

/* Extent of a grid or block; what is left out is 1. */
struct dim3 {
  unsigned int x, y, z;
#if defined(__cplusplus)
  __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};
typedef struct dim3 dim3;

#endif
