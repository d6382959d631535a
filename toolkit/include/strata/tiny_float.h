// SPDX-License-Identifier: Apache-2.0
// Formats of 4 and 6 bits (cuda_fp4.h, cuda_fp6.h): each code is a number, there are no infinities and no NaN. What
// lies beyond the largest number becomes it, and so does NaN, with a positive sign.
#pragma once
#pragma GCC system_header

#include "device_types.h"
#include "strata/small_float.h"

namespace __strata {

STRATA_HOST_DEVICE Rounding roundingOf(cudaRoundMode mode) {
  return mode == cudaRoundNearest  ? roundNearest
         : mode == cudaRoundZero   ? roundZero
         : mode == cudaRoundPosInf ? roundUp
                                   : roundDown;
}

template <int exponentBits, int mantissaBits>
STRATA_HOST_DEVICE unsigned char toTinyFloat(double value, cudaRoundMode mode) {
  constexpr unsigned sign = 1u << (exponentBits + mantissaBits), largest = sign - 1;
  if (isNan(value)) return largest;
  const unsigned long long bits = __builtin_bit_cast(unsigned long long, value);
  const bool negative = bits >> 63;
  // From 2^32 on the code below would not fit a word.
  const bool huge = (bits << 1 >> 53) >= 1023u + 32u;
  const unsigned code = huge ? largest : roundMagnitude<exponentBits, mantissaBits>(value, roundingOf(mode), negative);
  return static_cast<unsigned char>((negative ? sign : 0u) | (code < largest ? code : largest));
}

template <int exponentBits, int mantissaBits>
STRATA_HOST_DEVICE float fromTinyFloat(unsigned code) {
  typedef SmallFloat<exponentBits, mantissaBits> Format;
  const unsigned sign = (code >> (exponentBits + mantissaBits) & 1) << 31;
  const unsigned magnitude = code & ((1u << (exponentBits + mantissaBits)) - 1);
  if (magnitude >= (1u << mantissaBits))
    return __builtin_bit_cast(
        float, sign | ((magnitude << (23 - mantissaBits)) + (static_cast<unsigned>(127 - Format::bias) << 23)));
  const float unit = __builtin_bit_cast(float, static_cast<unsigned>(Format::least - mantissaBits + 127) << 23);
  return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, static_cast<float>(magnitude) * unit) | sign);
}

}  // namespace __strata
