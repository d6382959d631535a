// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic and the carry chain against host formulas.
#include <functional>

#include "tests/ptx/meaning.h"

namespace strata::ptx {
namespace {

using Integer = MeaningTest;
using Wide = __int128;

struct Shape {
  const char *type;
  unsigned bits;
  bool isSigned;
};
constexpr Shape kShapes[] = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
                             {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};

Wide value(std::uint64_t v, Shape s) {
  if (!s.isSigned) return v;
  return static_cast<std::int64_t>(v << (64 - s.bits)) >> (64 - s.bits);
}
std::string registerOf(unsigned bits) { return bits == 16 ? "%h" : bits == 32 ? "%r" : "%rd"; }
std::uint64_t cut(Wide v, unsigned bits) {
  return bits == 64 ? static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v) & ((1ull << bits) - 1);
}

// Runs `op.type d, a, b, c` for every type and compares with fn on exact integers, modulo the width.
void check(Integer &test, const std::string &op, std::function<Wide(Wide, Wide, Wide, Shape)> fn, unsigned inputs,
           std::function<std::uint64_t(unsigned)> any, unsigned resultFactor = 1, bool wideC = false) {
  for (Shape s : kShapes) {
    if (resultFactor == 2 && s.bits == 64) continue;
    std::string r = registerOf(s.bits), d = registerOf(s.bits * resultFactor);
    std::string text = op + "." + s.type + " " + d + "0";
    for (unsigned k = 1; k <= inputs; ++k) text += ", " + (k == 3 && wideC ? d : r) + std::to_string(k);
    Program program(text + ";");
    for (int n = 0; n < 200; ++n) {
      Interpreter lane;
      std::uint64_t v[4] = {};
      for (unsigned k = 1; k <= inputs; ++k) {
        bool wide = k == 3 && wideC;
        v[k] = any(wide ? 2 * s.bits : s.bits);
        lane.set((wide ? d : r) + std::to_string(k), v[k]);
      }
      lane.run(program);
      Shape c = s;
      if (wideC) c.bits *= 2;
      Wide expected = fn(value(v[1], s), value(v[2], s), value(v[3], c), s);
      ASSERT_EQ(static_cast<std::uint64_t>(lane.get(d + "0")), cut(expected, s.bits * resultFactor))
          << text << " of " << v[1] << ", " << v[2] << ", " << v[3];
    }
  }
  (void)test;
}
#define CHECK_OP(op, inputs, expression, ...) \
  check(*this, op, [](Wide a, Wide b, Wide c, Shape s) -> Wide { (void)a, (void)b, (void)c, (void)s; return expression; }, inputs, [this](unsigned n) { return integer(n); } __VA_OPT__(, ) __VA_ARGS__)

TEST_F(Integer, addSubMul) {
  CHECK_OP("add", 2, a + b);
  CHECK_OP("sub", 2, a - b);
  CHECK_OP("mul.lo", 2, static_cast<Wide>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)));
  CHECK_OP("mul.hi", 2,
           s.isSigned || s.bits < 64
               ? (a * b) >> s.bits
               : static_cast<Wide>((static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)) >> 64));
  CHECK_OP("mul.wide", 2, a * b, 2);
}
TEST_F(Integer, mad) {
  CHECK_OP("mad.lo", 3,
           static_cast<Wide>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b) +
                             static_cast<unsigned __int128>(c)));
  CHECK_OP("mad.hi", 3,
           (s.isSigned || s.bits < 64
                ? (a * b) >> s.bits
                : static_cast<Wide>((static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)) >> 64)) +
               c);
  CHECK_OP("mad.wide", 3, a * b + c, 2, true);
}
TEST_F(Integer, divRem) {
  CHECK_OP("div", 2, b == 0 ? Wide(-1) : a / b);
  CHECK_OP("rem", 2, b == 0 ? a : a % b);
}
TEST_F(Integer, minMaxSad) {
  CHECK_OP("min", 2, a < b ? a : b);
  CHECK_OP("max", 2, a > b ? a : b);
  CHECK_OP("sad", 3, c + (a < b ? b - a : a - b));
}

// One instruction on %r or %rd operands, its result compared with fn of them.
template <class Fn>
void each(const std::string &text, int runs, std::function<std::uint64_t(int)> input, Fn expected) {
  Program program(text);
  for (int n = 0; n < runs; ++n) {
    Interpreter lane;
    std::uint64_t v[5] = {};
    for (int k = 1; k < 5; ++k) {
      v[k] = input(k);
      lane.set("%r" + std::to_string(k), v[k] & 0xffffffff);
      lane.set("%rd" + std::to_string(k), v[k]);
    }
    lane.run(program);
    std::uint64_t want = expected(v);
    std::uint64_t got = text.find("%rd0") != std::string::npos ? lane.rd(0) : lane.r(0);
    ASSERT_EQ(got, want) << text << " of " << v[1] << ", " << v[2] << ", " << v[3] << ", " << v[4];
  }
}
std::int32_t s32(std::uint64_t v) { return static_cast<std::int32_t>(v); }
std::uint32_t clampS32(Wide v) {
  return static_cast<std::uint32_t>(v > INT32_MAX   ? INT32_MAX
                                    : v < INT32_MIN ? INT32_MIN
                                                    : static_cast<std::int64_t>(v));
}

TEST_F(Integer, saturating) {
  auto any = [&](int) { return integer(32); };
  each("add.sat.s32 %r0, %r1, %r2;", kRuns, any, [](auto *v) { return clampS32(Wide(s32(v[1])) + s32(v[2])); });
  each("sub.sat.s32 %r0, %r1, %r2;", kRuns, any, [](auto *v) { return clampS32(Wide(s32(v[1])) - s32(v[2])); });
  each("mad.hi.sat.s32 %r0, %r1, %r2, %r3;", kRuns, any,
       [](auto *v) { return clampS32((Wide(s32(v[1])) * s32(v[2]) >> 32) + s32(v[3])); });
}
TEST_F(Integer, mul24) {
  auto any = [&](int) { return integer(32); };
  auto s24 = [](std::uint64_t v) { return static_cast<std::int64_t>(s32(v << 8)) >> 8; };
  auto u24 = [](std::uint64_t v) { return v & 0xffffff; };
  each("mul24.lo.u32 %r0, %r1, %r2;", kRuns, any,
       [&](auto *v) { return static_cast<std::uint32_t>(u24(v[1]) * u24(v[2])); });
  each("mul24.hi.u32 %r0, %r1, %r2;", kRuns, any,
       [&](auto *v) { return static_cast<std::uint32_t>(u24(v[1]) * u24(v[2]) >> 16); });
  each("mul24.hi.s32 %r0, %r1, %r2;", kRuns, any,
       [&](auto *v) { return static_cast<std::uint32_t>(s24(v[1]) * s24(v[2]) >> 16); });
  each("mad24.lo.s32 %r0, %r1, %r2, %r3;", kRuns, any,
       [&](auto *v) { return static_cast<std::uint32_t>(s24(v[1]) * s24(v[2]) + s32(v[3])); });
  each("mad24.hi.sat.s32 %r0, %r1, %r2, %r3;", kRuns, any, [&](auto *v) {
    return clampS32(s32(static_cast<std::uint64_t>(s24(v[1]) * s24(v[2]) >> 16)) + Wide(s32(v[3])));
  });
}
TEST_F(Integer, absNeg) {
  auto any = [&](int) { return integer(64); };
  each("abs.s32 %r0, %r1;", kRuns, any,
       [](auto *v) { return static_cast<std::uint32_t>(s32(v[1]) < 0 ? 0 - v[1] : v[1]); });
  each("neg.s64 %rd0, %rd1;", kRuns, any, [](auto *v) { return 0 - v[1]; });
  each("abs.s64 %rd0, %rd1;", kRuns, any,
       [](auto *v) { return static_cast<std::int64_t>(v[1]) < 0 ? 0 - v[1] : v[1]; });
}

// A 128-bit sum, difference and multiply-add, as compilers write them.
TEST_F(Integer, carryChains) {
  Program add("add.cc.u32 %r4, %r0, %r2;\naddc.cc.u32 %r5, %r1, %r3;\naddc.u32 %r6, 0, 0;");
  Program sub("sub.cc.u64 %rd4, %rd0, %rd2;\nsubc.cc.u64 %rd5, %rd1, %rd3;\nsubc.u64 %rd6, 0, 0;");
  Program mad("mad.lo.cc.u32 %r4, %r0, %r1, %r2;\nmadc.hi.u32 %r5, %r0, %r1, %r3;");
  for (int n = 0; n < kRuns; ++n) {
    std::uint64_t a = integer(64), b = integer(64), c = integer(64), d = integer(64);
    Interpreter lane;
    lane.set("%r0", a & 0xffffffff), lane.set("%r1", a >> 32), lane.set("%r2", b & 0xffffffff),
        lane.set("%r3", b >> 32);
    lane.run(add);
    EXPECT_EQ(lane.r(4) | std::uint64_t(lane.r(5)) << 32, a + b);
    EXPECT_EQ(lane.r(6), static_cast<std::uint32_t>(a + b < a));
    lane.run(mad);
    std::uint64_t product = (a & 0xffffffff) * (a >> 32) + b;
    EXPECT_EQ(lane.r(4) | std::uint64_t(lane.r(5)) << 32, product);
    lane.set("%rd0", a), lane.set("%rd1", b), lane.set("%rd2", c), lane.set("%rd3", d);
    lane.run(sub);
    auto x = static_cast<unsigned __int128>(b) << 64 | a, y = static_cast<unsigned __int128>(d) << 64 | c;
    EXPECT_EQ(lane.rd(4), static_cast<std::uint64_t>(x - y));
    EXPECT_EQ(lane.rd(5), static_cast<std::uint64_t>((x - y) >> 64));
    EXPECT_EQ(lane.rd(6), x < y ? ~0ull : 0);
  }
}

TEST_F(Integer, dotProducts) {
  auto any = [&](int) { return integer(32); };
  auto sb = [](std::uint64_t v, int k) { return static_cast<std::int8_t>(v >> (8 * k)); };
  auto ub = [](std::uint64_t v, int k) { return static_cast<std::uint8_t>(v >> (8 * k)); };
  each("dp4a.s32.u32 %r0, %r1, %r2, %r3;", kRuns, any, [&](auto *v) {
    std::int64_t sum = s32(v[3]);
    for (int k = 0; k < 4; ++k) sum += sb(v[1], k) * ub(v[2], k);
    return static_cast<std::uint32_t>(sum);
  });
  each("dp4a.u32.u32 %r0, %r1, %r2, %r3;", kRuns, any, [&](auto *v) {
    std::uint64_t sum = v[3];
    for (int k = 0; k < 4; ++k) sum += ub(v[1], k) * ub(v[2], k);
    return static_cast<std::uint32_t>(sum);
  });
  each("dp2a.hi.s32.s32 %r0, %r1, %r2, %r3;", kRuns, any, [&](auto *v) {
    std::int64_t sum = s32(v[3]);
    for (int k = 0; k < 2; ++k) sum += static_cast<std::int16_t>(v[1] >> (16 * k)) * sb(v[2], 2 + k);
    return static_cast<std::uint32_t>(sum);
  });
}

TEST_F(Integer, packedHalves) {
  auto any = [&](int) { return integer(32); };
  auto halves = [](std::uint64_t a, std::uint64_t b, auto fn) {
    std::uint32_t low = static_cast<std::uint16_t>(fn(static_cast<std::int16_t>(a), static_cast<std::int16_t>(b)));
    std::uint32_t high =
        static_cast<std::uint16_t>(fn(static_cast<std::int16_t>(a >> 16), static_cast<std::int16_t>(b >> 16)));
    return low | high << 16;
  };
  each("add.s16x2 %r0, %r1, %r2;", kRuns, any,
       [&](auto *v) { return halves(v[1], v[2], [](int a, int b) { return a + b; }); });
  each("min.relu.s16x2 %r0, %r1, %r2;", kRuns, any,
       [&](auto *v) { return halves(v[1], v[2], [](int a, int b) { return std::max(std::min(a, b), 0); }); });
  each("max.u16x2 %r0, %r1, %r2;", kRuns, any,
       [&](auto *v) { return halves(v[1], v[2], [](int a, int b) { return std::max(a & 0xffff, b & 0xffff); }); });
}

}  // namespace
}  // namespace strata::ptx
