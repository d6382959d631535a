// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "tests/ptx/meaning.h"

namespace strata::ptx {
namespace {

using Video = MeaningTest;

std::int64_t part(std::uint32_t v, char kind, unsigned n, bool isSigned) {
  unsigned bits = kind == 'b' ? 8 : kind == 'h' ? 16 : 32;
  std::uint64_t field = std::uint64_t(v) >> (bits * n) & (~0ull >> (64 - bits));
  return isSigned ? static_cast<std::int64_t>(field << (64 - bits)) >> (64 - bits) : static_cast<std::int64_t>(field);
}
std::int64_t clamped(std::int64_t v, unsigned bits, bool isSigned) {
  std::int64_t most = (std::int64_t(1) << (isSigned ? bits - 1 : bits)) - 1, least = isSigned ? -most - 1 : 0;
  return std::min(std::max(v, least), most);
}
struct Op {
  const char *name;
  std::int64_t (*fn)(std::int64_t, std::int64_t);
};
constexpr Op kOps[] = {{"vadd", [](std::int64_t a, std::int64_t b) { return a + b; }},
                       {"vsub", [](std::int64_t a, std::int64_t b) { return a - b; }},
                       {"vabsdiff", [](std::int64_t a, std::int64_t b) { return a < b ? b - a : a - b; }},
                       {"vmin", [](std::int64_t a, std::int64_t b) { return std::min(a, b); }},
                       {"vmax", [](std::int64_t a, std::int64_t b) { return std::max(a, b); }}};

TEST_F(Video, scalar) {
  for (const Op &op : kOps)
    for (bool s : {false, true}) {
      std::string t = s ? "s32" : "u32", head = std::string(op.name) + "." + t + "." + t + "." + t;
      Program plain(head + " %r0, %r1.b1, %r2.h1;"), saturated(head + ".sat %r0, %r1, %r2;"),
          accumulated(head + ".add %r0, %r1.h0, %r2, %r3;"), least(head + ".sat.min %r0, %r1, %r2.b3, %r3;"),
          merged(head + ".sat %r0.h1, %r1, %r2.b0, %r3;");
      for (int n = 0; n < 100; ++n) {
        auto a = static_cast<std::uint32_t>(integer(32)), b = static_cast<std::uint32_t>(integer(32)),
             c = static_cast<std::uint32_t>(integer(32));
        Interpreter lane;
        lane.set("%r1", a), lane.set("%r2", b), lane.set("%r3", c);
        lane.run(plain);
        EXPECT_EQ(lane.r(0), static_cast<std::uint32_t>(op.fn(part(a, 'b', 1, s), part(b, 'h', 1, s)))) << head;
        lane.run(saturated);
        EXPECT_EQ(lane.r(0), static_cast<std::uint32_t>(clamped(op.fn(part(a, 'w', 0, s), part(b, 'w', 0, s)), 32, s)))
            << head;
        lane.run(accumulated);
        EXPECT_EQ(lane.r(0), static_cast<std::uint32_t>(op.fn(part(a, 'h', 0, s), part(b, 'w', 0, s)) + c)) << head;
        lane.run(least);
        std::int64_t v = clamped(op.fn(part(a, 'w', 0, s), part(b, 'b', 3, s)), 32, s);
        EXPECT_EQ(lane.r(0), static_cast<std::uint32_t>(std::min(v, part(c, 'w', 0, s)))) << head;
        lane.run(merged);
        v = clamped(op.fn(part(a, 'w', 0, s), part(b, 'b', 0, s)), 16, s);
        EXPECT_EQ(lane.r(0), (c & 0xffff) | static_cast<std::uint32_t>(v) << 16) << head;
      }
    }
}
TEST_F(Video, shifts) {
  Program add("vshr.u32.u32.u32.clamp.add %r0, %r1, %r2, %r3;"), wrap("vshl.u32.u32.u32.wrap %r0, %r1.b0, %r2;"),
      sar("vshr.s32.s32.u32.clamp %r0, %r1, %r2;"), sat("vshl.s32.s32.u32.sat.clamp %r0, %r1, %r2;");
  for (int n = 0; n < kRuns; ++n) {
    auto a = static_cast<std::uint32_t>(integer(32)), k = static_cast<std::uint32_t>(random() % 40),
         c = static_cast<std::uint32_t>(integer(32));
    Interpreter lane;
    lane.set("%r1", a), lane.set("%r2", k), lane.set("%r3", c);
    lane.run(add);
    EXPECT_EQ(lane.r(0), static_cast<std::uint32_t>((std::uint64_t(a) >> std::min(k, 32u)) + c));
    lane.run(wrap);
    EXPECT_EQ(lane.r(0), (a & 0xff) << (k & 31));
    lane.run(sar);
    EXPECT_EQ(lane.r(0), static_cast<std::uint32_t>(std::int64_t(static_cast<std::int32_t>(a)) >> std::min(k, 32u)));
    lane.run(sat);
    EXPECT_EQ(lane.r(0),
              static_cast<std::uint32_t>(clamped(std::int64_t(static_cast<std::int32_t>(a)) *
                                                     (std::int64_t(1) << std::min(k, 31u)) * (k >= 32 ? 2 : 1),
                                                 32, true)));
  }
}
TEST_F(Video, sets) {
  Program set("vset.s32.u32.lt %r0, %r1.b0, %r2; vset4.u32.u32.ge.add %r4, %r1, %r2, %r3;");
  for (int n = 0; n < kRuns; ++n) {
    auto a = static_cast<std::uint32_t>(integer(32)), b = static_cast<std::uint32_t>(integer(32)),
         c = static_cast<std::uint32_t>(integer(32));
    Interpreter lane;
    lane.set("%r1", a), lane.set("%r2", b), lane.set("%r3", c);
    lane.run(set);
    EXPECT_EQ(lane.r(0), part(a, 'b', 0, true) < part(b, 'w', 0, false) ? 1u : 0u);
    std::uint32_t sum = c;
    for (unsigned k = 0; k < 4; ++k) sum += part(a, 'b', k, false) >= part(b, 'b', k, false);
    EXPECT_EQ(lane.r(4), sum);
  }
}
TEST_F(Video, simd) {
  std::vector<Op> ops(std::begin(kOps), std::end(kOps));
  ops.push_back({"vavrg", [](std::int64_t a, std::int64_t b) { return (a + b + (a + b >= 0)) >> 1; }});
  for (const Op &op : ops)
    for (bool s : {false, true})
      for (unsigned lanes : {2u, 4u}) {
        char kind = lanes == 2 ? 'h' : 'b';
        unsigned bits = 32 / lanes;
        std::string t = s ? "s32" : "u32",
                    head = std::string(op.name) + std::to_string(lanes) + "." + t + "." + t + "." + t;
        // Without and with selectors; sources are elements of {b, a}.
        unsigned defaults[] = {0, 1, 2, 3}, chosen[] = {2, 1, 7, 0}, chosen2[] = {3, 0};
        Program plain(head + ".sat %r0, %r1, %r2, %r3;"), accumulated(head + ".add %r0, %r1, %r2, %r3;"),
            picked(head + (lanes == 2 ? " %r0.h1, %r1.h03, %r2, %r3;" : " %r0.b31, %r1.b0712, %r2, %r3;"));
        for (int n = 0; n < 60; ++n) {
          auto a = static_cast<std::uint32_t>(integer(32)), b = static_cast<std::uint32_t>(integer(32)),
               c = static_cast<std::uint32_t>(integer(32));
          Interpreter lane;
          lane.set("%r1", a), lane.set("%r2", b), lane.set("%r3", c);
          auto result = [&](unsigned k, const unsigned *from) {
            unsigned source = from[k];
            std::int64_t x = source < lanes ? part(a, kind, source, s) : part(b, kind, source - lanes, s);
            return op.fn(x, part(b, kind, k, s));
          };
          std::uint32_t expected = 0, sum = c, mask = bits == 16 ? 0xffffu : 0xffu, selected = c;
          for (unsigned k = 0; k < lanes; ++k) {
            expected |= (static_cast<std::uint32_t>(clamped(result(k, defaults), bits, s)) & mask) << (bits * k);
            sum += static_cast<std::uint32_t>(result(k, defaults));
            if (k % 2)
              selected = (selected & ~(mask << (bits * k))) |
                         (static_cast<std::uint32_t>(result(k, lanes == 2 ? chosen2 : chosen)) & mask) << (bits * k);
          }
          lane.run(plain);
          EXPECT_EQ(lane.r(0), expected) << head;
          lane.run(accumulated);
          EXPECT_EQ(lane.r(0), sum) << head;
          lane.run(picked);
          EXPECT_EQ(lane.r(0), selected) << head;
        }
      }
}

}  // namespace
}  // namespace strata::ptx
