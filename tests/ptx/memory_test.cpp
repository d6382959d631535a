// SPDX-License-Identifier: Apache-2.0
// Loads, stores, atomics and address conversions on the interpreter's memory.
#include "tests/ptx/meaning.h"

namespace strata::ptx {
namespace {

using Memory = MeaningTest;

class Buffer : public MeaningTest {
protected:
  Buffer() {
    for (std::uint8_t &byte : lane.memory) byte = static_cast<std::uint8_t>(random());
    lane.set("%rd1", Interpreter::kBuffer);
  }
  template <class T>
  T at(std::uint64_t offset) {
    T value;
    std::memcpy(&value, &lane.memory[Interpreter::kBuffer + offset], sizeof value);
    return value;
  }
  template <class T>
  void put(std::uint64_t offset, T value) {
    std::memcpy(&lane.memory[Interpreter::kBuffer + offset], &value, sizeof value);
  }
  Interpreter lane;
};

TEST_F(Buffer, loadsWidenByTheirType) {
  put<std::uint8_t>(3, 0x85);
  put<std::uint16_t>(6, 0x9234);
  lane.run(
      Program("ld.global.u8 %r0, [%rd1+3]; ld.global.s8 %r2, [buffer+3]; ld.global.s16 %rd0, [%rd1+6]; ld.global.b16 "
              "%r3, [%rd1+6]; ld.global.s8 %h0, [%rd1+3];"));
  EXPECT_EQ(lane.r(0), 0x85u);
  EXPECT_EQ(lane.r(2), 0xffffff85u);
  EXPECT_EQ(lane.rd(0), 0xffffffffffff9234ull);
  EXPECT_EQ(lane.r(3), 0x9234u);
  EXPECT_EQ(lane.h(0), 0xff85);
}
// As NVIDIA's assembler takes them.
TEST_F(Buffer, listsOfOneAndIndexedArrays) {
  put<std::uint32_t>(4, 0x12345678);
  put<std::uint32_t>(8, 0x9abcdef0);
  lane.run(
      Program("ld.global.b32 { %r0 }, [%rd1 + 4 ]; mov.b32 {%r2}, %r0; st.global.b32 [ %rd1 + 12 ], { %r2 }; "
              "mov.b64 %rd0, buffer[8]; ld.global.u32 %r3, [%rd0]; ld.global.u8 %r4, buffer[2*4+1]; "
              "st.global.u8 buffer[16], {%r4};"));
  EXPECT_EQ(lane.r(0), 0x12345678u);
  EXPECT_EQ(at<std::uint32_t>(12), 0x12345678u);
  EXPECT_EQ(lane.r(3), 0x9abcdef0u);
  EXPECT_EQ(lane.r(4), 0xdeu);
  EXPECT_EQ(at<std::uint8_t>(16), 0xdeu);
}

TEST_F(Buffer, vectors) {
  lane.run(
      Program("ld.global.v4.u32 {%r0, %r1, _, %r3}, [%rd1+16]; ld.global.v2.f64 {%rd2, %rd3}, [%rd1+32]; "
              "st.global.v2.b32 [%rd1+64], {7, %r0}; st.global.v4.u8 [%rd1+72], {%r0, %r1, %r0, 255};"));
  EXPECT_EQ(lane.r(0), at<std::uint32_t>(16));
  EXPECT_EQ(lane.r(1), at<std::uint32_t>(20));
  EXPECT_EQ(lane.r(3), at<std::uint32_t>(28));
  EXPECT_EQ(lane.rd(3), at<std::uint64_t>(40));
  EXPECT_EQ(at<std::uint32_t>(64), 7u);
  EXPECT_EQ(at<std::uint32_t>(68), lane.r(0));
  EXPECT_EQ(at<std::uint8_t>(73), static_cast<std::uint8_t>(lane.r(1)));
  EXPECT_EQ(at<std::uint8_t>(75), 255);
}
TEST_F(Buffer, storesCutToTheirType) {
  lane.set("%r1", 0x12345678);
  put<std::uint32_t>(0, ~0u);
  lane.run(
      Program("st.global.u8 [%rd1], %r1; st.global.f32 [%rd1+4], 1.5; st.global.b64 [buffer+8], -2; st.global.u16 "
              "[%rd1+16], 3;"));
  EXPECT_EQ(at<std::uint32_t>(0), 0xffffff78u);
  EXPECT_EQ(at<float>(4), 1.5f);
  EXPECT_EQ(at<std::int64_t>(8), -2);
  EXPECT_EQ(at<std::uint16_t>(16), 3);
}
TEST_F(Buffer, signallingNansPassUnchanged) {
  put<std::uint32_t>(0, 0x7f812345);
  lane.run(Program("ld.global.f32 %r0, [%rd1]; st.global.f32 [%rd1+4], %r0;"));
  EXPECT_EQ(at<std::uint32_t>(4), 0x7f812345u);
}
TEST_F(Buffer, accessesSayOrderScopeAndSpace) {
  lane.set("%rd2", Interpreter::kTile);
  lane.run(
      Program("ld.global.u32 %r0, [%rd1]; ld.acquire.gpu.u32 %r0, [%rd1]; ld.volatile.shared.u32 %r0, [%rd2]; "
              "ld.global.nc.u32 %r0, [%rd1]; ld.relaxed.cta.global.u32 %r0, [%rd1];"
              "st.release.sys.global.u32 [%rd1], %r0; ld.const.u32 %r0, [%rd1]; ld.global.cs.u32 %r0, [%rd1]; "
              "atom.acq_rel.cluster.shared.add.u32 %r0, [tile], 1; red.global.add.u32 [%rd1], 1;"));
  ASSERT_EQ(lane.accesses.size(), 10u);
  auto expect = [&](std::size_t k, Space space, Order order, Scope scope, bool readOnly, bool nonTemporal) {
    const Access &a = lane.accesses[k];
    EXPECT_EQ(a.space, space) << k;
    EXPECT_EQ(a.order, order) << k;
    EXPECT_EQ(a.scope, scope) << k;
    EXPECT_EQ(a.readOnly, readOnly) << k;
    EXPECT_EQ(a.nonTemporal, nonTemporal) << k;
  };
  expect(0, Space::global, Order::weak, Scope::sys, false, false);
  expect(1, Space::generic, Order::acquire, Scope::gpu, false, false);
  expect(2, Space::shared, Order::volatile_, Scope::sys, false, false);
  expect(3, Space::global, Order::weak, Scope::sys, true, false);
  expect(4, Space::global, Order::relaxed, Scope::cta, false, false);
  expect(5, Space::global, Order::release, Scope::sys, false, false);
  expect(6, Space::const_, Order::weak, Scope::sys, true, false);
  expect(7, Space::global, Order::weak, Scope::sys, false, true);
  expect(8, Space::shared, Order::acqRel, Scope::cluster, false, false);
  expect(9, Space::global, Order::relaxed, Scope::gpu, false, false);
}

TEST_F(Buffer, atomicsOnIntegers) {
  struct Row {
    const char *op, *type;
    std::uint32_t (*fn)(std::uint32_t old, std::uint32_t b);
  };
  for (const Row &row : std::initializer_list<Row>{
           {"add", "u32", [](auto a, auto b) { return a + b; }},
           {"exch", "b32", [](auto, auto b) { return b; }},
           {"and", "b32", [](auto a, auto b) { return a & b; }},
           {"xor", "b32", [](auto a, auto b) { return a ^ b; }},
           {"min", "s32",
            [](auto a, auto b) { return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) ? a : b; }},
           {"max", "u32", [](auto a, auto b) { return a > b ? a : b; }},
           {"inc", "u32", [](auto a, auto b) { return a >= b ? 0 : a + 1; }},
           {"dec", "u32", [](auto a, auto b) { return a == 0 || a > b ? b : a - 1; }}}) {
    Program atom(std::string("atom.global.") + row.op + "." + row.type + " %r0, [%rd1+8], %r1;");
    for (int n = 0; n < 60; ++n) {
      auto old = static_cast<std::uint32_t>(integer(32)), b = static_cast<std::uint32_t>(integer(32));
      put(8, old);
      lane.set("%r1", b);
      lane.run(atom);
      EXPECT_EQ(lane.r(0), old) << row.op;
      EXPECT_EQ(at<std::uint32_t>(8), row.fn(old, b)) << row.op;
      if (std::string(row.op) == "exch") continue;
      put(8, old);
      lane.run(Program(std::string("red.global.") + row.op + "." + row.type + " [%rd1+8], %r1;"));
      EXPECT_EQ(at<std::uint32_t>(8), row.fn(old, b)) << row.op;
    }
  }
}
TEST_F(Buffer, compareAndSwap) {
  put<std::uint64_t>(0, 5);
  put<std::uint16_t>(8, 9);
  lane.run(
      Program("atom.global.cas.b64 %rd2, [%rd1], 5, 6; atom.global.cas.b64 %rd3, [%rd1], 5, 7; mov.u16 %h1, 9; mov.u16 "
              "%h2, 4; atom.cas.b16 %h0, [%rd1+8], %h1, %h2;"));
  EXPECT_EQ(lane.rd(2), 5u);
  EXPECT_EQ(lane.rd(3), 6u);
  EXPECT_EQ(at<std::uint64_t>(0), 6u);
  EXPECT_EQ(lane.h(0), 9);
  EXPECT_EQ(at<std::uint16_t>(8), 4);
}
TEST_F(Buffer, atomicsOnFloats) {
  put(0, 1.5f), put(8, 2.5), put<std::uint32_t>(16, 0x3c004000), put(32, 1.0f), put(36, 2.0f);
  lane.set("%r1", 0x40003c00), lane.set("%r2", bits(0.25f));
  lane.run(
      Program("atom.global.add.f32 %r3, [%rd1], 0.5; red.global.add.f64 [%rd1+8], 0.25; atom.global.add.noftz.f16x2 "
              "%r4, [%rd1+16], %r1; atom.global.add.v2.f32 {%r5, _}, [%rd1+32], {%r2, %r2};"));
  EXPECT_EQ(lane.r(3), bits(1.5f));
  EXPECT_EQ(at<float>(0), 2.0f);
  EXPECT_EQ(at<double>(8), 2.75);
  EXPECT_EQ(lane.r(4), 0x3c004000u);
  EXPECT_EQ(at<std::uint32_t>(16), 0x42004200u);  // 1 + 2, 2 + 1
  EXPECT_EQ(lane.r(5), bits(1.0f));
  EXPECT_EQ(at<float>(36), 2.25f);
}
TEST_F(Buffer, asynchronousCopiesHappenAtOnce) {
  lane.set("%rd2", Interpreter::kTile);
  lane.set("%r1", 5), lane.set("%r2", 99), lane.set("%p1", 1);
  Program program(
      "cp.async.cg.shared.global [%rd2], [%rd1], 16; cp.async.ca.shared.global [%rd2+16], [%rd1+8], 8, %r1; "
      "cp.async.ca.shared.global [%rd2+32], [%rd1], 4, %r2;"
      "cp.async.cg.shared.global [%rd2+48], [%rd1], 16, %p1; cp.async.commit_group; cp.async.wait_group 0; "
      "cp.async.wait_all;");
  lane.run(program);
  auto tile = [&](unsigned k) { return lane.memory[Interpreter::kTile + k]; };
  for (unsigned k = 0; k < 16; ++k) {
    EXPECT_EQ(tile(k), lane.memory[Interpreter::kBuffer + k]);
    EXPECT_EQ(tile(48 + k), 0);
  }
  for (unsigned k = 0; k < 8; ++k) EXPECT_EQ(tile(16 + k), k < 5 ? lane.memory[Interpreter::kBuffer + 8 + k] : 0);
  for (unsigned k = 0; k < 4; ++k) EXPECT_EQ(tile(32 + k), lane.memory[Interpreter::kBuffer + k]);
}
TEST_F(Memory, windows) {
  Interpreter lane;
  lane.run(
      Program("mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; cvta.to.shared.u64 %rd3, %rd2; isspacep.shared %p0, "
              "%rd2; isspacep.global %p1, %rd2; cvta.shared.u64 %rd4, tile;"));
  EXPECT_EQ(lane.rd(2), Interpreter::kTile + 0x10000);
  EXPECT_EQ(lane.rd(3), Interpreter::kTile);
  EXPECT_TRUE(lane.p(0));
  EXPECT_FALSE(lane.p(1));
  EXPECT_EQ(lane.rd(4), lane.rd(2));
}
TEST_F(Buffer, fencesSayOrderAndScope) {
  lane.run(Program("membar.gl; fence.acq_rel.cta; fence.sc.sys; fence.proxy.async;"));
  auto text = [](Order order, Scope scope) {
    return "fence(" + std::to_string(static_cast<int>(order)) + "," + std::to_string(static_cast<int>(scope)) + ")";
  };
  EXPECT_EQ(lane.calls, (std::vector<std::string>{text(Order::seqCst, Scope::gpu), text(Order::acqRel, Scope::cta),
                                                  text(Order::seqCst, Scope::sys), text(Order::acqRel, Scope::sys)}));
}

}  // namespace
}  // namespace strata::ptx
