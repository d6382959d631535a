// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of meanings: random operands that favour the edges, and runs of one instruction.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "tests/ptx/interpreter.h"

namespace strata::ptx {

class MeaningTest : public testing::Test {
protected:
  MeaningTest()
      : seed(std::random_device{}()), random(seed), trace(__FILE__, __LINE__, "seed " + std::to_string(seed)) {}

  // An integer of `bits` bits: edges, small numbers, or anything.
  std::uint64_t integer(unsigned bits) {
    std::uint64_t all = bits == 64 ? ~0ull : (1ull << bits) - 1;
    switch (random() % 6) {
      case 0: return 0;
      case 1: return all;
      case 2: return all >> 1;
      case 3: return (all >> 1) + 1;
      case 4: return (random() % 70) & all;
      default: return random() & all;
    }
  }
  // A float's bits: zeros, infinities, NaN, subnormals, halves, near ones, or anything.
  std::uint32_t float32() {
    std::uint32_t sign = random() & 0x80000000u;
    switch (random() % 10) {
      case 0: return sign;
      case 1: return sign | 0x7f800000;
      case 2: return sign | 0x7fc00000;
      case 3: return sign | (random() & 0x7fffff);
      case 4: return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 2);
      case 5: return sign | (0x3f800000 + random() % 16 - 8);
      case 6: return sign | 0x7f7fffff;
      case 7: return sign | ((100 + random() % 60) << 23) | (random() & 0x7fffff);
      default: return static_cast<std::uint32_t>(random());
    }
  }
  std::uint64_t float64() {
    switch (random() % 4) {
      case 0: return random();
      case 1:
        return std::bit_cast<std::uint64_t>(
            static_cast<double>(static_cast<std::int64_t>(random()) >> (random() % 60)) / 2);
      default: return std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(float32())));
    }
  }
  std::uint16_t half() {
    static constexpr std::uint16_t edges[] = {0,     0x8000, 0x7c00, 0xfc00, 0x7e00, 1,     0x3ff,
                                              0x400, 0x3c00, 0xbc00, 0x7bff, 0x7f80, 0x3f80};
    return random() % 3 ? static_cast<std::uint16_t>(random()) : edges[random() % std::size(edges)];
  }

  static constexpr int kRuns = 300;
  unsigned seed;
  std::mt19937_64 random;
  testing::ScopedTrace trace;
};

inline float f32(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
inline double f64(std::uint64_t bits) { return std::bit_cast<double>(bits); }
inline std::uint32_t bits(float f) { return std::bit_cast<std::uint32_t>(f); }
inline std::uint64_t bits(double d) { return std::bit_cast<std::uint64_t>(d); }

// NaNs differ in payload between machines; any NaN is as good as another.
inline void expectSameFloat(std::uint64_t actual, std::uint64_t expected, const std::string &what) {
  if (std::isnan(f32(actual)) && std::isnan(f32(expected))) return;
  EXPECT_EQ(actual, expected) << what << ": " << f32(actual) << " for " << f32(expected);
}
inline void expectSameDouble(std::uint64_t actual, std::uint64_t expected, const std::string &what) {
  if (std::isnan(f64(actual)) && std::isnan(f64(expected))) return;
  EXPECT_EQ(actual, expected) << what << ": " << f64(actual) << " for " << f64(expected);
}

}  // namespace strata::ptx
