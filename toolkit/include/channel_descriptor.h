/* SPDX-License-Identifier: Apache-2.0 */
/* cudaCreateChannelDesc<T>(): the channel format of an element type or of a named format. */
#ifndef __CHANNEL_DESCRIPTOR_H__
#define __CHANNEL_DESCRIPTOR_H__
#pragma GCC system_header

#if defined(__cplusplus)

#include "cuda_runtime_api.h"

/* Types without a channel format give "none", as in CUDA. */
template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}

template <cudaChannelFormatKind kind>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}

#define __STRATA_CHANNEL(key, x, y, z, w, kind)                            \
  template <>                                                              \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<key>() {              \
    return cudaCreateChannelDesc(x, y, z, w, cudaChannelFormatKind##kind); \
  }
#define __STRATA_CHANNELS(scalar, vector, bits, kind) \
  __STRATA_CHANNEL(scalar, bits, 0, 0, 0, kind)       \
  __STRATA_CHANNEL(vector##1, bits, 0, 0, 0, kind)    \
  __STRATA_CHANNEL(vector##2, bits, bits, 0, 0, kind) \
  __STRATA_CHANNEL(vector##4, bits, bits, bits, bits, kind)

#if defined(__CHAR_UNSIGNED__)
__STRATA_CHANNEL(char, 8, 0, 0, 0, Unsigned)
#else
__STRATA_CHANNEL(char, 8, 0, 0, 0, Signed)
#endif
__STRATA_CHANNELS(signed char, char, 8, Signed)
__STRATA_CHANNELS(unsigned char, uchar, 8, Unsigned)
__STRATA_CHANNELS(short, short, 16, Signed)
__STRATA_CHANNELS(unsigned short, ushort, 16, Unsigned)
__STRATA_CHANNELS(int, int, 32, Signed)
__STRATA_CHANNELS(unsigned int, uint, 32, Unsigned)
__STRATA_CHANNELS(float, float, 32, Float)

#define __STRATA_NAMED(kind, x, y, z, w) __STRATA_CHANNEL(cudaChannelFormatKind##kind, x, y, z, w, kind)
__STRATA_NAMED(SignedNormalized8X1, 8, 0, 0, 0)
__STRATA_NAMED(SignedNormalized8X2, 8, 8, 0, 0)
__STRATA_NAMED(SignedNormalized8X4, 8, 8, 8, 8)
__STRATA_NAMED(UnsignedNormalized8X1, 8, 0, 0, 0)
__STRATA_NAMED(UnsignedNormalized8X2, 8, 8, 0, 0)
__STRATA_NAMED(UnsignedNormalized8X4, 8, 8, 8, 8)
__STRATA_NAMED(SignedNormalized16X1, 16, 0, 0, 0)
__STRATA_NAMED(SignedNormalized16X2, 16, 16, 0, 0)
__STRATA_NAMED(SignedNormalized16X4, 16, 16, 16, 16)
__STRATA_NAMED(UnsignedNormalized16X1, 16, 0, 0, 0)
__STRATA_NAMED(UnsignedNormalized16X2, 16, 16, 0, 0)
__STRATA_NAMED(UnsignedNormalized16X4, 16, 16, 16, 16)
__STRATA_NAMED(UnsignedNormalized1010102, 10, 10, 10, 2)
__STRATA_NAMED(NV12, 8, 8, 8, 0)
__STRATA_NAMED(UnsignedBlockCompressed1, 8, 8, 8, 8)
__STRATA_NAMED(UnsignedBlockCompressed1SRGB, 8, 8, 8, 8)
__STRATA_NAMED(UnsignedBlockCompressed2, 8, 8, 8, 8)
__STRATA_NAMED(UnsignedBlockCompressed2SRGB, 8, 8, 8, 8)
__STRATA_NAMED(UnsignedBlockCompressed3, 8, 8, 8, 8)
__STRATA_NAMED(UnsignedBlockCompressed3SRGB, 8, 8, 8, 8)
__STRATA_NAMED(UnsignedBlockCompressed7, 8, 8, 8, 8)
__STRATA_NAMED(UnsignedBlockCompressed7SRGB, 8, 8, 8, 8)
__STRATA_NAMED(UnsignedBlockCompressed4, 8, 0, 0, 0)
__STRATA_NAMED(SignedBlockCompressed4, 8, 0, 0, 0)
__STRATA_NAMED(UnsignedBlockCompressed5, 8, 8, 0, 0)
__STRATA_NAMED(SignedBlockCompressed5, 8, 8, 0, 0)
__STRATA_NAMED(UnsignedBlockCompressed6H, 16, 16, 16, 0)
__STRATA_NAMED(SignedBlockCompressed6H, 16, 16, 16, 0)

#undef __STRATA_NAMED
#undef __STRATA_CHANNELS
#undef __STRATA_CHANNEL

static inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}

static inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return cudaCreateChannelDescHalf(); }

static inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
  return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
}

static inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
  return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
}

static inline cudaChannelFormatDesc cudaCreateChannelDescNV12() {
  return cudaCreateChannelDesc<cudaChannelFormatKindNV12>();
}

#endif

#endif
