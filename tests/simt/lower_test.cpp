// SPDX-License-Identifier: Apache-2.0
// From PTX text to running machine code, one lane at a time: control flow, calls, memory, machine state.
#include <gtest/gtest.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>

#include <random>

#include "tests/simt/lane_program.h"

namespace strata::simt::test {
namespace {

const std::string kHeader = ".version 8.6\n.target sm_90\n.address_size 64\n";

// A kernel `k(u64 out)` with %o = out + 4 * linear thread, %t = tid.x and registers to spare.
std::string kernel(const std::string &body, const std::string &before = "", const std::string &moreParams = "") {
  return kHeader + before + ".visible .entry k(.param .u64 out" + moreParams +
         ") {\n"
         "  .reg .pred %p<8>;\n  .reg .b16 %h<8>;\n  .reg .b32 %r<32>;\n  .reg .f32 %f<16>;\n  .reg .b64 %d<32>;\n  "
         ".reg .b64 %o;\n  .reg .b32 %t;\n"
         "  ld.param.u64 %o, [out];\n  mov.u32 %t, %tid.x;\n  mul.wide.u32 %d31, %t, 4;\n  add.u64 %o, %o, %d31;\n" +
         body + "}\n";
}

std::vector<std::uint32_t> runThreads(const std::string &text, std::uint32_t threads,
                                      std::vector<std::uint64_t> more = {}) {
  LaneProgram program(text, "k");
  EXPECT_EQ(program.error(), "");
  std::vector<std::uint32_t> out(threads, 0xdeadbeef);
  if (!program.error().empty()) return out;
  std::vector<std::uint64_t> params{reinterpret_cast<std::uint64_t>(out.data())};
  params.insert(params.end(), more.begin(), more.end());
  program.run({.block = {threads, 1, 1}}, params);
  EXPECT_EQ(program.fault, FaultKind::none);
  return out;
}

std::string errorOf(const std::string &text) { return LaneProgram(text, "k").error(); }

std::vector<std::uint32_t> map(std::uint32_t n, std::uint32_t (*f)(std::uint32_t)) {
  std::vector<std::uint32_t> v(n);
  for (std::uint32_t i = 0; i < n; ++i) v[i] = f(i);
  return v;
}

TEST(ControlFlow, GuardsSelectAndJump) {
  // Arithmetic under a guard, a store under a guard, both polarities.
  const auto out = runThreads(
      kernel("  setp.lt.u32 %p0, %t, 5;\n  mov.u32 %r0, 100;\n  @%p0 add.u32 %r0, %r0, %t;\n  @!%p0 mov.u32 %r0, 7;\n"
             "  st.global.u32 [%o], 0;\n  setp.ne.u32 %p1, %t, 3;\n  @%p1 st.global.u32 [%o], %r0;\n  ret;\n"),
      9);
  EXPECT_EQ(out, map(9, [](std::uint32_t t) { return t == 3 ? 0u : t < 5 ? 100 + t : 7u; }));
}

TEST(ControlFlow, LoopsAndBranchTables) {
  const auto out =
      runThreads(kernel("  mov.u32 %r0, 0;\n  mov.u32 %r1, 0;\nloop:\n  setp.ge.u32 %p0, %r1, %t;\n  @%p0 bra done;\n"
                        "  and.b32 %r2, %r1, 3;\n  ts: .branchtargets a, b, c, a;\n  brx.idx %r2, ts;\n"
                        "a:\n  add.u32 %r0, %r0, 1;\n  bra next;\nb:\n  add.u32 %r0, %r0, 10;\n  bra.uni next;\nc:\n  "
                        "add.u32 %r0, %r0, 100;\n"
                        "next:\n  add.u32 %r1, %r1, 1;\n  bra loop;\ndone:\n  st.global.u32 [%o], %r0;\n  ret;\n"),
                 12);
  EXPECT_EQ(out, map(12, [](std::uint32_t t) {
              std::uint32_t sum = 0;
              for (std::uint32_t i = 0; i < t; ++i) sum += (i & 3) == 1 ? 10 : (i & 3) == 2 ? 100 : 1;
              return sum;
            }));
}

TEST(ControlFlow, BranchTableIndexOutOfRangeFaults) {
  LaneProgram program(kernel("  ts: .branchtargets a;\n  add.u32 %t, %t, 1;\n  brx.idx %t, ts;\na:\n  ret;\n"), "k");
  ASSERT_EQ(program.error(), "");
  program.run({}, {0});
  EXPECT_EQ(program.fault, FaultKind::illegalInstruction);
}

TEST(ControlFlow, UnwrittenRegisterIsHarmless) {
  const auto out = runThreads(
      kernel("  setp.eq.u32 %p0, %r5, %r6;\n  @%p0 bra a;\n  mov.u32 %r0, 2;\n  bra b;\na:\n  mov.u32 %r0, 1;\nb:\n"
             "  st.global.u32 [%o], %r0;\n  ret;\n"),
      2);
  EXPECT_TRUE(out[0] == 1 || out[0] == 2);
  EXPECT_EQ(out[0], out[1]);
}

const std::string kFactorial =
    ".func (.param .b32 r) fact(.param .b32 n) {\n  .reg .pred %p;\n  .reg .b32 %x<4>;\n  ld.param.u32 %x0, [n];\n  "
    "setp.gt.u32 %p, %x0, 1;\n"
    "  @%p bra more;\n  st.param.b32 [r], 1;\n  ret;\nmore:\n  {\n  .param .b32 a;\n  .param .b32 v;\n  sub.u32 %x1, "
    "%x0, 1;\n  st.param.b32 [a], %x1;\n"
    "  call.uni (v), fact, (a);\n  ld.param.b32 %x2, [v];\n  }\n  mul.lo.u32 %x3, %x2, %x0;\n  st.param.b32 [r], "
    "%x3;\n  ret;\n}\n";

std::string callOf(const std::string &what, const std::string &argument) {
  return "  {\n  .param .b32 a;\n  .param .b32 v;\n  st.param.b32 [a], " + argument + ";\n  call.uni (v), " + what +
         ", (a);\n  ld.param.b32 %r0, [v];\n  }\n";
}

TEST(Calls, Recursion) {
  const auto out = runThreads(kernel(callOf("fact", "%t") + "  st.global.u32 [%o], %r0;\n  ret;\n", kFactorial), 10);
  EXPECT_EQ(out, map(10, [](std::uint32_t t) {
              std::uint32_t r = 1;
              for (std::uint32_t i = 2; i <= t; ++i) r *= i;
              return r;
            }));
}

TEST(Calls, RecursionMakesTheStackUnknown) {
  LaneProgram recursive(kernel(callOf("fact", "%t") + "  ret;\n", kFactorial), "k"),
      plain(kernel("  st.global.u32 [%o], %t;\n  ret;\n"), "k");
  EXPECT_EQ(recursive.image().stackBytes, 0u);
  EXPECT_GT(plain.image().stackBytes, 0u);
}

// struct { u32 x[4]; } by value, and a struct result.
TEST(Calls, Aggregates) {
  const std::string swap =
      ".func (.param .align 8 .b8 r[16]) swap(.param .align 8 .b8 s[16]) {\n  .reg .b32 %x<4>;\n  ld.param.v2.b32 "
      "{%x0, %x1}, [s];\n"
      "  ld.param.b32 %x2, [s+8];\n  ld.param.b32 %x3, [s+12];\n  st.param.v2.b32 [r], {%x3, %x2};\n  st.param.v2.b32 "
      "[r+8], {%x1, %x0};\n  ret;\n}\n";
  const auto out = runThreads(kernel("  {\n  .param .align 8 .b8 a[16];\n  .param .align 8 .b8 v[16];\n  st.param.b32 "
                                     "[a], %t;\n  st.param.b32 [a+4], 10;\n"
                                     "  st.param.b32 [a+8], 20;\n  st.param.b32 [a+12], 30;\n  call.uni (v), swap, "
                                     "(a);\n  ld.param.v2.b32 {%r0, %r1}, [v];\n"
                                     "  ld.param.b32 %r2, [v+8];\n  ld.param.b32 %r3, [v+12];\n  }\n  mad.lo.u32 %r0, "
                                     "%r0, 1000, %r1;\n  mad.lo.u32 %r0, %r0, 1000, %r2;\n"
                                     "  add.u32 %r0, %r0, %r3;\n  st.global.u32 [%o], %r0;\n  ret;\n",
                                     swap),
                              4);
  EXPECT_EQ(out, map(4, [](std::uint32_t t) { return 30 * 1000000u + 20 * 1000 + 10 + t; }));
}

const std::string kTwoFunctions =
    ".func (.param .b32 r) twice(.param .b32 n) {\n  .reg .b32 %x;\n  ld.param.b32 %x, [n];\n  add.u32 %x, %x, %x;\n  "
    "st.param.b32 [r], %x;\n  ret;\n}\n"
    ".func (.param .b32 r) square(.param .b32 n) {\n  .reg .b32 %x;\n  ld.param.b32 %x, [n];\n  mul.lo.u32 %x, %x, "
    "%x;\n  st.param.b32 [r], %x;\n  ret;\n}\n"
    ".global .align 8 .u64 table[2] = {twice, square};\n";

std::string indirect(const std::string &loadHandle) {
  return kernel(loadHandle +
                    "  {\n  .param .b32 a;\n  .param .b32 v;\n  st.param.b32 [a], %t;\n  proto: .callprototype (.param "
                    ".b32 _) _ (.param .b32 _);\n"
                    "  call (v), %d1, (a), proto;\n  ld.param.b32 %r0, [v];\n  }\n  st.global.u32 [%o], %r0;\n  ret;\n",
                kTwoFunctions);
}

TEST(Calls, ThroughATable) {
  const auto out = runThreads(indirect("  and.b32 %r1, %t, 1;\n  mul.wide.u32 %d0, %r1, 8;\n  mov.u64 %d2, table;\n  "
                                       "add.u64 %d0, %d0, %d2;\n  ld.global.u64 %d1, [%d0];\n"),
                              8);
  EXPECT_EQ(out, map(8, [](std::uint32_t t) { return t & 1 ? t * t : t + t; }));
}

TEST(Calls, BadFunctionPointerFaults) {
  LaneProgram program(indirect("  mov.u64 %d1, 12345;\n  mov.u64 %d2, twice;\n"), "k");
  ASSERT_EQ(program.error(), "");
  std::uint32_t out = 0;
  program.run({}, {reinterpret_cast<std::uint64_t>(&out)});
  EXPECT_EQ(program.fault, FaultKind::invalidPc);
}

TEST(Calls, ExitInsideFunctionsEndsTheLane) {
  const std::string leave =
      ".func quit(.param .b32 n) {\n  .reg .pred %p;\n  .reg .b32 %x;\n  ld.param.b32 %x, [n];\n  setp.eq.u32 %p, %x, "
      "2;\n  @%p exit;\n  ret;\n}\n";
  const std::string deep =  // recursive, so not inlined: exits at depth 0 if asked
      ".func dive(.param .b32 n, .param .b32 q) {\n  .reg .pred %p<2>;\n  .reg .b32 %x<3>;\n  ld.param.b32 %x0, [n];\n "
      " ld.param.b32 %x1, [q];\n"
      "  setp.eq.u32 %p0, %x0, 0;\n  @!%p0 bra more;\n  setp.eq.u32 %p1, %x1, 5;\n  @%p1 exit;\n  ret;\nmore:\n  {\n  "
      ".param .b32 a;\n  .param .b32 b;\n"
      "  sub.u32 %x2, %x0, 1;\n  st.param.b32 [a], %x2;\n  st.param.b32 [b], %x1;\n  call.uni dive, (a, b);\n  }\n  "
      "ret;\n}\n";
  const auto out = runThreads(
      kernel("  st.global.u32 [%o], 1;\n  {\n  .param .b32 a;\n  st.param.b32 [a], %t;\n  call.uni quit, (a);\n  }\n"
             "  {\n  .param .b32 a;\n  .param .b32 b;\n  st.param.b32 [a], 3;\n  st.param.b32 [b], %t;\n  call.uni "
             "dive, (a, b);\n  }\n"
             "  st.global.u32 [%o], 2;\n  ret;\n",
             leave + deep),
      8);
  EXPECT_EQ(out, map(8, [](std::uint32_t t) { return t == 2 || t == 5 ? 1u : 2u; }));
}

TEST(Calls, UndefinedFunctionIsNamed) {
  const std::string e =
      errorOf(kernel(callOf("missing", "%t") + "  ret;\n", ".extern .func (.param .b32 r) missing(.param .b32 n);\n"));
  EXPECT_NE(e.find("'missing'"), std::string::npos) << e;
  EXPECT_NE(e.find("line"), std::string::npos) << e;
}

TEST(Calls, DeviceLibrary) {
  LaneProgram program(kernel("  {\n  .local .align 8 .b8 buf[8];\n  .param .b64 f;\n  .param .b64 a;\n  .param .b32 "
                             "v;\n  st.local.u32 [buf], 99;\n  mov.u64 %d0, buf;\n"
                             "  cvta.local.u64 %d0, %d0;\n  mov.u64 %d1, fmt;\n  cvta.global.u64 %d1, %d1;\n  "
                             "st.param.b64 [f], %d1;\n  st.param.b64 [a], %d0;\n"
                             "  call.uni (v), vprintf, (f, a);\n  ld.param.b32 %r0, [v];\n  }\n  {\n  .param .b64 s;\n "
                             " .param .b64 v;\n  st.param.b64 [s], 64;\n"
                             "  call.uni (v), malloc, (s);\n  ld.param.b64 %d2, [v];\n  }\n  cvt.u32.u64 %r1, %d2;\n  "
                             "add.u32 %r0, %r0, %r1;\n  st.global.u32 [%o], %r0;\n  ret;\n",
                             ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n.extern .func "
                             "(.param .b64 r) malloc(.param .b64 a);\n"
                             ".global .align 1 .b8 fmt[4] = {37, 100, 10, 0};\n"),
                      "k");
  ASSERT_EQ(program.error(), "");
  std::uint32_t out = 0;
  program.run({}, {reinterpret_cast<std::uint64_t>(&out)});
  EXPECT_EQ(program.calls, (std::vector<RecordedCall>{{"%d\n", {0, 99}}}));
  EXPECT_EQ(out, 7u + 64 + 0x1000);
}

// --- memory -----------------------------------------------------------------------------------------------

TEST(Memory, LocalArrayWithVaryingIndex) {
  const auto out = runThreads(kernel("  {\n  .local .align 4 .b8 a[32];\n  mov.u64 %d0, a;\n  cvta.local.u64 %d1, "
                                     "%d0;\n  mov.u32 %r1, 0;\nfill:\n  mul.wide.u32 %d2, %r1, 4;\n"
                                     "  add.u64 %d3, %d1, %d2;\n  mul.lo.u32 %r2, %r1, %r1;\n  st.u32 [%d3], %r2;\n  "
                                     "add.u32 %r1, %r1, 1;\n  setp.lt.u32 %p0, %r1, 8;\n  @%p0 bra fill;\n"
                                     "  mul.wide.u32 %d2, %t, 4;\n  add.u64 %d3, %d0, %d2;\n  ld.local.u32 %r3, "
                                     "[%d3];\n  st.global.u32 [%o], %r3;\n  }\n  ret;\n"),
                              8);
  EXPECT_EQ(out, map(8, [](std::uint32_t t) { return t * t; }));
}

TEST(Memory, SharedLayout) {
  const std::string text = kernel(
      "  mov.u32 %r0, dyn;\n  mov.u32 %r1, b;\n  st.shared.u32 [dyn+4], 11;\n  mov.u64 %d0, dyn;\n  cvta.shared.u64 "
      "%d0, %d0;\n  ld.u32 %r2, [%d0+4];\n"
      "  shl.b32 %r0, %r0, 16;\n  shl.b32 %r1, %r1, 8;\n  or.b32 %r0, %r0, %r1;\n  or.b32 %r0, %r0, %r2;\n  "
      "st.shared.u8 [a], 1;\n"
      "  st.global.u32 [%o], %r0;\n  ret;\n",
      ".shared .align 1 .b8 a[3];\n.shared .align 4 .b8 b[8];\n.shared .align 4 .b8 unused[400];\n.extern .shared "
      ".align 32 .b8 dyn[];\n");
  LaneProgram program(text, "k");
  ASSERT_EQ(program.error(), "");
  EXPECT_EQ(program.kernel().staticShared, 32u);  // 3 + pad + 8, rounded up for dyn; unused variables do not count
  std::uint32_t out = 0;
  program.run({.dynamicShared = 64}, {reinterpret_cast<std::uint64_t>(&out)});
  EXPECT_EQ(out, 32u << 16 | 4u << 8 | 11u);
}

TEST(Memory, GlobalsAndTheirInitialisers) {
  const std::string text = kernel(
      "  ld.global.u64 %d0, [where];\n  ld.u32 %r0, [%d0];\n  ld.const.u32 %r1, [c+4];\n  add.u32 %r0, %r0, %r1;\n  "
      "st.global.u32 [%o], %r0;\n"
      "  st.global.u32 [v], 77;\n  ret;\n",
      ".global .align 4 .u32 v = 5;\n.const .align 4 .u32 c[2] = {100, 200};\n.global .align 8 .u64 where = v;\n");
  LaneProgram program(text, "k");
  ASSERT_EQ(program.error(), "");
  ASSERT_EQ(program.info().globals.size(), 3u);
  EXPECT_TRUE(program.info().globals[1].constant);
  EXPECT_EQ(program.info().globalsSize % 256, 0u);
  std::uint32_t out = 0;
  program.run({}, {reinterpret_cast<std::uint64_t>(&out)});
  EXPECT_EQ(out, 205u);
  std::uint32_t v = 0;
  std::memcpy(&v, program.globals().data() + program.info().globals[0].offset, 4);
  EXPECT_EQ(v, 77u);
}

TEST(Memory, UndefinedVariableIsNamed) {
  const std::string e = errorOf(kernel("  ld.global.u32 %r0, [gone];\n  st.global.u32 [%o], %r0;\n  ret;\n",
                                       ".extern .global .align 4 .u32 gone;\n"));
  EXPECT_NE(e.find("'gone'"), std::string::npos) << e;
}

TEST(Memory, MisalignedAccessFaultsWithItsAddress) {
  for (std::uint64_t offset : {0u, 2u, 4u, 8u}) {
    LaneProgram program(
        kernel("  ld.param.u64 %d0, [in];\n  ld.global.v2.u32 {%r0, %r1}, [%d0];\n  st.global.u32 [%o], %r1;\n  ret;\n",
               "", ", .param .u64 in"),
        "k");
    ASSERT_EQ(program.error(), "");
    alignas(8) std::uint32_t in[6] = {1, 2, 3, 4, 5, 6};
    std::uint32_t out = 0xdeadbeef;
    const std::uint64_t address = reinterpret_cast<std::uint64_t>(in) + offset;
    program.run({}, {reinterpret_cast<std::uint64_t>(&out), address});
    EXPECT_EQ(program.fault, offset % 8 ? FaultKind::misalignedAddress : FaultKind::none) << offset;
    EXPECT_EQ(program.faultAddress, offset % 8 ? address : 0) << offset;
    EXPECT_EQ(out, offset % 8 ? 0xdeadbeef : in[offset / 4 + 1]) << offset;
  }
}

TEST(Memory, ChecksOfALoopAreThinnedOutButStillCatch) {
  const std::string loop = kernel(
      "  ld.param.u64 %d0, [in];\n  mov.u32 %r0, 0;\n  mov.u32 %r1, 0;\nl:\n  mul.wide.u32 %d1, %r1, 4;\n  add.u64 "
      "%d2, %d0, %d1;\n  ld.global.u32 %r2, [%d2];\n"
      "  add.u32 %r0, %r0, %r2;\n  add.u32 %r1, %r1, 1;\n  setp.lt.u32 %p0, %r1, 5;\n  @%p0 bra l;\n  st.global.u32 "
      "[%o], %r0;\n  ret;\n",
      "", ", .param .u64 in");
  for (std::uint64_t offset : {0u, 1u}) {
    LaneProgram program(loop, "k");
    ASSERT_EQ(program.error(), "");
    std::uint32_t in[6] = {1, 2, 3, 4, 5, 0}, out = 0;
    program.run({}, {reinterpret_cast<std::uint64_t>(&out), reinterpret_cast<std::uint64_t>(in) + offset});
    EXPECT_EQ(program.fault, offset ? FaultKind::misalignedAddress : FaultKind::none);
    EXPECT_EQ(out, offset ? 0u : 15u);
  }
}

TEST(Memory, Atomics) {
  const std::string text = kernel(
      "  ld.param.u64 %d0, [in];\n  atom.global.add.u32 %r0, [%d0], 3;\n  st.global.u32 [%o], %r0;\n  "
      "atom.global.inc.u32 %r1, [%d0+4], 4;\n"
      "  atom.global.dec.u32 %r1, [%d0+8], 4;\n  atom.global.cas.b32 %r1, [%d0+12], %t, 50;\n  mov.f32 %f0, "
      "0f3FC00000;\n  red.global.add.f32 [%d0+16], %f0;\n"
      "  mov.b16 %h0, 0x3C00;\n  atom.global.add.noftz.f16 %h1, [%d0+20], %h0;\n  red.global.max.s32 [%d0+24], %t;\n  "
      "ret;\n",
      "", ", .param .u64 in");
  alignas(16) std::uint32_t memory[7] = {1000, 0, 2, 0, 0, 0, 0x80000000};
  const auto old = runThreads(text, 7, {reinterpret_cast<std::uint64_t>(memory)});
  EXPECT_EQ(old, map(7, [](std::uint32_t t) { return 1000 + 3 * t; }));
  EXPECT_EQ(memory[0], 1021u);
  EXPECT_EQ(memory[1], 2u);  // 0 1 2 3 4 0 1 2
  EXPECT_EQ(memory[2], 0u);  // 2 1 0 4 3 2 1 0
  EXPECT_EQ(memory[3], 50u);
  EXPECT_EQ(memory[4], 0x41280000u);  // 7 * 1.5
  EXPECT_EQ(memory[5], 0x4700u);      // 7 in half
  EXPECT_EQ(memory[6], 6u);
}

// --- the machine ------------------------------------------------------------------------------------------

TEST(Machine, ThreadIndices) {
  const std::string body =
      "  mov.u32 %r0, %tid.y;\n  mov.u32 %r1, %tid.z;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %ntid.y;\n  mad.lo.u32 "
      "%r4, %r1, %r3, %r0;\n  mad.lo.u32 %r4, %r4, %r2, %t;\n"
      "  mul.wide.u32 %d0, %r4, 4;\n  ld.param.u64 %d1, [out];\n  add.u64 %d0, %d0, %d1;\n  mov.u32 %r5, %laneid;\n  "
      "mov.u32 %r6, %warpid;\n  mov.u32 %r7, %lanemask_lt;\n"
      "  popc.b32 %r7, %r7;\n  shl.b32 %r6, %r6, 8;\n  shl.b32 %r7, %r7, 16;\n  or.b32 %r5, %r5, %r6;\n  or.b32 %r5, "
      "%r5, %r7;\n  st.global.u32 [%d0], %r5;\n  ret;\n";
  for (bool exact : {false, true}) {
    CompileOptions options;
    if (exact) options.blockDim[0] = 5, options.blockDim[1] = 3, options.blockDim[2] = 4;
    LaneProgram program(kernel(body), "k", options);
    ASSERT_EQ(program.error(), "");
    std::vector<std::uint32_t> out(60, 0xdeadbeef);
    program.run({.block = {5, 3, 4}}, {reinterpret_cast<std::uint64_t>(out.data())});
    EXPECT_EQ(out, map(60, [](std::uint32_t t) { return t % 32 | t / 32 << 8 | (t % 32) << 16; }));
  }
}

TEST(Machine, BarriersTrapAndTime) {
  LaneProgram program(kernel("  bar.sync 0;\n  bar.sync 2, 64;\n  setp.eq.u32 %p0, %t, 0;\n  bar.red.popc.u32 %r0, 1, "
                             "%p0;\n  mov.u64 %d0, %globaltimer;\n  cvt.u32.u64 %r1, %d0;\n"
                             "  st.global.u32 [%o], %r1;\n  trap;\n  ret;\n"),
                      "k");
  ASSERT_EQ(program.error(), "");
  EXPECT_TRUE(program.kernel().usesBarrier);
  std::uint32_t out = 0;
  program.run({}, {reinterpret_cast<std::uint64_t>(&out)});
  EXPECT_EQ(program.calls,
            (std::vector<RecordedCall>{{"barrier", {0, 0, 1}}, {"barrier", {2, 64, 1}}, {"reduce", {1, 0, 1, 1, 0}}}));
  EXPECT_EQ(out, 42u);
  EXPECT_EQ(program.fault, FaultKind::trap);
}

TEST(Machine, CollectivesGoToTheExecutor) {
  LaneProgram program(kernel("  shfl.sync.down.b32 %r0|%p0, %t, 4, 31, 0xff;\n  vote.sync.ballot.b32 %r1, %p0, 0xf;\n  "
                             "selp.u32 %r2, 1000, 0, %p0;\n  add.u32 %r0, %r0, %r1;\n  add.u32 %r0, %r0, %r2;\n"
                             "  st.global.u32 [%o], %r0;\n  ret;\n"),
                      "k");
  ASSERT_EQ(program.error(), "");
  std::vector<RecordedCall> seen;
  program.collective = [&](std::uint32_t kind, std::uint32_t mask, std::uint64_t value, std::uint32_t b,
                           std::uint32_t c, std::uint32_t *predicate) -> std::uint64_t {
    seen.push_back({"", {kind, mask, value, b, c}});
    *predicate = 1;
    return kind == 2 ? 30 : 5;
  };
  std::uint32_t out = 0;
  program.run({}, {reinterpret_cast<std::uint64_t>(&out)});
  EXPECT_EQ(seen, (std::vector<RecordedCall>{{"", {2, 0xff, 0, 4, 31}}, {"", {7, 0xf, 1, 0, 0}}}));
  EXPECT_EQ(out, 1035u);
}

TEST(Machine, WaitingLoopsYield) {
  LaneProgram program(kernel("  mov.u32 %r1, 0;\n  ld.global.u32 %r2, [%o];\nl:\n  ld.volatile.global.u32 %r0, [%o];\n "
                             " add.u32 %r1, %r1, 1;\n  setp.lt.u32 %p0, %r1, %r2;\n  @%p0 bra l;\n  ret;\n"),
                      "k");
  ASSERT_EQ(program.error(), "");
  std::uint32_t rounds = 3;
  program.run({}, {reinterpret_cast<std::uint64_t>(&rounds)});
  EXPECT_EQ(program.calls, std::vector<RecordedCall>(3, {"yield", {}}));
}

// A short text with large variables must not become a large image.
TEST(Module, ImagesAreInProportion) {
  std::string text = kHeader;
  for (int i = 0; i < 20; ++i) text += ".global .b8 x" + std::to_string(i) + "[260000000] = {1};\n";
  auto module = ptx::parse(text);
  ASSERT_TRUE(module) << module.error().message;
  auto info = describeModule(*module);
  ASSERT_FALSE(info);
  EXPECT_NE(info.error().message.find("too far for an image"), std::string::npos) << info.error().message;
  // One is no matter: it comes last, as do those without initial values.
  module =
      ptx::parse(kHeader + ".global .b8 zeros[260000000];\n.global .b8 one[260000000] = {1};\n.global .b32 y = 5;\n");
  ASSERT_TRUE(module) << module.error().message;
  info = describeModule(*module);
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_LT(info->globalsImage.size(), 64u);
  EXPECT_GT(info->globalsSize, 520000000u);
}

TEST(Module, FixedSharedMemoryEnds) {
  const auto refusal = [](const std::string &bytes) {
    auto module = ptx::parse(kHeader + ".visible .entry k()\n{\n  .shared .b8 s[" + bytes +
                             "];\n  .reg .b64 %r;\n  mov.u64 %r, s;\n  ret;\n}\n");
    auto info = module ? describeModule(*module) : Result<ModuleInfo>(module.error());
    return info ? "" : info.error().message;
  };
  EXPECT_EQ(refusal("49152"), "");
  EXPECT_NE(refusal("49153").find("more than 49152 need .extern .shared"), std::string::npos);
  EXPECT_NE(refusal("1099511627776").find("more than 49152"), std::string::npos);
}

TEST(Module, KernelsAndParameters) {
  auto module = ptx::parse(kHeader +
                           ".visible .entry a(.param .u8 x, .param .u64 y, .param .align 16 .b8 z[20], .param .f32 "
                           "w)\n.maxntid 128, 2, 1\n{\n  ret;\n}\n"
                           ".visible .entry b()\n.reqntid 64\n{\n  .reg .u32 %r;\n  mov.u32 %r, %tid.y;\n  ret;\n}\n");
  ASSERT_TRUE(module) << module.error().message;
  auto info = describeModule(*module);
  ASSERT_TRUE(info);
  ASSERT_EQ(info->kernels.size(), 2u);
  const KernelInfo &a = info->kernels[0];
  ASSERT_EQ(a.params.size(), 4u);
  EXPECT_EQ(a.params[1].offset, 8u);
  EXPECT_EQ(a.params[2].offset, 16u);
  EXPECT_EQ(a.params[3].offset, 36u);
  EXPECT_EQ(a.paramBytes, 40u);
  EXPECT_EQ(a.maxThreads, 256u);
  EXPECT_FALSE(a.usesBarrier);
  EXPECT_FALSE(a.usesThreadY);
  EXPECT_TRUE(info->kernels[1].usesThreadY);
  EXPECT_EQ(info->kernels[1].reqntid[0], 64u);
  EXPECT_EQ(info->kernels[1].reqntid[1], 1u);
}

TEST(Module, NoSuchKernel) {
  LaneProgram program(kernel("  ret;\n"), "other");
  EXPECT_NE(program.error().find("'other'"), std::string::npos);
}

TEST(Debug, MachineCodeLeadsToSourceLines) {
  const std::string text = kHeader + ".file 1 \"/src/kernel.cu\"\n.file 2 \"/src/helper.h\"\n" +
                           kernel(
                               "  .loc 1 12 3\n  ld.volatile.global.u32 %r0, [%o];\n"
                               "  .loc 1 14 5\n  st.volatile.global.u32 [%o], %r0;\n  ret;\n")
                               .substr(kHeader.size());
  LaneProgram program(text, "k");
  ASSERT_EQ(program.error(), "");
  const auto &bytes = program.image().object;
  auto object = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(reinterpret_cast<const char *>(bytes.data()), bytes.size()), "o")));
  auto dwarf = llvm::DWARFContext::create(*object);
  std::set<std::uint32_t> lines;
  for (const auto &unit : dwarf->compile_units())
    for (const auto &row : dwarf->getLineTableForUnit(unit.get())->Rows) lines.insert(row.Line);
  EXPECT_TRUE(lines.count(12)) << "no line 12";
  EXPECT_TRUE(lines.count(14)) << "no line 14";
}

}  // namespace
}  // namespace strata::simt::test
