// SPDX-License-Identifier: Apache-2.0
// Conversions between double or float and floating-point formats of at most 16 bits, in integer arithmetic,
// so that both sides compute the same bits. cuda_fp16.h, cuda_bf16.h, cuda_fp8.h and cuda_fp4.h use them.
#pragma once
#pragma GCC system_header

#include "strata/device/define.h"

namespace __strata {

enum Rounding { roundNearest, roundZero, roundDown, roundUp };
// What a format does beyond its largest number: infinity, or (saturate) the largest number itself.
enum Overflow { overflowInfinity, overflowSaturate, overflowNan };

// A number of sign, exponentBits and mantissaBits, bias 2^(exponentBits - 1) - 1.
template <int exponentBits, int mantissaBits>
struct SmallFloat {
  static constexpr int bias = (1 << (exponentBits - 1)) - 1;
  static constexpr int least = 1 - bias;  // exponent of subnormals
  static constexpr unsigned infinity = ((1u << exponentBits) - 1) << mantissaBits;
};

// By their bits on the host, where a program's -ffast-math would take value != value for false.
#ifdef __CUDA_ARCH__
STRATA_HOST_DEVICE bool isNan(float value) { return value != value; }
STRATA_HOST_DEVICE bool isNan(double value) { return value != value; }
STRATA_HOST_DEVICE bool isInfinite(double value) { return __builtin_isinf(value); }
#else
STRATA_HOST_DEVICE bool isNan(float value) { return (__builtin_bit_cast(unsigned, value) & 0x7fffffffu) > 0x7f800000u; }
STRATA_HOST_DEVICE bool isNan(double value) {
  return (__builtin_bit_cast(unsigned long long, value) & 0x7fffffffffffffffull) > 0x7ff0000000000000ull;
}
STRATA_HOST_DEVICE bool isInfinite(double value) {
  return (__builtin_bit_cast(unsigned long long, value) & 0x7fffffffffffffffull) == 0x7ff0000000000000ull;
}
#endif

// |value| (finite) in the format, exponent unbounded above: the code may exceed the format's largest.
template <int exponentBits, int mantissaBits>
STRATA_HOST_DEVICE unsigned roundMagnitude(double value, Rounding mode, bool negative) {
  typedef SmallFloat<exponentBits, mantissaBits> Format;
  unsigned long long bits = __builtin_bit_cast(unsigned long long, value) & 0x7fffffffffffffffull;
  int field = static_cast<int>(bits >> 52);
  if (field == 0) field = 1;
  else bits = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  int exponent = field - 1023;
  int below = exponent < Format::least ? Format::least - exponent : 0;
  int shift = 52 - mantissaBits + below;
  if (shift > 62) shift = 62;  // everything is below half of the least subnormal
  unsigned long long whole = bits >> shift;
  unsigned long long rest = bits & ((1ull << shift) - 1), half = 1ull << (shift - 1);
  bool up = mode == roundNearest ? rest > half || (rest == half && (whole & 1))
            : mode == roundUp    ? rest != 0 && !negative
            : mode == roundDown  ? rest != 0 && negative
                                 : false;
  whole += up;
  unsigned base = below ? 0u : static_cast<unsigned>(exponent - Format::least);
  return (base << mantissaBits) + static_cast<unsigned>(whole);
}

// IEEE formats (half, bfloat16, e5m2's finite part): overflow goes to infinity, or to the largest number
// where the rounding forbids infinity. NaN becomes `nan`.
template <int exponentBits, int mantissaBits>
STRATA_HOST_DEVICE unsigned short toSmallFloat(double value, Rounding mode, unsigned short nan) {
  typedef SmallFloat<exponentBits, mantissaBits> Format;
  if (isNan(value)) return nan;
  bool negative = __builtin_bit_cast(unsigned long long, value) >> 63;
  unsigned sign = negative ? 1u << (exponentBits + mantissaBits) : 0u;
  if (isInfinite(value)) return static_cast<unsigned short>(sign | Format::infinity);
  unsigned code = __builtin_bit_cast(unsigned long long, value) << 1 >> 53 >= 1023u + Format::bias + 1u
                      ? Format::infinity
                      : roundMagnitude<exponentBits, mantissaBits>(value, mode, negative);
  if (code >= Format::infinity) {
    bool toInfinity = mode == roundNearest || (mode == roundUp && !negative) || (mode == roundDown && negative);
    code = toInfinity ? Format::infinity : Format::infinity - 1;
  }
  return static_cast<unsigned short>(sign | code);
}

// The value of a code, exactly; infinities and NaN as IEEE formats have them.
template <int exponentBits, int mantissaBits>
STRATA_HOST_DEVICE float fromSmallFloat(unsigned code) {
  typedef SmallFloat<exponentBits, mantissaBits> Format;
  unsigned sign = (code >> (exponentBits + mantissaBits) & 1) << 31;
  unsigned magnitude = code & ((1u << (exponentBits + mantissaBits)) - 1);
  if (magnitude >= Format::infinity)
    return __builtin_bit_cast(float, sign | 0x7f800000u | (magnitude - Format::infinity) << (23 - mantissaBits));
  // A subnormal is its mantissa times the least unit; a normal number's exponent is rebased.
  if (magnitude < (1u << mantissaBits)) {
    float unit = __builtin_bit_cast(float, static_cast<unsigned>(Format::least - mantissaBits + 127) << 23);
    float value = static_cast<float>(magnitude) * unit;
    return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, value) | sign);
  }
  return __builtin_bit_cast(
      float, sign | ((magnitude << (23 - mantissaBits)) + (static_cast<unsigned>(127 - Format::bias) << 23)));
}

// bfloat16 is float's upper half.
template <>
__inline__ __host__ __device__ float fromSmallFloat<8, 7>(unsigned code) {
  return __builtin_bit_cast(float, code << 16);
}

// A wider value rounded to odd (the last bit tells that something was cut), so that rounding it again to at
// most 50 bits is as good as rounding once.
STRATA_HOST_DEVICE double roundToOdd(double rounded, bool tooLarge, bool inexact) {
  unsigned long long bits = __builtin_bit_cast(unsigned long long, rounded);
  if (tooLarge) --bits;  // one step towards zero
  return inexact ? __builtin_bit_cast(double, bits | 1) : rounded;
}
STRATA_HOST_DEVICE double oddFromInteger(unsigned long long magnitude) {
  double rounded = static_cast<double>(magnitude);
  bool huge = rounded >= 18446744073709551616.0;  // 2^64 itself does not convert back
  unsigned long long back = huge ? 0 : static_cast<unsigned long long>(rounded);
  return roundToOdd(rounded, huge || back > magnitude, huge || back != magnitude);
}
// a + b for any doubles without overflow.
STRATA_HOST_DEVICE double oddSum(double a, double b) {
  double sum = a + b;
  if (!(sum - sum == 0.0)) return sum;
  double bPart = sum - a;
  double error = (a - (sum - bPart)) + (b - bPart);
  return roundToOdd(sum, error != 0.0 && (error < 0.0) == (sum > 0.0), error != 0.0);
}

// Float to integer as PTX's cvt does: out of range saturates, NaN gives 0 (64 bits: the top bit).
template <typename Integer>
STRATA_HOST_DEVICE Integer saturateToInteger(float whole) {
  constexpr bool isSigned = static_cast<Integer>(-1) < static_cast<Integer>(0);
  constexpr int bits = static_cast<int>(sizeof(Integer) * 8);
  constexpr unsigned long long top = 1ull << (bits - 1);
  if (isNan(whole)) return bits == 64 ? static_cast<Integer>(top) : static_cast<Integer>(0);
  float limit = static_cast<float>(top) * (isSigned ? 1.0f : 2.0f);
  if (whole >= limit) return static_cast<Integer>(isSigned ? top - 1 : ~0ull);
  if (isSigned ? whole < -limit : whole <= 0.0f) return static_cast<Integer>(isSigned ? top : 0);
  return static_cast<Integer>(whole);
}
STRATA_HOST_DEVICE float roundWhole(float value, Rounding mode) {
  return mode == roundNearest ? __builtin_rintf(value)
         : mode == roundZero  ? __builtin_truncf(value)
         : mode == roundDown  ? __builtin_floorf(value)
                              : __builtin_ceilf(value);
}

}  // namespace __strata
