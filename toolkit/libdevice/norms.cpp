// SPDX-License-Identifier: Apache-2.0
// Lengths of vectors and their reciprocals. Components are scaled by a power of two first, so that no square
// overflows or vanishes; an infinite component makes an infinite length, whatever the others are.
#include "core.h"

namespace {

// A power of two near the largest component, limited so that it and its reciprocal are normal.
inline float unitOf(float largest) {
  uint32_t exponent = bits(largest) & 0x7f800000u;
  exponent = exponent > 0x7e000000u ? 0x7e000000u : exponent < 0x01000000u ? 0x01000000u : exponent;
  return fromBits(exponent);
}
inline double unitOf(double largest) {
  uint64_t exponent = bits(largest) & 0x7ff0000000000000ull;
  exponent = exponent > 0x7fc0000000000000ull   ? 0x7fc0000000000000ull
             : exponent < 0x0020000000000000ull ? 0x0020000000000000ull
                                                : exponent;
  return fromBits(exponent);
}
inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }

// Sum of squares of the scaled components, its unit, and whether one is infinite.
template <typename Float>
struct Length {
  Pair<Float> sum = {0, 0};
  Float unit = 1;
  bool infinite = false;

  void measure(Float component) {
    largest = abs(component) > largest ? abs(component) : largest;
    infinite = infinite || abs(component) == static_cast<Float>(kInfinity);
  }
  void start() {
    unit = unitOf(largest);
    inverse = 1 / unit;
  }
  void add(Float component) {
    Pair<Float> square = twoProduct(component * inverse, component * inverse);
    Pair<Float> next = twoSum(sum.high, square.high);
    sum = {next.high, next.low + (square.low + sum.low)};
  }
  Float length() const {
    Float total = sum.high + sum.low;
    return infinite ? static_cast<Float>(kInfinity) : root(total) * unit;
  }
  Float reciprocal() const {
    // one correction of 1 / sqrt(high), the residual exact to first order
    Float r = 1 / root(sum.high);
    Pair<Float> p = twoProduct(sum.high, r);
    Float residual = fma(-p.high, r, static_cast<Float>(1)) - fma(p.low, r, sum.low * r * r);
    Float corrected = fma(r * static_cast<Float>(0.5), residual, r);
    return infinite ? 0 : (r < static_cast<Float>(kInfinity) ? corrected : r) * inverse;
  }

private:
  Float largest = 0, inverse = 1;
};

template <typename Float>
inline Length<Float> lengthOf(int count, const Float *values) {
  Length<Float> length;
  for (int i = 0; i < count; ++i) length.measure(values[i]);
  length.start();
  for (int i = 0; i < count; ++i) length.add(values[i]);
  return length;
}

}  // namespace

extern "C" {

#define NORMS(Float, suffix)                                                                                      \
  Float __nv_norm##suffix(int count, const Float *values) { return lengthOf(count, values).length(); }            \
  Float __nv_rnorm##suffix(int count, const Float *values) { return lengthOf(count, values).reciprocal(); }       \
  Float __nv_rhypot##suffix(Float x, Float y) {                                                                   \
    const Float v[] = {x, y};                                                                                     \
    return lengthOf(2, v).reciprocal();                                                                           \
  }                                                                                                               \
  Float __nv_norm3d##suffix(Float x, Float y, Float z) {                                                          \
    const Float v[] = {x, y, z};                                                                                  \
    return lengthOf(3, v).length();                                                                               \
  }                                                                                                               \
  Float __nv_rnorm3d##suffix(Float x, Float y, Float z) {                                                         \
    const Float v[] = {x, y, z};                                                                                  \
    return lengthOf(3, v).reciprocal();                                                                           \
  }                                                                                                               \
  Float __nv_norm4d##suffix(Float x, Float y, Float z, Float w) {                                                 \
    const Float v[] = {x, y, z, w};                                                                               \
    return lengthOf(4, v).length();                                                                               \
  }                                                                                                               \
  Float __nv_rnorm4d##suffix(Float x, Float y, Float z, Float w) {                                                \
    const Float v[] = {x, y, z, w};                                                                               \
    return lengthOf(4, v).reciprocal();                                                                           \
  }
NORMS(double, )
NORMS(float, f)
#undef NORMS

float __nv_frsqrt_rn(float x) { return static_cast<float>(__nv_rsqrt(static_cast<double>(x))); }

}  // extern "C"
