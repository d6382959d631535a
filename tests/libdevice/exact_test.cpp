// SPDX-License-Identifier: Apache-2.0
// Functions whose results are exact: against the C library, bit by bit.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "strata/device/libdevice.h"

namespace {

template <typename Float>
bool same(Float a, Float b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

struct Random {
  std::uint64_t seed = std::random_device{}();
  std::mt19937_64 generator{seed};
  float nextFloat() { return std::bit_cast<float>(static_cast<std::uint32_t>(generator())); }
  double nextDouble() { return std::bit_cast<double>(generator()); }
  // A number whose quotient by the other is of moderate size.
  double near(double x) {
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(x) & 0xfff0000000000000ull) | (generator() >> 12));
  }
};

TEST(LibdeviceExact, rounding_and_parts) {
  Random random;
  for (int i = 0; i < 200000; ++i) {
    float x = random.nextFloat();
    double y =
        i % 2 ? random.nextDouble() : static_cast<double>(static_cast<std::int64_t>(random.generator())) * 0x1p-40;
    SCOPED_TRACE(testing::Message() << std::hexfloat << x << " " << y << " seed " << std::dec << random.seed);
    ASSERT_TRUE(same(__nv_roundf(x), std::round(x)));
    ASSERT_TRUE(same(__nv_round(y), std::round(y)));
    ASSERT_TRUE(same(__nv_rint(y), std::rint(y)));
    ASSERT_TRUE(same(__nv_logbf(x), std::logb(x)));
    ASSERT_TRUE(same(__nv_logb(y), std::logb(y)));
    int ours = 0, theirs = 0;
    ASSERT_TRUE(same(__nv_frexpf(x, &ours), std::frexp(x, &theirs)));
    if (std::isfinite(x)) {
      ASSERT_EQ(ours, theirs);
      ASSERT_EQ(__nv_ilogbf(x), x == 0 ? static_cast<int>(0x80000000u) : std::ilogb(x));
    }
    double whole = 0, expected = 0;
    ASSERT_TRUE(same(__nv_modf(y, &whole), std::modf(y, &expected)));
    ASSERT_TRUE(same(whole, expected));
    int n = static_cast<int>(random.generator() % 4400) - 2200;
    ASSERT_TRUE(same(__nv_ldexp(y, n), std::ldexp(y, n)));
    ASSERT_TRUE(same(__nv_ldexpf(x, n / 7), std::ldexp(x, n / 7)));
    float z = random.nextFloat();
    ASSERT_TRUE(same(__nv_nextafterf(x, z), std::nextafter(x, z)));
    ASSERT_TRUE(same(__nv_fdimf(x, z), std::fdim(x, z)));
  }
}

TEST(LibdeviceExact, remainders) {
  Random random;
  for (int i = 0; i < 20000; ++i) {
    double x = random.nextDouble(), y = i % 4 ? random.near(x) : random.nextDouble();
    float a = random.nextFloat(), b = random.nextFloat();
    SCOPED_TRACE(testing::Message() << std::hexfloat << x << " " << y << " " << a << " " << b << " seed " << std::dec
                                    << random.seed);
    ASSERT_TRUE(same(__nv_fmod(x, y), std::fmod(x, y)));
    ASSERT_TRUE(same(__nv_remainder(x, y), std::remainder(x, y)));
    ASSERT_TRUE(same(__nv_fmodf(a, b), std::fmod(a, b)));
    int ours = 0, theirs = 0;
    ASSERT_TRUE(same(__nv_remquof(a, b, &ours), std::remquo(a, b, &theirs)));
    if (std::isfinite(a) && std::isfinite(b) && b != 0) ASSERT_EQ(ours & 7, theirs & 7);
  }
}

TEST(LibdeviceExact, norms_do_not_overflow) {
  EXPECT_DOUBLE_EQ(__nv_norm3d(1e308, 1e308, 0), 1e308 * std::sqrt(2.0));
  EXPECT_FLOAT_EQ(__nv_norm4df(1e-30f, 1e-30f, 1e-30f, 1e-30f), 2e-30f);
  EXPECT_EQ(__nv_norm3d(INFINITY, NAN, 1), INFINITY);
  EXPECT_EQ(__nv_rnorm3d(INFINITY, NAN, 1), 0);
  const double values[] = {3, 4, 12, 84};
  EXPECT_EQ(__nv_norm(4, values), 85);
  EXPECT_EQ(__nv_rhypot(3, 4), 0.2);
}

}  // namespace
