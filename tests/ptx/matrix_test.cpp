// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix, movmatrix and mma.sync on a whole warp, against plain matrix products.
#include <functional>

#include "tests/ptx/meaning.h"

namespace strata::ptx {
namespace {

// One lane of a warp whose shuffles are answered from what all lanes gave in the pass before.
class Lane : public Interpreter {
public:
  std::uint32_t index = 0;
  std::vector<std::uint32_t> given, sources, received;
  std::size_t next = 0;

  using Interpreter::intrinsic;
  Value special(SpecialRegister which) override {
    return which == SpecialRegister::laneid ? constant(ScalarType::i32, index) : Interpreter::special(which);
  }
  std::vector<Value> intrinsic(std::string_view name, const std::vector<Value> &args,
                               const std::vector<ScalarType> &results) override {
    if (name != "shfl.idx") return Interpreter::intrinsic(name, args, results);
    given.push_back(word(args[1]));
    sources.push_back(word(args[2]) & 31);
    std::uint32_t value = next < received.size() ? received[next] : given.back();
    ++next;
    return {constant(ScalarType::i32, value), constant(ScalarType::i1, 1)};
  }

private:
  // The number behind a value, by comparing bits: the interface shows no other way.
  std::uint32_t word(Value v) {
    Access access;
    store(access, constant(ScalarType::i64, 0), {v});
    accesses.pop_back();
    std::uint32_t bits;
    std::memcpy(&bits, memory.data(), 4);
    return bits;
  }
};

class Warp {
public:
  Lane lanes[32];
  std::vector<std::uint8_t> shared = std::vector<std::uint8_t>(1024);

  Warp() {
    for (std::uint32_t k = 0; k < 32; ++k) lanes[k].index = k;
  }
  // Repeats until no shuffle answers differently, then once more with the shared memory in common.
  void run(const std::string &text) {
    Program program(text);
    bool changed = true;
    while (changed) {
      pass(program, false);
      changed = false;
      for (Lane &lane : lanes) {
        std::vector<std::uint32_t> received;
        for (std::size_t n = 0; n < lane.given.size(); ++n) received.push_back(lanes[lane.sources[n]].given[n]);
        changed |= received != lane.received;
        lane.received = std::move(received);
      }
    }
    pass(program, true);
  }

private:
  void pass(const Program &program, bool keep) {
    for (Lane &lane : lanes) {
      lane.given.clear(), lane.sources.clear(), lane.next = 0;
      lane.memory = shared;
      lane.run(program);
      if (keep) shared = lane.memory;
    }
  }
};

class Matrix : public MeaningTest {
protected:
  Warp warp;
  int small() { return static_cast<int>(random() % 17) - 8; }
};

std::uint32_t halfOf(int v) { return static_cast<std::uint32_t>(roundTo(v, 5, 10, Rounding::nearestEven)); }
std::uint32_t bfloatOf(int v) { return static_cast<std::uint32_t>(roundTo(v, 8, 7, Rounding::nearestEven)); }

struct Shape {
  const char *text;       // after mma.sync.aligned.
  int m, k, perRegister;  // elements of A and B in one register
  bool wide;              // 64-bit registers
  std::function<std::uint64_t(int)> element;
  enum class Result { f32, f16x2, s32, f64 } result;
};

// Elements of A and B by the layouts of the manual, products by the definition.
TEST_F(Matrix, products) {
  auto f32Of = [](int v) -> std::uint64_t { return bits(static_cast<float>(v)); };
  auto byteOf = [](int v) -> std::uint64_t { return static_cast<std::uint8_t>(v); };
  auto nibbleOf = [](int v) -> std::uint64_t { return static_cast<std::uint64_t>(v) & 15; };
  auto doubleOf = [](int v) -> std::uint64_t { return bits(static_cast<double>(v)); };
  using R = Shape::Result;
  for (const Shape &s :
       std::vector<Shape>{{"m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 2, false, halfOf, R::f32},
                          {"m16n8k16.row.col.f32.f16.f16.f32", 16, 16, 2, false, halfOf, R::f32},
                          {"m16n8k16.row.col.f16.f16.f16.f16", 16, 16, 2, false, halfOf, R::f16x2},
                          {"m16n8k8.row.col.f16.f16.f16.f16", 16, 8, 2, false, halfOf, R::f16x2},
                          {"m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 2, false, bfloatOf, R::f32},
                          {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, 2, false, bfloatOf, R::f32},
                          {"m16n8k4.row.col.f32.tf32.tf32.f32", 16, 4, 1, false, f32Of, R::f32},
                          {"m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 1, false, f32Of, R::f32},
                          {"m8n8k16.row.col.s32.s8.s8.s32", 8, 16, 4, false, byteOf, R::s32},
                          {"m16n8k16.row.col.s32.s8.s8.s32", 16, 16, 4, false, byteOf, R::s32},
                          {"m16n8k32.row.col.satfinite.s32.s8.s8.s32", 16, 32, 4, false, byteOf, R::s32},
                          {"m16n8k64.row.col.s32.s4.s4.s32", 16, 64, 8, false, nibbleOf, R::s32},
                          {"m8n8k4.row.col.f64.f64.f64.f64", 8, 4, 1, true, doubleOf, R::f64},
                          {"m16n8k8.row.col.f64.f64.f64.f64", 16, 8, 1, true, doubleOf, R::f64},
                          {"m16n8k16.row.col.f64.f64.f64.f64", 16, 16, 1, true, doubleOf, R::f64}}) {
    SCOPED_TRACE(s.text);
    int a[16][64], b[64][8], c[16][8];
    auto any = [&] { return s.perRegister == 8 ? static_cast<int>(random() % 16) - 8 : small(); };
    for (auto &row : a)
      for (int &v : row) v = any();
    for (auto &row : b)
      for (int &v : row) v = any();
    for (auto &row : c)
      for (int &v : row) v = small();
    int halves = s.m / 8, blocks = s.k / (4 * s.perRegister), p = s.perRegister, width = s.wide ? 64 : 32 / p;
    int cCount = s.result == Shape::Result::f16x2 ? halves : 2 * halves;
    std::string prefix = s.wide ? "%rd" : "%r";
    // Registers are reused through memory: operands are loaded from the lane's own 8-byte slots.
    std::string text;
    auto list = [&](int first, int count) {
      std::string names = "{";
      for (int k = 0; k < count; ++k) names += (k ? ", x" : "x") + std::to_string(first + k);
      return names + "}";
    };
    int total = halves * blocks + blocks + cCount;
    text += std::string(".reg .b") + (s.wide ? "64" : "32") + " x<32>; .reg .b" + (s.wide ? "64" : "32") + " y<8>;\n";
    text += "mma.sync.aligned." + std::string(s.text) + " ";
    std::string results = "{";
    for (int k = 0; k < cCount; ++k) results += (k ? ", y" : "y") + std::to_string(k);
    text += results + "}, " + list(0, halves * blocks) + ", " + list(halves * blocks, blocks) + ", " +
            list(total - cCount, cCount) + ";";
    for (Lane &lane : warp.lanes) {
      lane.received.clear();
      int g = static_cast<int>(lane.index) / 4, t = static_cast<int>(lane.index) % 4;
      auto put = [&](int n, std::uint64_t v) { lane.set("x" + std::to_string(n), v); };
      for (int i = 0; i < halves * blocks; ++i) {
        std::uint64_t word = 0;
        for (int e = 0; e < p; ++e)
          word |= s.element(a[g + 8 * (i % halves)][(i / halves) * 4 * p + t * p + e]) << (width * e % 64);
        put(i, word);
      }
      for (int i = 0; i < blocks; ++i) {
        std::uint64_t word = 0;
        for (int e = 0; e < p; ++e) word |= s.element(b[i * 4 * p + t * p + e][g]) << (width * e % 64);
        put(halves * blocks + i, word);
      }
      for (int i = 0; i < 2 * halves; ++i) {
        int v = c[g + 8 * (i / 2)][2 * t + i % 2], at = total - cCount;
        switch (s.result) {
          case Shape::Result::f32: put(at + i, bits(static_cast<float>(v))); break;
          case Shape::Result::f64: put(at + i, bits(static_cast<double>(v))); break;
          case Shape::Result::s32: put(at + i, static_cast<std::uint32_t>(v)); break;
          case Shape::Result::f16x2:
            put(at + i / 2, (i % 2 ? static_cast<std::uint64_t>(lane.get("x" + std::to_string(at + i / 2))) : 0) |
                                halfOf(v) << (i % 2 * 16));
            break;
        }
      }
    }
    warp.run(text);
    for (Lane &lane : warp.lanes) {
      int g = static_cast<int>(lane.index) / 4, t = static_cast<int>(lane.index) % 4;
      for (int i = 0; i < 2 * halves; ++i) {
        int row = g + 8 * (i / 2), column = 2 * t + i % 2, sum = c[row][column];
        for (int k = 0; k < s.k; ++k) sum += a[row][k] * b[k][column];
        int at = s.result == Shape::Result::f16x2 ? i / 2 : i;
        auto got = static_cast<std::uint64_t>(lane.get("y" + std::to_string(at)));
        std::uint64_t expected = s.result == Shape::Result::f32   ? bits(static_cast<float>(sum))
                                 : s.result == Shape::Result::f64 ? bits(static_cast<double>(sum))
                                 : s.result == Shape::Result::s32 ? static_cast<std::uint32_t>(sum)
                                                                  : halfOf(sum);
        if (s.result == Shape::Result::f16x2) got = got >> (i % 2 * 16) & 0xffff;
        ASSERT_EQ(got, expected) << "lane " << lane.index << ", result " << i;
      }
    }
  }
}

TEST_F(Matrix, satfiniteStopsAtTheRange) {
  for (Lane &lane : warp.lanes)
    lane.set("%r1", 0x7f7f7f7f), lane.set("%r2", 0x7f7f7f7f), lane.set("%r3", 0x7ffffff0), lane.set("%r4", 0);
  warp.run("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%r5, %r6}, {%r1}, {%r2}, {%r3, %r4};");
  EXPECT_EQ(warp.lanes[5].r(5), 0x7fffffffu);
  EXPECT_EQ(warp.lanes[5].r(6), 16u * 127 * 127);
}

class MatrixMemory : public Matrix {
protected:
  // Rows of 8 halves, 16 bytes each; lane k gives the address of row k.
  void giveRows() {
    for (Lane &lane : warp.lanes) lane.set("%rd1", Interpreter::kTile + 16 * lane.index);
    for (std::uint8_t &byte : warp.shared) byte = static_cast<std::uint8_t>(random());
  }
  std::uint16_t at(unsigned matrix, unsigned row, unsigned column) {
    std::uint16_t v;
    std::memcpy(&v, &warp.shared[Interpreter::kTile + 16 * (8 * matrix + row) + 2 * column], 2);
    return v;
  }
};
TEST_F(MatrixMemory, loadsRowsAndColumns) {
  giveRows();
  warp.run(
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%rd1]; "
      "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r4, %r5}, [%rd1];");
  for (Lane &lane : warp.lanes)
    for (unsigned m = 0; m < 4; ++m) {
      unsigned g = lane.index / 4, t = lane.index % 4;
      EXPECT_EQ(lane.r(static_cast<int>(m)), at(m, g, 2 * t) | std::uint32_t(at(m, g, 2 * t + 1)) << 16);
      if (m < 2) EXPECT_EQ(lane.r(static_cast<int>(4 + m)), at(m, 2 * t, g) | std::uint32_t(at(m, 2 * t + 1, g)) << 16);
    }
}
TEST_F(MatrixMemory, storesRowsAndColumns) {
  for (bool transposed : {false, true}) {
    giveRows();
    for (Lane &lane : warp.lanes)
      for (int m = 0; m < 2; ++m) lane.set("%r" + std::to_string(m), random() & 0xffffffff);
    warp.run(std::string("stmatrix.sync.aligned.m8n8.x2") + (transposed ? ".trans" : "") +
             ".shared.b16 [%rd1], {%r0, %r1};");
    for (Lane &lane : warp.lanes)
      for (unsigned m = 0; m < 2; ++m) {
        unsigned g = lane.index / 4, t = lane.index % 4;
        std::uint32_t v = lane.r(static_cast<int>(m));
        EXPECT_EQ(transposed ? at(m, 2 * t, g) : at(m, g, 2 * t), v & 0xffff);
        EXPECT_EQ(transposed ? at(m, 2 * t + 1, g) : at(m, g, 2 * t + 1), v >> 16);
      }
  }
}
TEST_F(Matrix, movmatrixTransposes) {
  std::uint16_t m[8][8];
  for (auto &row : m)
    for (std::uint16_t &v : row) v = static_cast<std::uint16_t>(random());
  for (Lane &lane : warp.lanes) {
    unsigned g = lane.index / 4, t = lane.index % 4;
    lane.set("%r1", m[g][2 * t] | std::uint32_t(m[g][2 * t + 1]) << 16);
  }
  warp.run("movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;");
  for (Lane &lane : warp.lanes) {
    unsigned g = lane.index / 4, t = lane.index % 4;
    EXPECT_EQ(lane.r(0), m[2 * t][g] | std::uint32_t(m[2 * t + 1][g]) << 16);
  }
}

}  // namespace
}  // namespace strata::ptx
