// SPDX-License-Identifier: Apache-2.0
// Floating point against the host's: rounding, flushing, saturation, NaN rules, the half types.
#include <cfenv>
#include <functional>

#include "tests/ptx/meaning.h"

namespace strata::ptx {
namespace {

using Float = MeaningTest;

struct Mode {
  const char *name;
  int host;
};
constexpr Mode kModes[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

std::uint32_t flushed(std::uint32_t bits) { return (bits & 0x7f800000) ? bits : bits & 0x80000000u; }
std::uint32_t saturated(std::uint32_t b) {
  float v = f32(b);
  return !(v > 0) ? 0 : v > 1 ? 0x3f800000 : b;
}

template <class T, class Fn>
T underMode(int mode, Fn fn) {
  std::fesetround(mode);
  volatile T result = fn();
  std::fesetround(FE_TONEAREST);
  return result;
}

TEST_F(Float, singleArithmeticInAllModes) {
  struct Op {
    const char *name;
    float (*fn)(float, float, float);
    unsigned inputs;
  };
  for (const Op &op :
       std::initializer_list<Op>{{"add",
                                  [](float a, float b, float) {
                                    volatile float x = a, y = b;
                                    return static_cast<float>(x + y);
                                  },
                                  2},
                                 {"sub",
                                  [](float a, float b, float) {
                                    volatile float x = a, y = b;
                                    return static_cast<float>(x - y);
                                  },
                                  2},
                                 {"mul",
                                  [](float a, float b, float) {
                                    volatile float x = a, y = b;
                                    return static_cast<float>(x * y);
                                  },
                                  2},
                                 {"div",
                                  [](float a, float b, float) {
                                    volatile float x = a, y = b;
                                    return static_cast<float>(x / y);
                                  },
                                  2},
                                 {"fma", [](float a, float b, float c) { return std::fma(a, b, c); }, 3}})
    for (const Mode &mode : kModes)
      for (int ftz = 0; ftz < 2; ++ftz) {
        std::string text = std::string(op.name) + "." + mode.name + (ftz ? ".ftz" : "") + ".f32 %r0, %r1, %r2" +
                           (op.inputs == 3 ? ", %r3;" : ";");
        Program program(text);
        for (int n = 0; n < 200; ++n) {
          std::uint32_t v[3] = {float32(), float32(), float32()};
          Interpreter lane;
          for (int k = 0; k < 3; ++k) lane.set("%r" + std::to_string(k + 1), v[k]);
          lane.run(program);
          if (ftz)
            for (std::uint32_t &x : v) x = flushed(x);
          std::uint32_t expected =
              bits(underMode<float>(mode.host, [&] { return op.fn(f32(v[0]), f32(v[1]), f32(v[2])); }));
          expectSameFloat(lane.r(0), ftz ? flushed(expected) : expected, text);
        }
      }
}

TEST_F(Float, doubleArithmeticInAllModes) {
  for (const Mode &mode : kModes) {
    std::string m = mode.name;
    Program program("add." + m + ".f64 %rd3, %rd1, %rd2; mul." + m + ".f64 %rd4, %rd1, %rd2; div." + m +
                    ".f64 %rd5, %rd1, %rd2; fma." + m + ".f64 %rd6, %rd1, %rd2, %rd7; sqrt." + m + ".f64 %rd0, %rd1;");
    for (int n = 0; n < 200; ++n) {
      std::uint64_t a = float64(), b = float64(), c = float64();
      Interpreter lane;
      lane.set("%rd1", a), lane.set("%rd2", b), lane.set("%rd7", c);
      lane.run(program);
      volatile double x = f64(a), y = f64(b), z = f64(c);
      expectSameDouble(lane.rd(3), bits(underMode<double>(mode.host, [&] { return x + y; })), "add");
      expectSameDouble(lane.rd(4), bits(underMode<double>(mode.host, [&] { return x * y; })), "mul");
      expectSameDouble(lane.rd(5), bits(underMode<double>(mode.host, [&] { return x / y; })), "div");
      expectSameDouble(lane.rd(6), bits(underMode<double>(mode.host, [&] { return std::fma(x, y, z); })), "fma");
      expectSameDouble(lane.rd(0), bits(underMode<double>(mode.host, [&] { return std::sqrt(x); })), "sqrt");
    }
  }
}

TEST_F(Float, saturation) {
  Program add("add.sat.f32 %r0, %r1, %r2;"), fma("fma.rn.ftz.sat.f32 %r0, %r1, %r2, %r3;");
  for (int n = 0; n < kRuns; ++n) {
    std::uint32_t a = float32(), b = float32(), c = float32();
    Interpreter lane;
    lane.set("%r1", a), lane.set("%r2", b), lane.set("%r3", c);
    lane.run(add);
    EXPECT_EQ(lane.r(0), saturated(bits(f32(a) + f32(b))));
    lane.run(fma);
    EXPECT_EQ(lane.r(0), saturated(flushed(bits(std::fma(f32(flushed(a)), f32(flushed(b)), f32(flushed(c)))))));
  }
}

TEST_F(Float, minMax) {
  Program plain("min.f32 %r0, %r1, %r2; max.f32 %r3, %r1, %r2;"),
      nan("min.NaN.f32 %r0, %r1, %r2; max.NaN.f32 %r3, %r1, %r2;"),
      sign("max.xorsign.abs.f32 %r0, %r1, %r2; min.ftz.xorsign.abs.f32 %r3, %r1, %r2;");
  auto less = [](float a, float b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); };
  for (int n = 0; n < kRuns; ++n) {
    std::uint32_t a = float32(), b = float32();
    float x = f32(a), y = f32(b);
    bool xNan = std::isnan(x), yNan = std::isnan(y);
    std::uint32_t least = xNan ? b : yNan ? a : less(x, y) ? a : b, most = xNan ? b : yNan ? a : less(x, y) ? b : a;
    if (xNan && yNan) least = most = 0x7fffffff;
    Interpreter lane;
    lane.set("%r1", a), lane.set("%r2", b);
    lane.run(plain);
    EXPECT_EQ(lane.r(0), least);
    EXPECT_EQ(lane.r(3), most);
    lane.run(nan);
    EXPECT_EQ(lane.r(0), xNan || yNan ? 0x7fffffff : least);
    EXPECT_EQ(lane.r(3), xNan || yNan ? 0x7fffffff : most);
    lane.run(sign);
    if (xNan || yNan) continue;
    std::uint32_t s = (a ^ b) & 0x80000000u;
    EXPECT_EQ(lane.r(0), bits(std::max(std::fabs(x), std::fabs(y))) | s);
    EXPECT_EQ(lane.r(3), bits(std::min(std::fabs(f32(flushed(a))), std::fabs(f32(flushed(b))))) | s);
  }
}

TEST_F(Float, signs) {
  Program program(
      "neg.f32 %r0, %r1; abs.f32 %r2, %r1; neg.ftz.f32 %r3, %r1; copysign.f32 %r4, %r1, %r5; neg.f64 %rd0, %rd1;");
  for (int n = 0; n < kRuns; ++n) {
    std::uint32_t a = float32(), b = float32();
    Interpreter lane;
    lane.set("%r1", a), lane.set("%r5", b), lane.set("%rd1", std::uint64_t(a) << 32);
    lane.run(program);
    EXPECT_EQ(lane.r(0), a ^ 0x80000000u);
    EXPECT_EQ(lane.r(2), a & 0x7fffffffu);
    EXPECT_EQ(lane.r(3), flushed(a) ^ 0x80000000u);
    EXPECT_EQ(lane.r(4), (a & 0x80000000u) | (b & 0x7fffffffu));
    EXPECT_EQ(lane.rd(0), std::uint64_t(a ^ 0x80000000u) << 32);
  }
}

TEST_F(Float, testp) {
  Program program(
      "testp.finite.f32 %p0, %r1; testp.infinite.f32 %p1, %r1; testp.number.f32 %p2, %r1; testp.notanumber.f32 %p3, "
      "%r1; testp.normal.f32 %p4, %r1; testp.subnormal.f32 %p5, %r1;");
  for (int n = 0; n < kRuns; ++n) {
    std::uint32_t a = float32();
    Interpreter lane;
    lane.set("%r1", a);
    lane.run(program);
    float x = f32(a);
    EXPECT_EQ(lane.p(0), std::isfinite(x));
    EXPECT_EQ(lane.p(1), std::isinf(x));
    EXPECT_EQ(lane.p(2), !std::isnan(x));
    EXPECT_EQ(lane.p(3), std::isnan(x));
    EXPECT_EQ(lane.p(4), std::isnormal(x) || x == 0);  // as recorded on an H200
    EXPECT_EQ(lane.p(5), std::fpclassify(x) == FP_SUBNORMAL);
  }
}

TEST_F(Float, comparisons) {
  struct Row {
    const char *op;
    std::function<bool(float, float)> fn;
  };
  auto unordered = [](float a, float b) { return std::isnan(a) || std::isnan(b); };
  for (const Row &row : std::vector<Row>{{"eq", [](float a, float b) { return a == b; }},
                                         {"lt", [](float a, float b) { return a < b; }},
                                         {"ge", [](float a, float b) { return a >= b; }},
                                         {"ne", [&](float a, float b) { return !unordered(a, b) && a != b; }},
                                         {"neu", [](float a, float b) { return a != b; }},
                                         {"equ", [&](float a, float b) { return unordered(a, b) || a == b; }},
                                         {"ltu", [](float a, float b) { return !(a >= b); }},
                                         {"leu", [](float a, float b) { return !(a > b); }},
                                         {"gtu", [](float a, float b) { return !(a <= b); }},
                                         {"geu", [](float a, float b) { return !(a < b); }},
                                         {"num", [&](float a, float b) { return !unordered(a, b); }},
                                         {"nan", unordered},
                                         {"le", [](float a, float b) { return a <= b; }},
                                         {"gt", [](float a, float b) { return a > b; }}}) {
    Program program(std::string("setp.") + row.op + ".f32 %p0|%p1, %r1, %r2; setp." + row.op +
                    ".ftz.f32 %p2, %r1, %r2; set." + row.op + ".f32.f32 %r0, %r1, %r2;");
    for (int n = 0; n < 100; ++n) {
      std::uint32_t a = float32(), b = n % 3 ? float32() : a;
      Interpreter lane;
      lane.set("%r1", a), lane.set("%r2", b);
      lane.run(program);
      bool t = row.fn(f32(a), f32(b));
      EXPECT_EQ(lane.p(0), t) << row.op << " " << f32(a) << " " << f32(b);
      EXPECT_EQ(lane.p(1), !t);
      EXPECT_EQ(lane.p(2), row.fn(f32(flushed(a)), f32(flushed(b))));
      EXPECT_EQ(lane.r(0), t ? 0x3f800000u : 0u);
    }
  }
}

TEST_F(Float, approximations) {
  struct Row {
    const char *op;
    double (*fn)(double);
  };
  for (const Row &row : std::initializer_list<Row>{{"rcp.approx", [](double x) { return 1 / x; }},
                                                   {"sqrt.approx", [](double x) { return std::sqrt(x); }},
                                                   {"rsqrt.approx", [](double x) { return 1 / std::sqrt(x); }},
                                                   {"ex2.approx", [](double x) { return std::exp2(x); }},
                                                   {"lg2.approx", [](double x) { return std::log2(x); }},
                                                   {"sin.approx", [](double x) { return std::sin(x); }}}) {
    Program program(std::string(row.op) + ".ftz.f32 %r0, %r1;");
    for (int n = 0; n < 100; ++n) {
      std::uint32_t a = float32();
      Interpreter lane;
      lane.set("%r1", a);
      lane.run(program);
      expectSameFloat(lane.r(0), flushed(bits(static_cast<float>(row.fn(f32(flushed(a)))))), row.op);
    }
  }
  Interpreter lane;
  lane.set("%rd1", bits(3.0)), lane.set("%rd2", bits(16.0)), lane.set("%r1", bits(7.0f)), lane.set("%r2", bits(2.0f));
  lane.run(
      Program("rcp.approx.ftz.f64 %rd3, %rd1; rsqrt.approx.f64 %rd4, %rd2; rcp.rn.f32 %r3, %r2; div.approx.f32 %r4, "
              "%r1, %r2; div.full.f32 %r5, %r1, %r2;"));
  EXPECT_EQ(lane.rd(3), bits(1 / 3.0) & 0xffffffff00000000ull);
  EXPECT_EQ(lane.rd(4), bits(0.25));
  EXPECT_EQ(lane.r(3), bits(0.5f));
  EXPECT_EQ(lane.r(4), bits(3.5f));
  EXPECT_EQ(lane.r(5), bits(3.5f));
}

// ---- Half types: results rounded once -------------------------------------------------------------------

std::uint16_t toHalf(long double v, bool bfloat) {
  return static_cast<std::uint16_t>(bfloat ? roundTo(v, 8, 7, Rounding::nearestEven)
                                           : roundTo(v, 5, 10, Rounding::nearestEven));
}
// x * y + z rounded once. The product is exact; where the sum lies in the middle between two halves up to
// what long double cannot hold, the addend's sign decides.
std::uint16_t fused(long double x, long double y, long double z, bool bfloat) {
  long double product = x * y, sum = product + z;
  bool lostAddend = std::isfinite(sum) && sum == product && z != 0,
       lostProduct = std::isfinite(sum) && sum == z && product != 0;
  if (lostAddend) sum = std::nextafterl(sum, z > 0 ? INFINITY : -INFINITY);
  if (lostProduct) sum = std::nextafterl(sum, product > 0 ? INFINITY : -INFINITY);
  return toHalf(sum, bfloat);
}
void expectSameHalf(std::uint16_t actual, std::uint16_t expected, bool bfloat, const std::string &what) {
  if (std::isnan(halfToDouble(actual, bfloat)) && std::isnan(halfToDouble(expected, bfloat))) return;
  EXPECT_EQ(actual, expected) << what << ": " << halfToDouble(actual, bfloat) << " for "
                              << halfToDouble(expected, bfloat);
}

TEST_F(Float, halves) {
  for (bool bfloat : {false, true}) {
    std::string type = bfloat ? "bf16" : "f16";
    Program program("add." + type + " %h4, %h1, %h2; sub." + type + " %h5, %h1, %h2; mul." + type +
                    " %h6, %h1, %h2; fma.rn." + type + " %h7, %h1, %h2, %h3;");
    Program packed("fma.rn." + type + "x2 %r0, %r1, %r2, %r3; mul." + type + "x2 %r4, %r1, %r2; neg." + type +
                   "x2 %r5, %r1;");
    for (int n = 0; n < kRuns * 3; ++n) {
      std::uint16_t a = half(), b = half(), c = half();
      long double x = halfToDouble(a, bfloat), y = halfToDouble(b, bfloat), z = halfToDouble(c, bfloat);
      Interpreter lane;
      lane.set("%h1", a), lane.set("%h2", b), lane.set("%h3", c);
      lane.run(program);
      expectSameHalf(lane.h(4), toHalf(x + y, bfloat), bfloat, "add");
      expectSameHalf(lane.h(5), toHalf(x - y, bfloat), bfloat, "sub");
      expectSameHalf(lane.h(6), toHalf(x * y, bfloat), bfloat, "mul");
      expectSameHalf(lane.h(7), fused(x, y, z, bfloat), bfloat, "fma");
      std::uint16_t a2 = half(), b2 = half(), c2 = half();
      lane.set("%r1", a | std::uint32_t(a2) << 16), lane.set("%r2", b | std::uint32_t(b2) << 16),
          lane.set("%r3", c | std::uint32_t(c2) << 16);
      lane.run(packed);
      expectSameHalf(lane.r(0) & 0xffff, fused(x, y, z, bfloat), bfloat, "fma low");
      x = halfToDouble(a2, bfloat), y = halfToDouble(b2, bfloat), z = halfToDouble(c2, bfloat);
      expectSameHalf(lane.r(0) >> 16, fused(x, y, z, bfloat), bfloat, "fma high");
      expectSameHalf(lane.r(4) >> 16, toHalf(x * y, bfloat), bfloat, "mul high");
      EXPECT_EQ(lane.r(5), (a | std::uint32_t(a2) << 16) ^ 0x80008000u);
    }
  }
}
TEST_F(Float, halfVariants) {
  Program relu("fma.rn.relu.f16 %h0, %h1, %h2, %h3;"), sat("add.sat.f16 %h0, %h1, %h2;"),
      ftz("mul.ftz.f16 %h0, %h1, %h2;"), nan("max.NaN.bf16 %h0, %h1, %h2;");
  for (int n = 0; n < kRuns; ++n) {
    std::uint16_t a = half(), b = half(), c = half();
    Interpreter lane;
    lane.set("%h1", a), lane.set("%h2", b), lane.set("%h3", c);
    long double x = halfToDouble(a, false), y = halfToDouble(b, false), z = halfToDouble(c, false);
    lane.run(relu);
    std::uint16_t sum3 = fused(x, y, z, false);
    EXPECT_EQ(lane.h(0), std::isnan(x * y + z) ? 0x7fff : sum3 & 0x8000 ? 0 : sum3);
    lane.run(sat);
    std::uint16_t sum = toHalf(x + y, false);
    EXPECT_EQ(lane.h(0), !(x + y > 0) ? 0 : sum > 0x3c00 ? 0x3c00 : sum);
    lane.run(ftz);
    auto flush = [](std::uint16_t h) { return static_cast<std::uint16_t>(h & 0x7c00 ? h : h & 0x8000); };
    expectSameHalf(
        lane.h(0),
        flush(toHalf(static_cast<long double>(halfToDouble(flush(a), false)) * halfToDouble(flush(b), false), false)),
        false, "mul.ftz");
    lane.run(nan);
    double p = halfToDouble(a, true), q = halfToDouble(b, true);
    if (std::isnan(p) || std::isnan(q)) EXPECT_EQ(lane.h(0), 0x7fff);
    else if (p != q) EXPECT_EQ(lane.h(0), p > q ? a : b);
  }
}
TEST_F(Float, packedComparisons) {
  Program program("setp.lt.f16x2 %p0|%p1, %r1, %r2; set.ge.u32.f16x2 %r0, %r1, %r2; set.ge.f16x2.f16x2 %r3, %r1, %r2;");
  for (int n = 0; n < kRuns; ++n) {
    std::uint16_t v[4] = {half(), half(), half(), half()};
    Interpreter lane;
    lane.set("%r1", v[0] | std::uint32_t(v[1]) << 16), lane.set("%r2", v[2] | std::uint32_t(v[3]) << 16);
    lane.run(program);
    double a = halfToDouble(v[0], false), b = halfToDouble(v[1], false), c = halfToDouble(v[2], false),
           d = halfToDouble(v[3], false);
    EXPECT_EQ(lane.p(0), a < c);
    EXPECT_EQ(lane.p(1), b < d);
    EXPECT_EQ(lane.r(0), (a >= c ? 0xffffu : 0) | (b >= d ? 0xffff0000u : 0));
    EXPECT_EQ(lane.r(3), (a >= c ? 0x3c00u : 0) | (b >= d ? 0x3c000000u : 0));
  }
}
TEST_F(Float, pairsOfSingles) {
  Program program("fma.rn.f32x2 %rd0, %rd1, %rd2, %rd3; add.rz.ftz.f32x2 %rd4, %rd1, %rd2;");
  for (int n = 0; n < kRuns; ++n) {
    std::uint32_t v[6];
    for (std::uint32_t &x : v) x = float32();
    Interpreter lane;
    for (int k = 0; k < 3; ++k) lane.set("%rd" + std::to_string(k + 1), v[2 * k] | std::uint64_t(v[2 * k + 1]) << 32);
    lane.run(program);
    for (int e = 0; e < 2; ++e) {
      expectSameFloat(static_cast<std::uint32_t>(lane.rd(0) >> (32 * e)),
                      bits(std::fma(f32(v[e]), f32(v[2 + e]), f32(v[4 + e]))), "fma");
      volatile float x = f32(flushed(v[e])), y = f32(flushed(v[2 + e]));
      expectSameFloat(static_cast<std::uint32_t>(lane.rd(4) >> (32 * e)),
                      flushed(bits(underMode<float>(FE_TOWARDZERO, [&] { return x + y; }))), "add");
    }
  }
}

}  // namespace
}  // namespace strata::ptx
