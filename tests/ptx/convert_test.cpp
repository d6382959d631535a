// SPDX-License-Identifier: Apache-2.0
// cvt: every integer pair, floats in all rounding modes, the narrow formats.
#include "tests/ptx/meaning.h"

namespace strata::ptx {
namespace {

using Convert = MeaningTest;
using Wide = __int128;

struct Shape {
  const char *type;
  unsigned bits;
  bool isSigned;
};
constexpr Shape kShapes[] = {{"u8", 8, false},   {"s8", 8, true},   {"u16", 16, false}, {"s16", 16, true},
                             {"u32", 32, false}, {"s32", 32, true}, {"u64", 64, false}, {"s64", 64, true}};
std::string reg(unsigned bits) { return bits <= 16 ? "%h" : bits == 32 ? "%r" : "%rd"; }
unsigned holds(unsigned bits) { return bits <= 16 ? 16 : bits; }
Wide value(std::uint64_t v, const Shape &s) {
  return s.isSigned ? Wide(static_cast<std::int64_t>(v << (64 - s.bits)) >> (64 - s.bits))
                    : Wide(v & (~0ull >> (64 - s.bits)));
}
Wide least(const Shape &s) { return s.isSigned ? -(Wide(1) << (s.bits - 1)) : 0; }
Wide most(const Shape &s) { return (Wide(1) << (s.bits - (s.isSigned ? 1 : 0))) - 1; }
// A result as it stands in its register: narrow ones are extended by their type's sign.
std::uint64_t inRegister(Wide v, const Shape &s) {
  Wide cut = value(static_cast<std::uint64_t>(v), s);
  return static_cast<std::uint64_t>(cut) & (~0ull >> (64 - holds(s.bits)));
}

struct Mode {
  const char *to, *integral;
  Rounding rounding;
};
constexpr Mode kModes[] = {{"rn", "rni", Rounding::nearestEven},
                           {"rz", "rzi", Rounding::zero},
                           {"rm", "rmi", Rounding::down},
                           {"rp", "rpi", Rounding::up}};

TEST_F(Convert, integerToInteger) {
  for (const Shape &from : kShapes)
    for (const Shape &to : kShapes)
      for (bool sat : {false, true}) {
        std::string text = std::string("cvt.") + (sat ? "sat." : "") + to.type + "." + from.type + " " + reg(to.bits) +
                           "0, " + reg(from.bits) + "1;";
        Program program(text);
        for (int n = 0; n < 40; ++n) {
          std::uint64_t v = integer(holds(from.bits));
          Interpreter lane;
          lane.set(reg(from.bits) + "1", v);
          lane.run(program);
          Wide exact = value(v, from);
          if (sat) exact = exact < least(to) ? least(to) : exact > most(to) ? most(to) : exact;
          ASSERT_EQ(static_cast<std::uint64_t>(lane.get(reg(to.bits) + "0")), inRegister(exact, to))
              << text << " of " << v;
        }
      }
}

TEST_F(Convert, integerToFloat) {
  for (const Shape &from : kShapes)
    for (const Mode &mode : kModes) {
      std::string r = reg(from.bits), head = std::string("cvt.") + mode.to;
      std::string text = head + ".f32." + from.type + " %r0, " + r + "1; " + head + ".f64." + from.type + " %rd0, " +
                         r + "1; " + head + ".f16." + from.type + " %h0, " + r + "1;";
      if (from.bits > 8) text += head + ".bf16." + from.type + " %h2, " + r + "1;";
      Program program(text);
      for (int n = 0; n < 40; ++n) {
        std::uint64_t v = integer(holds(from.bits));
        Interpreter lane;
        lane.set(r + "1", v);
        lane.run(program);
        auto exact = static_cast<long double>(value(v, from));
        if (r != "%r") EXPECT_EQ(lane.r(0), roundTo(exact, 8, 23, mode.rounding)) << text << v;
        if (r != "%rd") EXPECT_EQ(lane.rd(0), roundTo(exact, 11, 52, mode.rounding)) << text << v;
        if (r != "%h") EXPECT_EQ(lane.h(0), roundTo(exact, 5, 10, mode.rounding)) << text << v;
        if (from.bits > 16) EXPECT_EQ(lane.h(2), roundTo(exact, 8, 7, mode.rounding)) << text << v;
      }
    }
}

double integral(double v, Rounding r) {
  switch (r) {
    case Rounding::zero: return std::trunc(v);
    case Rounding::down: return std::floor(v);
    case Rounding::up: return std::ceil(v);
    default: return std::nearbyint(v);
  }
}
TEST_F(Convert, floatToInteger) {
  for (const Shape &to : kShapes)
    for (const Mode &mode : kModes) {
      std::string d = reg(to.bits);
      Program single(std::string("cvt.") + mode.integral + "." + to.type + ".f32 " + d + "0, %r1;"),
          ftz(std::string("cvt.") + mode.integral + ".ftz." + to.type + ".f32 " + d + "0, %r1;"),
          twofold(std::string("cvt.") + mode.integral + "." + to.type + ".f64 " + d + "0, %rd1;");
      auto expected = [&](double v, bool fromDouble) -> std::uint64_t {
        if (std::isnan(v)) return inRegister(fromDouble || to.bits == 64 ? Wide(1) << (to.bits - 1) : 0, to);
        double whole = integral(v, mode.rounding);
        Wide exact = whole >= 0x1p64 ? Wide(1) << 64 : whole < -0x1p63 ? -(Wide(1) << 64) : static_cast<Wide>(whole);
        return inRegister(exact < least(to) ? least(to) : exact > most(to) ? most(to) : exact, to);
      };
      for (int n = 0; n < 60; ++n) {
        std::uint32_t a = float32();
        std::uint64_t b = float64();
        Interpreter lane;
        lane.set("%r1", a), lane.set("%rd1", b);
        lane.run(single);
        ASSERT_EQ(static_cast<std::uint64_t>(lane.get(d + "0")), expected(f32(a), false))
            << to.type << mode.to << f32(a);
        lane.run(ftz);
        bool subnormal = !(a & 0x7f800000);
        ASSERT_EQ(static_cast<std::uint64_t>(lane.get(d + "0")), expected(subnormal ? 0.0 : f32(a), false));
        lane.run(twofold);
        ASSERT_EQ(static_cast<std::uint64_t>(lane.get(d + "0")), expected(f64(b), true))
            << to.type << mode.to << f64(b);
      }
    }
}

TEST_F(Convert, floatToFloat) {
  for (const Mode &mode : kModes) {
    std::string m = mode.to;
    Program program("cvt." + m + ".f32.f64 %r2, %rd1; cvt." + m + ".f16.f64 %h0, %rd1; cvt." + m +
                    ".f16.f32 %h1, %r1; cvt." + m + ".bf16.f64 %h2, %rd1; cvt." + m +
                    ".bf16.f32 %h3, %r1; cvt.f64.f32 %rd2, %r1; cvt.f32.f16 %r3, %h4; cvt.f32.bf16 %r4, %h4; cvt." + m +
                    ".f16.bf16 %h5, %h4;");
    for (int n = 0; n < kRuns; ++n) {
      std::uint32_t a = float32();
      std::uint64_t b = float64();
      std::uint16_t h = half();
      Interpreter lane;
      lane.set("%r1", a), lane.set("%rd1", b), lane.set("%h4", h);
      lane.run(program);
      expectSameFloat(lane.r(2), roundTo(f64(b), 8, 23, mode.rounding), "f32.f64");
      EXPECT_EQ(lane.h(0), roundTo(f64(b), 5, 10, mode.rounding)) << f64(b);
      EXPECT_EQ(lane.h(1), roundTo(f32(a), 5, 10, mode.rounding)) << f32(a);
      EXPECT_EQ(lane.h(2), roundTo(f64(b), 8, 7, mode.rounding));
      EXPECT_EQ(lane.h(3), roundTo(f32(a), 8, 7, mode.rounding));
      expectSameDouble(lane.rd(2), bits(static_cast<double>(f32(a))), "f64.f32");
      expectSameFloat(lane.r(3), bits(static_cast<float>(halfToDouble(h, false))), "f32.f16");
      expectSameFloat(lane.r(4), bits(static_cast<float>(halfToDouble(h, true))), "f32.bf16");
      EXPECT_EQ(lane.h(5), roundTo(halfToDouble(h, true), 5, 10, mode.rounding));
    }
  }
}
TEST_F(Convert, roundsToIntegralValues) {
  for (const Mode &mode : kModes) {
    std::string m = mode.integral;
    Program program("cvt." + m + ".f32.f32 %r0, %r1; cvt." + m +
                    ".f64.f64 %rd0, %rd1; cvt.sat.f32.f32 %r2, %r1; cvt.ftz.f32.f32 %r3, %r1; cvt.f32.f32 %r4, %r1;");
    for (int n = 0; n < kRuns; ++n) {
      std::uint32_t a = float32();
      std::uint64_t b = float64();
      Interpreter lane;
      lane.set("%r1", a), lane.set("%rd1", b);
      lane.run(program);
      expectSameFloat(lane.r(0), bits(static_cast<float>(integral(f32(a), mode.rounding))), m);
      expectSameDouble(lane.rd(0), bits(integral(f64(b), mode.rounding)), m);
      float v = f32(a);
      EXPECT_EQ(lane.r(2), !(v > 0) ? 0u : v > 1 ? 0x3f800000u : a);
      EXPECT_EQ(lane.r(3), a & 0x7f800000 ? a : a & 0x80000000u);
      EXPECT_EQ(lane.r(4), a);
    }
  }
}
TEST_F(Convert, pairsReluAndSatfinite) {
  Program program(
      "cvt.rn.f16x2.f32 %r3, %r1, %r2; cvt.rz.relu.bf16x2.f32 %r4, %r1, %r2; cvt.rn.satfinite.f16.f32 %h0, %r1; "
      "cvt.rn.relu.satfinite.bf16.f32 %h1, %r1;");
  for (int n = 0; n < kRuns; ++n) {
    std::uint32_t a = float32(), b = float32();
    Interpreter lane;
    lane.set("%r1", a), lane.set("%r2", b);
    lane.run(program);
    EXPECT_EQ(lane.r(3),
              roundTo(f32(a), 5, 10, Rounding::nearestEven) << 16 | roundTo(f32(b), 5, 10, Rounding::nearestEven));
    auto relu = [](float v, Rounding r) { return std::isnan(v) ? 0x7fffull : v > 0 ? roundTo(v, 8, 7, r) : 0; };
    EXPECT_EQ(lane.r(4), relu(f32(a), Rounding::zero) << 16 | relu(f32(b), Rounding::zero));
    std::uint64_t h = roundTo(f32(a), 5, 10, Rounding::nearestEven);
    EXPECT_EQ(lane.h(0), (h & 0x7fff) == 0x7c00 ? h - 1 : h);
    std::uint64_t g = relu(f32(a), Rounding::nearestEven);
    EXPECT_EQ(lane.h(1), g == 0x7f80 ? 0x7f7f : g);
  }
}
TEST_F(Convert, tf32) {
  Program program("cvt.rna.tf32.f32 %r2, %r1; cvt.rn.tf32.f32 %r3, %r1; cvt.rz.relu.tf32.f32 %r4, %r1;");
  for (int n = 0; n < kRuns; ++n) {
    std::uint32_t a = float32();
    Interpreter lane;
    lane.set("%r1", a);
    lane.run(program);
    auto tf32 = [&](Rounding r) {
      return std::isnan(f32(a)) ? 0x7fffffffu : static_cast<std::uint32_t>(roundTo(f32(a), 8, 10, r) << 13);
    };
    EXPECT_EQ(lane.r(2), tf32(Rounding::nearestAway)) << f32(a);
    EXPECT_EQ(lane.r(3), tf32(Rounding::nearestEven)) << f32(a);
    EXPECT_EQ(lane.r(4), a >> 31 && !std::isnan(f32(a)) ? 0 : tf32(Rounding::zero)) << f32(a);
  }
}

// An 8-bit float as a number; e4m3 has no infinity and one NaN.
double narrowValue(unsigned byte, bool e5m2) {
  unsigned mantissaBits = e5m2 ? 2 : 3;
  int bias = e5m2 ? 15 : 7, exponent = static_cast<int>(byte >> mantissaBits & (e5m2 ? 31 : 15)),
      mantissa = static_cast<int>(byte & ((1u << mantissaBits) - 1));
  double v;
  if (e5m2 && exponent == 31) v = mantissa ? NAN : INFINITY;
  else if (!e5m2 && (byte & 0x7f) == 0x7f) v = NAN;
  else
    v = exponent ? std::ldexp((1 << mantissaBits) + mantissa, exponent - bias - static_cast<int>(mantissaBits))
                 : std::ldexp(mantissa, 1 - bias - static_cast<int>(mantissaBits));
  return byte & 0x80 ? -v : v;
}
// By search: the nearest finite value, ties to the even code.
unsigned nearestNarrow(double v, bool e5m2) {
  if (std::isnan(v)) return 0x7f;
  unsigned best = 0;
  double distance = INFINITY;
  for (unsigned code = 0; code < 0x7f; ++code) {
    double candidate = narrowValue(code, e5m2);
    if (!std::isfinite(candidate)) continue;
    double d = std::fabs(std::min(std::fabs(v), 1e5) - candidate);
    if (d < distance || (d == distance && !(code & 1))) best = code, distance = d;
  }
  return best | (std::signbit(v) ? 0x80 : 0);
}
TEST_F(Convert, eightBitFloats) {
  for (bool e5m2 : {false, true}) {
    std::string type = e5m2 ? "e5m2x2" : "e4m3x2";
    Program to("cvt.rn.satfinite." + type + ".f32 %h0, %r1, %r2; cvt.rn.satfinite.relu." + type +
               ".f32 %h2, %r1, %r2;"),
        from("cvt.rn.f16x2." + type + " %r0, %h1;"), halves("cvt.rn.satfinite." + type + ".f16x2 %h0, %r1;");
    for (int n = 0; n < kRuns; ++n) {
      auto any = [&] {
        return random() % 2 ? float32()
                            : bits(std::ldexp(static_cast<float>(static_cast<int>(random() % 4096) - 2048),
                                              static_cast<int>(random() % 30) - 26));
      };
      std::uint32_t a = any(), b = any();
      Interpreter lane;
      lane.set("%r1", a), lane.set("%r2", b);
      lane.run(to);
      EXPECT_EQ(lane.h(0), nearestNarrow(f32(a), e5m2) << 8 | nearestNarrow(f32(b), e5m2)) << f32(a) << " " << f32(b);
      EXPECT_EQ(lane.h(2) >> 8, std::isnan(f32(a)) ? 0x7fu : a >> 31 ? 0 : nearestNarrow(f32(a), e5m2));
      std::uint16_t h = half();
      lane.set("%r1", h);
      lane.run(halves);
      EXPECT_EQ(lane.h(0), nearestNarrow(halfToDouble(h, false), e5m2));
    }
    for (unsigned code = 0; code < 256; ++code) {
      Interpreter lane;
      lane.set("%h1", code << 8 | (255 - code));
      lane.run(from);
      auto half = [&](unsigned c) { return roundTo(narrowValue(c, e5m2), 5, 10, Rounding::nearestEven); };
      EXPECT_EQ(lane.r(0), half(code) << 16 | half(255 - code)) << code;
    }
  }
}
TEST_F(Convert, packsIntegers) {
  Program s16("cvt.pack.sat.s16.s32 %r0, %r1, %r2;"), u8("cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, %r3;"),
      s4("cvt.pack.sat.s4.s32.b32 %r0, %r1, %r2, %r3;");
  for (int n = 0; n < kRuns; ++n) {
    auto a = static_cast<std::int32_t>(integer(32)), b = static_cast<std::int32_t>(integer(32));
    auto c = static_cast<std::uint32_t>(integer(32));
    Interpreter lane;
    lane.set("%r1", static_cast<std::uint32_t>(a)), lane.set("%r2", static_cast<std::uint32_t>(b)), lane.set("%r3", c);
    auto clamp = [](std::int32_t v, std::int32_t lo, std::int32_t hi) {
      return static_cast<std::uint32_t>(std::min(std::max(v, lo), hi));
    };
    lane.run(s16);
    EXPECT_EQ(lane.r(0), clamp(a, -32768, 32767) << 16 | (clamp(b, -32768, 32767) & 0xffff));
    lane.run(u8);
    EXPECT_EQ(lane.r(0), c << 16 | clamp(a, 0, 255) << 8 | clamp(b, 0, 255));
    lane.run(s4);
    EXPECT_EQ(lane.r(0), c << 8 | (clamp(a, -8, 7) & 15) << 4 | (clamp(b, -8, 7) & 15));
  }
}

}  // namespace
}  // namespace strata::ptx
