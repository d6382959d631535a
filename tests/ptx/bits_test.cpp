// SPDX-License-Identifier: Apache-2.0
// Bit fields, logic, shifts, permutes, comparisons and moves against bit-by-bit host formulas.
#include "tests/ptx/meaning.h"

namespace strata::ptx {
namespace {

using Bits = MeaningTest;

std::uint32_t run32(const Program &program, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0,
                    std::uint32_t d = 0) {
  Interpreter lane;
  lane.set("%r1", a), lane.set("%r2", b), lane.set("%r3", c), lane.set("%r4", d);
  lane.run(program);
  return lane.r(0);
}

// The manual's own loop.
std::uint64_t bfe(std::uint64_t a, unsigned pos, unsigned len, unsigned width, bool isSigned) {
  pos &= 0xff, len &= 0xff;
  unsigned msb = width - 1;
  bool sign = isSigned && len ? a >> std::min(pos + len - 1, msb) & 1 : false;
  std::uint64_t d = 0;
  for (unsigned i = 0; i < width; ++i) d |= std::uint64_t(i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign) << i;
  return d;
}
TEST_F(Bits, bitFieldExtract) {
  Program u32("bfe.u32 %r0, %r1, %r2, %r3;"), s32("bfe.s32 %r0, %r1, %r2, %r3;"), u64("bfe.u64 %rd0, %rd1, %r2, %r3;"),
      s64("bfe.s64 %rd0, %rd1, %r2, %r3;");
  for (int n = 0; n < kRuns * 4; ++n) {
    std::uint64_t a = integer(64);
    auto pos = static_cast<std::uint32_t>(random() % 80), len = static_cast<std::uint32_t>(random() % 80);
    if (n % 50 == 0) pos += 256;
    auto word = static_cast<std::uint32_t>(a);
    EXPECT_EQ(run32(u32, word, pos, len), bfe(word, pos, len, 32, false)) << word << " " << pos << " " << len;
    EXPECT_EQ(run32(s32, word, pos, len), bfe(word, pos, len, 32, true)) << word << " " << pos << " " << len;
    Interpreter lane;
    lane.set("%rd1", a), lane.set("%r2", pos), lane.set("%r3", len);
    lane.run(u64);
    EXPECT_EQ(lane.rd(0), bfe(a, pos, len, 64, false));
    lane.run(s64);
    EXPECT_EQ(lane.rd(0), bfe(a, pos, len, 64, true));
  }
}
TEST_F(Bits, bitFieldInsert) {
  Program program("bfi.b32 %r0, %r1, %r2, %r3, %r4;");
  for (int n = 0; n < kRuns * 4; ++n) {
    auto a = static_cast<std::uint32_t>(integer(32)), b = static_cast<std::uint32_t>(integer(32));
    auto pos = static_cast<std::uint32_t>(random() % 40), len = static_cast<std::uint32_t>(random() % 40);
    std::uint32_t d = b;
    for (unsigned i = 0; i < len && pos + i <= 31; ++i) d = (d & ~(1u << (pos + i))) | (a >> i & 1) << (pos + i);
    EXPECT_EQ(run32(program, a, b, pos, len), d) << pos << " " << len;
  }
}
TEST_F(Bits, counting) {
  Program popc("popc.b32 %r0, %r1;"), clz("clz.b32 %r0, %r1;"), brev("brev.b32 %r0, %r1;"), clz64("clz.b64 %r0, %rd1;");
  for (int n = 0; n < kRuns; ++n) {
    auto a = static_cast<std::uint32_t>(integer(32));
    EXPECT_EQ(run32(popc, a), static_cast<unsigned>(std::popcount(a)));
    EXPECT_EQ(run32(clz, a), static_cast<unsigned>(std::countl_zero(a)));
    std::uint32_t reversed = 0;
    for (int k = 0; k < 32; ++k) reversed |= (a >> k & 1) << (31 - k);
    EXPECT_EQ(run32(brev, a), reversed);
    Interpreter lane;
    std::uint64_t wide = integer(64);
    lane.set("%rd1", wide);
    lane.run(clz64);
    EXPECT_EQ(lane.r(0), static_cast<unsigned>(std::countl_zero(wide)));
  }
}
TEST_F(Bits, bfind) {
  Program u32("bfind.u32 %r0, %r1;"), s32("bfind.s32 %r0, %r1;"), shift("bfind.shiftamt.u32 %r0, %r1;"),
      shiftS("bfind.shiftamt.s32 %r0, %r1;");
  for (int n = 0; n < kRuns; ++n) {
    auto a = static_cast<std::uint32_t>(integer(32));
    auto find = [](std::uint32_t v) { return v ? 31u - static_cast<unsigned>(std::countl_zero(v)) : ~0u; };
    std::uint32_t folded = a >> 31 ? ~a : a;
    EXPECT_EQ(run32(u32, a), find(a));
    EXPECT_EQ(run32(s32, a), find(folded));
    EXPECT_EQ(run32(shift, a), a ? 31 - find(a) : ~0u);
    EXPECT_EQ(run32(shiftS, a), folded ? 31 - find(folded) : ~0u);
  }
}
TEST_F(Bits, findNthSet) {
  Program program("fns.b32 %r0, %r1, %r2, %r3;");
  for (int n = 0; n < kRuns * 4; ++n) {
    auto mask = static_cast<std::uint32_t>(integer(32)), base = static_cast<std::uint32_t>(random() % 32);
    int offset = static_cast<int>(random() % 70) - 35;
    std::uint32_t expected = ~0u;
    if (offset == 0) {
      if (mask >> base & 1) expected = base;
    } else {
      int step = offset < 0 ? -1 : 1, count = 0;
      for (int pos = static_cast<int>(base); pos >= 0 && pos < 32; pos += step)
        if (mask >> pos & 1 && ++count == std::abs(offset)) {
          expected = static_cast<std::uint32_t>(pos);
          break;
        }
    }
    EXPECT_EQ(run32(program, mask, base, static_cast<std::uint32_t>(offset)), expected)
        << mask << " " << base << " " << offset;
  }
}
TEST_F(Bits, extendAndMask) {
  Program clampS("szext.clamp.s32 %r0, %r1, %r2;"), wrapU("szext.wrap.u32 %r0, %r1, %r2;"),
      maskClamp("bmsk.clamp.b32 %r0, %r1, %r2;"), maskWrap("bmsk.wrap.b32 %r0, %r1, %r2;");
  for (int n = 0; n < kRuns; ++n) {
    auto a = static_cast<std::uint32_t>(integer(32)), b = static_cast<std::uint32_t>(random() % 70);
    std::uint32_t len = std::min(b, 32u);
    EXPECT_EQ(run32(clampS, a, b),
              len ? static_cast<std::uint32_t>(static_cast<std::int32_t>(a << (32 - len)) >> (32 - len)) : 0);
    EXPECT_EQ(run32(wrapU, a, b), a & ((1u << (b & 31)) - 1));
    std::uint32_t start = static_cast<std::uint32_t>(random() % 70);
    std::uint32_t ones = len == 32 ? ~0u : (1u << len) - 1;
    EXPECT_EQ(run32(maskClamp, start, b), start > 31 ? 0 : ones << start);
    EXPECT_EQ(run32(maskWrap, start, b), ((1u << (b & 31)) - 1) << (start & 31));
  }
}
TEST_F(Bits, logic) {
  for (int n = 0; n < 256; ++n) {
    Program lut("lop3.b32 %r0, %r1, %r2, %r3, " + std::to_string(n) + ";");
    auto a = static_cast<std::uint32_t>(random()), b = static_cast<std::uint32_t>(random()),
         c = static_cast<std::uint32_t>(random());
    std::uint32_t d = 0;
    for (int k = 0; k < 32; ++k)
      d |= static_cast<std::uint32_t>(n >> ((a >> k & 1) * 4 + (b >> k & 1) * 2 + (c >> k & 1)) & 1) << k;
    EXPECT_EQ(run32(lut, a, b, c), d) << n;
  }
  Program cnot("cnot.b32 %r0, %r1;"), xorNot("xor.b32 %r0, %r1, %r2; not.b32 %r0, %r0;");
  EXPECT_EQ(run32(cnot, 0), 1u);
  EXPECT_EQ(run32(cnot, 5), 0u);
  EXPECT_EQ(run32(xorNot, 0x0ff0, 0x00ff), ~0x0f0fu);
  Interpreter lane;
  lane.set("%p1", 1), lane.set("%p2", 0);
  lane.run(Program("and.pred %p0, %p1, !%p2; not.pred %p3, %p1; xor.pred %p4, %p1, %p1;"));
  EXPECT_TRUE(lane.p(0));
  EXPECT_FALSE(lane.p(3));
  EXPECT_FALSE(lane.p(4));
}
TEST_F(Bits, lop3WithPredicate) {
  Program program("lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x80, %p1; lop3.and.b32 _|%p2, %r1, %r2, %r3, 0x80, !%p1;");
  for (int n = 0; n < 50; ++n) {
    Interpreter lane;
    std::uint32_t a = random() & 3, b = random() & 3, q = random() & 1;
    lane.set("%r1", a), lane.set("%r2", b), lane.set("%r3", ~0u), lane.set("%p1", q);
    lane.run(program);
    EXPECT_EQ(lane.r(0), a & b);
    EXPECT_EQ(lane.p(0), (a & b) != 0 || q);
    EXPECT_EQ(lane.p(2), (a & b) != 0 && !q);
  }
}
TEST_F(Bits, shiftsClamp) {
  Program shl("shl.b32 %r0, %r1, %r2;"), shr("shr.u32 %r0, %r1, %r2;"), sar("shr.s32 %r0, %r1, %r2;"),
      shl16("shl.b16 %h0, %h1, %r2;");
  for (int n = 0; n < kRuns; ++n) {
    auto a = static_cast<std::uint32_t>(integer(32)),
         k = static_cast<std::uint32_t>(n % 3 ? random() % 40 : integer(32));
    EXPECT_EQ(run32(shl, a, k), k > 31 ? 0 : a << k);
    EXPECT_EQ(run32(shr, a, k), k > 31 ? 0 : a >> k);
    EXPECT_EQ(run32(sar, a, k), static_cast<std::uint32_t>(static_cast<std::int32_t>(a) >> std::min(k, 31u)));
    Interpreter lane;
    lane.set("%h1", a & 0xffff), lane.set("%r2", k);
    lane.run(shl16);
    EXPECT_EQ(lane.h(0), static_cast<std::uint16_t>(k > 15 ? 0 : a << k));
  }
}
TEST_F(Bits, funnelShift) {
  Program lw("shf.l.wrap.b32 %r0, %r1, %r2, %r3;"), lc("shf.l.clamp.b32 %r0, %r1, %r2, %r3;"),
      rw("shf.r.wrap.b32 %r0, %r1, %r2, %r3;"), rc("shf.r.clamp.b32 %r0, %r1, %r2, %r3;");
  for (int n = 0; n < kRuns; ++n) {
    auto lo = static_cast<std::uint32_t>(integer(32)), hi = static_cast<std::uint32_t>(integer(32)),
         k = static_cast<std::uint32_t>(random() % 70);
    std::uint64_t window = std::uint64_t(hi) << 32 | lo;
    unsigned wrap = k & 31, clamp = std::min(k, 32u);
    EXPECT_EQ(run32(lw, lo, hi, k), static_cast<std::uint32_t>(window << wrap >> 32));
    EXPECT_EQ(run32(lc, lo, hi, k), static_cast<std::uint32_t>(window << clamp >> 32));
    EXPECT_EQ(run32(rw, lo, hi, k), static_cast<std::uint32_t>(window >> wrap));
    EXPECT_EQ(run32(rc, lo, hi, k), static_cast<std::uint32_t>(window >> clamp));
  }
}
TEST_F(Bits, permute) {
  Program generic("prmt.b32 %r0, %r1, %r2, %r3;");
  for (int n = 0; n < kRuns; ++n) {
    auto a = static_cast<std::uint32_t>(random()), b = static_cast<std::uint32_t>(random()),
         c = static_cast<std::uint32_t>(random());
    std::uint64_t bytes = std::uint64_t(b) << 32 | a;
    std::uint32_t d = 0;
    for (int k = 0; k < 4; ++k) {
      unsigned nibble = c >> (4 * k) & 15;
      auto byte = static_cast<std::uint8_t>(bytes >> (8 * (nibble & 7)));
      if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
      d |= std::uint32_t(byte) << (8 * k);
    }
    EXPECT_EQ(run32(generic, a, b, c), d);
  }
  // The manual's table of modes, most significant byte first.
  struct Row {
    const char *mode;
    unsigned selector;
    int bytes[4];
  };
  for (const Row &row : std::initializer_list<Row>{{"f4e", 0, {3, 2, 1, 0}},
                                                   {"f4e", 3, {6, 5, 4, 3}},
                                                   {"b4e", 0, {5, 6, 7, 0}},
                                                   {"b4e", 1, {6, 7, 0, 1}},
                                                   {"b4e", 3, {0, 1, 2, 3}},
                                                   {"rc8", 2, {2, 2, 2, 2}},
                                                   {"ecl", 1, {3, 2, 1, 1}},
                                                   {"ecl", 3, {3, 3, 3, 3}},
                                                   {"ecr", 2, {2, 2, 1, 0}},
                                                   {"ecr", 0, {0, 0, 0, 0}},
                                                   {"rc16", 0, {1, 0, 1, 0}},
                                                   {"rc16", 1, {3, 2, 3, 2}},
                                                   {"rc16", 2, {1, 0, 1, 0}}}) {
    Program mode(std::string("prmt.b32.") + row.mode + " %r0, %r1, %r2, %r3;");
    std::uint32_t expected = 0;
    for (int k = 0; k < 4; ++k) expected = expected << 8 | static_cast<std::uint32_t>(0xa0 + row.bytes[k]);
    EXPECT_EQ(run32(mode, 0xa3a2a1a0, 0xa7a6a5a4, row.selector), expected) << row.mode << " " << row.selector;
  }
}
TEST_F(Bits, movesPackAndUnpack) {
  Interpreter lane;
  lane.set("%r1", 0x11112222), lane.set("%r2", 0x33334444);
  lane.run(Program(
      "mov.b64 %rd0, {%r1, %r2}; mov.b32 {%h0, %h1}, %r1; mov.b64 {_, %r0}, %rd0; mov.b32 %r3, {%h1, %h0}; mov.b64 "
      "{%h2, %h3, %h4, %h5}, %rd0;"
      "mov.b128 %q0, {%rd0, %rd0}; mov.b32 %r4, %laneid; mov.b64 %rd5, buffer+8; mov.pred %p0, 1; mov.u16 %h6, -2;"));
  EXPECT_EQ(lane.rd(0), 0x3333444411112222ull);
  EXPECT_EQ(lane.h(0), 0x2222);
  EXPECT_EQ(lane.h(1), 0x1111);
  EXPECT_EQ(lane.r(0), 0x33334444u);
  EXPECT_EQ(lane.r(3), 0x22221111u);
  EXPECT_EQ(lane.h(5), 0x3333);
  EXPECT_EQ(static_cast<std::uint64_t>(lane.get("%q0") >> 64), lane.rd(0));
  EXPECT_EQ(lane.r(4), 1000u + static_cast<unsigned>(SpecialRegister::laneid));
  EXPECT_EQ(lane.rd(5), Interpreter::kBuffer + 8);
  EXPECT_TRUE(lane.p(0));
  EXPECT_EQ(lane.h(6), 0xfffe);
}
TEST_F(Bits, comparisonsOfIntegers) {
  struct Row {
    const char *op;
    bool (*fn)(std::uint32_t, std::uint32_t);
  };
  for (const Row &row : std::initializer_list<Row>{
           {"eq.b32", [](std::uint32_t a, std::uint32_t b) { return a == b; }},
           {"ne.s32", [](std::uint32_t a, std::uint32_t b) { return a != b; }},
           {"lt.u32", [](std::uint32_t a, std::uint32_t b) { return a < b; }},
           {"lt.s32", [](std::uint32_t a,
                         std::uint32_t b) { return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b); }},
           {"ge.s32", [](std::uint32_t a,
                         std::uint32_t b) { return static_cast<std::int32_t>(a) >= static_cast<std::int32_t>(b); }},
           {"lo.u32", [](std::uint32_t a, std::uint32_t b) { return a < b; }},
           {"ls.u32", [](std::uint32_t a, std::uint32_t b) { return a <= b; }},
           {"hi.u32", [](std::uint32_t a, std::uint32_t b) { return a > b; }},
           {"hs.u32", [](std::uint32_t a, std::uint32_t b) { return a >= b; }}}) {
    std::string op = row.op, cmp = op.substr(0, 3), type = op.substr(3);
    if (type[0] == '.') type = type.substr(1), cmp = op.substr(0, 2);
    if (cmp.back() == '.') cmp.pop_back();
    Program plain("setp." + op + " %p0|%p1, %r1, %r2;"),
        combined("setp." + cmp + ".and." + type + " %p0|%p1, %r1, %r2, !%p2;"),
        mask("set." + cmp + ".u32." + type + " %r0, %r1, %r2;"),
        one("set." + cmp + ".xor.f32." + type + " %r0, %r1, %r2, %p2;");
    for (int n = 0; n < 100; ++n) {
      auto a = static_cast<std::uint32_t>(integer(32)), b = n % 4 ? static_cast<std::uint32_t>(integer(32)) : a;
      bool q = random() & 1, t = row.fn(a, b);
      Interpreter lane;
      lane.set("%r1", a), lane.set("%r2", b), lane.set("%p2", q);
      lane.run(plain);
      EXPECT_EQ(lane.p(0), t) << op;
      EXPECT_EQ(lane.p(1), !t) << op;
      lane.run(combined);
      EXPECT_EQ(lane.p(0), t && !q) << op;
      EXPECT_EQ(lane.p(1), !t && !q) << op;
      lane.run(mask);
      EXPECT_EQ(lane.r(0), t ? ~0u : 0) << op;
      lane.run(one);
      EXPECT_EQ(lane.r(0), t != q ? 0x3f800000u : 0) << op;
    }
  }
}
TEST_F(Bits, selection) {
  Interpreter lane;
  lane.set("%r1", 11), lane.set("%r2", 22), lane.set("%r3", 0x80000000u), lane.set("%p1", 1);
  lane.run(
      Program("selp.b32 %r0, %r1, %r2, %p1; selp.b32 %r4, %r1, %r2, !%p1; slct.u32.s32 %r5, %r1, %r2, %r3; "
              "slct.u32.f32 %r6, %r1, %r2, %r3; slct.b32.f32 %r7, %r1, %r2, 0f7fc00000;"));
  EXPECT_EQ(lane.r(0), 11u);
  EXPECT_EQ(lane.r(4), 22u);
  EXPECT_EQ(lane.r(5), 22u);  // INT_MIN < 0
  EXPECT_EQ(lane.r(6), 11u);  // -0.0 >= 0
  EXPECT_EQ(lane.r(7), 22u);  // NaN
}

}  // namespace
}  // namespace strata::ptx
