// SPDX-License-Identifier: Apache-2.0
// Every function of the device math library against MPFR, within bounds.def, on fresh random arguments. The float
// functions are also run over many more arguments against the double ones, which MPFR has checked.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <random>
#include <sstream>

#include "strata/device/libdevice.h"
#include "tests/libdevice/reference.h"

namespace strata::libdevice {
namespace {

struct UnaryRow {
  const char *name;
  float (*inFloat)(float);
  double (*inDouble)(double);
  double floatBound, doubleBound, low, high;
  bool everywhere;
};
struct BinaryRow {
  const char *name;
  float (*inFloat)(float, float);
  double (*inDouble)(double, double);
  double floatBound, doubleBound, low, high;
};

const UnaryRow kUnaryRows[] = {
#define UNARY(name, floatBound, doubleBound, low, high) {#name, __nv_##name##f, __nv_##name, floatBound, doubleBound, low, high, true},
#define RANGE(name, floatBound, doubleBound, low, high) {#name, __nv_##name##f, __nv_##name, floatBound, doubleBound, low, high, false},
#define BINARY(name, floatBound, doubleBound, low, high)
#include "tests/libdevice/bounds.def"
#undef UNARY
#undef RANGE
#undef BINARY
};
const BinaryRow kBinaryRows[] = {
#define UNARY(name, floatBound, doubleBound, low, high)
#define RANGE(name, floatBound, doubleBound, low, high)
#define BINARY(name, floatBound, doubleBound, low, high) {#name, __nv_##name##f, __nv_##name, floatBound, doubleBound, low, high},
#include "tests/libdevice/bounds.def"
#undef UNARY
#undef RANGE
#undef BINARY
};

const double kSpecial[] = {0.0,
                           -0.0,
                           1.0,
                           -1.0,
                           0.5,
                           -0.5,
                           2.0,
                           -3.0,
                           INFINITY,
                           -INFINITY,
                           NAN,
                           0x1p-126,
                           -0x1p-149,
                           0x1p-140,
                           0x1.fffffep127,
                           -0x1.fffffep127,
                           0x1p24,
                           16777217.0,
                           0x1p16,
                           0x1.62e43p6,
                           -0x1.9fe368p6};

class Arguments {
public:
  Arguments(std::uint64_t seed, double low, double high, bool everywhere)
      : random_(seed), low_(low), high_(high), everywhere_(everywhere) {}
  template <typename Float>
  Float next() {
    if (everywhere_ && index_ < std::size(kSpecial)) return static_cast<Float>(kSpecial[index_++]);
    ++index_;
    if (everywhere_ && index_ % 2) {
      if constexpr (sizeof(Float) == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(random_()));
      else return std::bit_cast<double>(random_());
    }
    double unit = static_cast<double>(random_() >> 11) * 0x1p-53;
    // every third one near the interval's lower end or zero, over many orders of magnitude
    if (index_ % 3 == 0) unit *= std::exp2(-static_cast<double>(random_() % 60));
    return static_cast<Float>(low_ + (high_ - low_) * unit);
  }

private:
  std::mt19937_64 random_;
  double low_, high_;
  bool everywhere_;
  std::size_t index_ = 0;
};

std::uint64_t freshSeed() {
  static const std::uint64_t seed = std::random_device{}();
  return seed;
}

template <typename Float>
void checkUnary(const UnaryRow &row, Float (*function)(Float), double bound, int samples) {
  Unary reference = unaryReference(row.name);
  ASSERT_NE(reference, nullptr) << row.name;
  Arguments arguments(freshSeed(), row.low, row.high, row.everywhere);
  constexpr int digits = sizeof(Float) == 4 ? 24 : 53, least = sizeof(Float) == 4 ? -125 : -1021;
  double worst = 0;
  Float at = 0;
  Exact exact;
  for (int i = 0; i < samples; ++i) {
    Float x = arguments.next<Float>();
    reference(exact, Exact(x));
    double error = errorInUlps(function(x), exact, digits, least);
    if (error > worst) worst = error, at = x;
  }
  reference(exact, Exact(at));
  EXPECT_LE(worst, bound) << row.name << "(" << std::hexfloat << at << ") = " << function(at) << ", exactly "
                          << mpfr_get_d(exact.get(), MPFR_RNDN) << ", seed " << std::dec << freshSeed();
}

template <typename Float>
void checkBinary(const BinaryRow &row, Float (*function)(Float, Float), double bound, int samples) {
  Binary reference = binaryReference(row.name);
  ASSERT_NE(reference, nullptr) << row.name;
  Arguments first(freshSeed(), row.low, row.high, true), second(freshSeed() + 1, -row.high, row.high, true);
  constexpr int digits = sizeof(Float) == 4 ? 24 : 53, least = sizeof(Float) == 4 ? -125 : -1021;
  double worst = 0;
  Float atX = 0, atY = 0;
  Exact exact;
  for (int i = 0; i < samples; ++i) {
    constexpr int n = std::size(kSpecial);
    Float x = i < n * n ? static_cast<Float>(kSpecial[i % n]) : first.next<Float>();
    Float y = i < n * n ? static_cast<Float>(kSpecial[i / n]) : second.next<Float>();
    reference(exact, Exact(x), Exact(y));
    double error = errorInUlps(function(x, y), exact, digits, least);
    if (error > worst) worst = error, atX = x, atY = y;
  }
  reference(exact, Exact(atX), Exact(atY));
  EXPECT_LE(worst, bound) << row.name << "(" << std::hexfloat << atX << ", " << atY << ") = " << function(atX, atY)
                          << ", exactly " << mpfr_get_d(exact.get(), MPFR_RNDN) << ", seed " << std::dec << freshSeed();
}

TEST(LibdeviceAccuracy, unary_float) {
  for (const UnaryRow &row : kUnaryRows) checkUnary<float>(row, row.inFloat, row.floatBound, 2500);
}
TEST(LibdeviceAccuracy, unary_double) {
  for (const UnaryRow &row : kUnaryRows) checkUnary<double>(row, row.inDouble, row.doubleBound, 2500);
}
TEST(LibdeviceAccuracy, binary_float) {
  for (const BinaryRow &row : kBinaryRows) checkBinary<float>(row, row.inFloat, row.floatBound, 5000);
}
TEST(LibdeviceAccuracy, binary_double) {
  for (const BinaryRow &row : kBinaryRows) checkBinary<double>(row, row.inDouble, row.doubleBound, 5000);
}

// Many float arguments against the double function.
TEST(LibdeviceAccuracy, dense_float) {
  for (const UnaryRow &row : kUnaryRows) {
    bool slow = std::string_view("j0 j1 y0 y1 cyl_bessel_i0 cyl_bessel_i1 tgamma lgamma erfinv erfcinv normcdfinv")
                    .find(row.name) != std::string_view::npos;
    if (slow) continue;  // their float form is the double one, rounded
    Arguments arguments(freshSeed() + 2, row.low, row.high, row.everywhere);
    double worst = 0;
    float at = 0;
    for (int i = 0; i < 200000; ++i) {
      float x = arguments.next<float>();
      double exact = row.inDouble(x), got = row.inFloat(x);
      if (std::isnan(exact) != std::isnan(got)) worst = INFINITY, at = x;
      if (!(std::fabs(exact) < 0x1.fffffep127) || std::isinf(got) || std::isnan(exact)) continue;
      int exponent = exact == 0 ? -125 : std::max(-125, std::ilogb(exact) + 1);
      double error = std::fabs(got - exact) * std::exp2(24 - exponent);
      if (error > worst) worst = error, at = x;
    }
    EXPECT_LE(worst, row.floatBound) << row.name << "(" << std::hexfloat << at << ") = " << row.inFloat(at)
                                     << ", exactly " << row.inDouble(at) << ", seed " << std::dec << freshSeed();
  }
}

std::string tableOfBounds() {
  std::ostringstream table;
  table << "| function | float | double |\n|---|---|---|\n";
  for (const UnaryRow &row : kUnaryRows) {
    table << "| " << row.name
          << (row.everywhere ? "" : " on [" + (std::ostringstream() << row.low << ", " << row.high << "]").str())
          << " | " << row.floatBound << " | " << row.doubleBound << " |\n";
  }
  for (const BinaryRow &row : kBinaryRows)
    table << "| " << row.name << " | " << row.floatBound << " | " << row.doubleBound << " |\n";
  return table.str();
}

TEST(LibdeviceAccuracy, documented) {
  std::ifstream file(STRATA_SOURCE_DIR "/docs/libdevice.md");
  std::string page((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(page.find(tableOfBounds()), std::string::npos) << "docs/libdevice.md should hold this table:\n"
                                                           << tableOfBounds();
}

}  // namespace
}  // namespace strata::libdevice
