// SPDX-License-Identifier: Apache-2.0
// parse → print → parse is the identity, on snippets and on what clang writes.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "ptx/ptx.h"
#include "tests/ptx/same_module.h"

namespace strata::ptx {
namespace {

constexpr auto kHead = ".version 8.5\n.target sm_90a\n.address_size 64\n";

Module parsed(const std::string &text) {
  Result<Module> module = parse(text);
  EXPECT_TRUE(module) << (module ? "" : module.error().message) << "\n" << text;
  return module ? *module : Module{};
}
Module roundTrip(const std::string &body) {
  Module first = parsed(kHead + body);
  std::string printed = print(first);
  Module second = parsed(printed);
  EXPECT_EQ(difference(first, second), "") << printed;
  EXPECT_EQ(print(second), printed);
  return first;
}
Function kernel(const std::string &body) {
  return roundTrip(".visible .entry k(.param .u64 p)\n{\n" + body + "\nret;\n}\n").functions.at(0);
}

class ClangOutput : public testing::TestWithParam<const char *> {};
TEST_P(ClangOutput, roundTrips) {
  std::ifstream file(std::string(PTX_DATA) + "/" + GetParam());
  std::stringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(text.str().empty());
  Module first = parsed(text.str());
  std::string printed = print(first);
  Module second = parsed(printed);
  EXPECT_EQ(difference(first, second), "");
  EXPECT_EQ(print(second), printed);
  EXPECT_NE(first.findFunction("reduce"), nullptr);
}
INSTANTIATE_TEST_SUITE_P(All, ClangOutput,
                         testing::Values("kernels_o0.ptx", "kernels_o2_lines.ptx", "kernels_rdc.ptx"));

TEST(RoundTrip, header) {
  Module m = parsed(".version 9.0\n.target sm_90a, debug\n.address_size 64\n.file 1 \"a.cu\", 12, 13\n");
  EXPECT_EQ(m.versionMajor, 9u);
  EXPECT_EQ(m.versionMinor, 0u);
  EXPECT_EQ(m.target, "sm_90a");
  EXPECT_EQ(m.targetOptions, std::vector<std::string>{"debug"});
  EXPECT_EQ(m.files.at(1), "a.cu");
}

TEST(RoundTrip, finalNulOfACStringIsNoText) { EXPECT_TRUE(parse(std::string(kHead) + '\0')); }

TEST(RoundTrip, registersRangesAndVectors) {
  Function f =
      kernel(".reg .b32 a, %r<3>, b; .reg .v2 .f32 v; mov.b32 a, %r2; mov.f32 v.x, v.y; st.global.v2.f32 [8], v;");
  ASSERT_EQ(f.registers.size(), 7u);
  EXPECT_EQ(f.registers[0].name, "a");
  EXPECT_EQ(f.registers[3].name, "%r2");
  EXPECT_EQ(f.body[0].operands[1].reg, 3u);
  EXPECT_EQ(f.body[1].operands[0].reg, 5u);
  EXPECT_EQ(f.body[1].operands[1].reg, 6u);
  EXPECT_EQ(f.body[2].operands[1].elements.size(), 2u);
}

TEST(RoundTrip, scopesHideAndAreRenamedApart) {
  Function f = kernel(
      ".reg .b32 %r<4>; .reg .b32 x;\n mov.b32 x, 1;\n"
      "{ .reg .b32 x; mov.b32 x, 2; { .reg .b64 x; mov.b64 x, 3; } mov.b32 x, 4; }\n"
      "{ .reg .b32 %r<2>; mov.b32 %r1, 5; mov.b32 %r3, 6; }\n mov.b32 x, 7; mov.b32 %r1, 8;");
  std::vector<std::uint32_t> written;
  for (std::size_t k = 0; k + 1 < f.body.size(); ++k) written.push_back(f.body[k].operands[0].reg);
  // %r0-3: 0-3, x: 4, inner x: 5, innermost x: 6, inner %r0-1: 7-8
  EXPECT_EQ(written, (std::vector<std::uint32_t>{4, 5, 6, 5, 8, 3, 4, 1}));
  EXPECT_EQ(f.registers[6].type, Type::b64);
}

TEST(RoundTrip, labelsOfScopesAreTheirOwn) {
  Function f = kernel("{ L: bra L; }\n{ bra L; L: bra out; }\n out: bra.uni out;\n { bra M; }\n M: bra M;");
  ASSERT_EQ(f.labels.size(), 4u);
  auto target = [&](std::size_t k) { return f.labels[f.body[k].operands[0].label].instruction; };
  EXPECT_EQ(target(0), 0u);
  EXPECT_EQ(target(1), 2u);
  EXPECT_EQ(target(2), 3u);
  EXPECT_EQ(target(3), 3u);
  EXPECT_EQ(target(4), 5u);
  EXPECT_NE(f.labels[0].name, f.labels[1].name);
}

TEST(RoundTrip, immediates) {
  Function f = kernel(
      ".reg .b32 %r<2>; .reg .f32 %f<2>; .reg .f64 %fd<2>; .reg .b64 %rd<2>;\n"
      "mov.b32 %r0, 0x1F; mov.b32 %r0, 017; mov.b32 %r0, 0b101; mov.b32 %r0, -1; mov.b32 %r0, ~0; mov.b32 %r0, "
      "(1<<4)|2;\n"
      "mov.b32 %r0, 7 > 3 ? 10 : 20; mov.b64 %rd0, 0xFFFFFFFFFFFFFFFF; mov.b32 %r0, WARP_SZ - 1; mov.b32 %r0, 12U;\n"
      "mov.f32 %f0, 0f3F800000; mov.f32 %f0, 1.5; mov.f64 %fd0, 0d4000000000000000; mov.f32 %f0, -2.5e-3; mov.b32 %r0, "
      "-7 / 2;");
  std::vector<std::uint64_t> expected = {31,
                                         15,
                                         5,
                                         ~0ull,
                                         ~0ull,
                                         18,
                                         10,
                                         ~0ull,
                                         31,
                                         12,
                                         0x3f800000,
                                         0x3fc00000,
                                         0x4000000000000000ull,
                                         0xbb23d70aull,
                                         static_cast<std::uint64_t>(-3)};
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_EQ(f.body[k].operands[1].bits, expected[k]) << k;
  EXPECT_EQ(f.body[10].operands[1].type, Type::f32);
  EXPECT_EQ(f.body[11].operands[1].type, Type::f32);
  EXPECT_EQ(f.body[12].operands[1].type, Type::f64);
}

TEST(RoundTrip, addresses) {
  Module m = roundTrip(
      ".global .b32 g[4];\n.visible .entry k(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<2>; .local .align 4 .b8 "
      "l[8];\n"
      "ld.global.u32 %r0, [%rd1]; ld.global.u32 %r0, [%rd1+8]; ld.global.u32 %r0, [%rd1+-8]; ld.global.u32 %r0, "
      "[%rd1-8];\n"
      "ld.global.u32 %r0, [g+4]; ld.param.u64 %rd0, [p]; ld.local.u32 %r0, [l+4]; ld.global.u32 %r0, [256]; ld.u32 "
      "%r0, [g]; ld.u32 %r0, [l]; ret; }\n");
  const auto &body = m.functions[0].body;
  EXPECT_EQ(body[1].operands[1].offset, 8);
  EXPECT_EQ(body[2].operands[1].offset, -8);
  EXPECT_EQ(body[3].operands[1].offset, -8);
  EXPECT_TRUE(body[4].operands[1].hasSymbol);
  EXPECT_EQ(body[5].operands[1].symbol.kind, SymbolRef::Kind::param);
  EXPECT_EQ(body[7].operands[1].offset, 256);
  EXPECT_TRUE(body[8].has(Mod::global));  // implied by the variable
  EXPECT_TRUE(body[9].has(Mod::local));
}

TEST(RoundTrip, anIndexCountsElements) {
  Function f =
      kernel(".reg .b64 %d; .reg .b32 %r; .local .align 8 .v2 .b32 l[8]; mov.u64 %d, l[3]; ld.local.b32 %r, l[-1];");
  EXPECT_EQ(f.body[0].operands[1].offset, 24);
  EXPECT_EQ(f.body[1].operands[1].kind, Operand::Kind::address);
  EXPECT_EQ(f.body[1].operands[1].offset, -8);
}

TEST(RoundTrip, initialisers) {
  Module m = roundTrip(
      ".global .align 4 .u32 a[2][3] = {{1, 2}, {4, 5, 6}};\n.global .f32 f[2] = {1.5, 0f40000000};\n.const .s8 c = "
      "-1;\n"
      ".global .f64 d = 3;\n.global .u64 pa[3] = {a, generic(a)+8, a+4};\n.global .b8 s[6] = \"hello\";\n"
      ".global .b8 packed[9] = {7, 0xFF(generic(a)), 0xFF00(generic(a)), 0xFF0000(generic(a)), 0xFF000000(generic(a)), "
      "0xFF00000000(generic(a)), "
      "0xFF0000000000(generic(a)), 0xFF000000000000(generic(a)), 0xFF00000000000000(generic(a))};\n.global .v2 .f32 v "
      "= {1.0, 2.0};\n"
      ".global .b32 zeros[4];\n");
  EXPECT_EQ(m.variables[0].init[12], 4);
  EXPECT_EQ(m.variables[0].init[8], 0);
  EXPECT_EQ(m.variables[0].size, 24u);
  EXPECT_EQ(m.variables[1].init[3], 0x3f);
  EXPECT_EQ(m.variables[2].init[0], 0xff);
  EXPECT_EQ(m.variables[3].init[7], 0x40);
  EXPECT_EQ(m.variables[4].relocations.size(), 3u);
  EXPECT_TRUE(m.variables[4].relocations[1].generic);
  EXPECT_EQ(m.variables[4].relocations[1].addend, 8);
  EXPECT_EQ(m.variables[5].init[4], 'o');
  EXPECT_EQ(m.variables[6].relocations[7].shift, 56);
  EXPECT_EQ(m.variables[7].alignment, 8u);
  EXPECT_TRUE(m.variables[8].init.empty());
}

TEST(RoundTrip, linkageAndAttributes) {
  Module m = roundTrip(
      ".extern .shared .align 16 .b8 dyn[];\n.visible .global .attribute(.managed) .align 4 .u32 managed;\n.weak "
      ".global .u32 w;\n"
      ".common .global .u32 c;\n.extern .const .u32 e[4];\n.weak .entry we() { ret; }\n");
  EXPECT_EQ(m.variables[0].size, 0u);
  EXPECT_TRUE(m.variables[1].managed);
  EXPECT_EQ(m.variables[2].linkage, Linkage::weak);
  EXPECT_EQ(m.variables[3].linkage, Linkage::common);
  EXPECT_EQ(m.variables[4].linkage, Linkage::extern_);
  EXPECT_EQ(m.functions[0].linkage, Linkage::weak);
}

TEST(RoundTrip, kernelDirectives) {
  Module m = roundTrip(
      ".visible .entry k(.param .align 8 .b8 s[24], .param .u64 .ptr .global .align 16 q)\n.maxntid 256, "
      "2\n.minnctapersm 3\n"
      ".maxnreg 64\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{ .pragma \"nounroll\"; ret; }\n.visible .entry r() "
      ".reqntid 32 { ret; }\n");
  const Function &f = m.functions[0];
  EXPECT_EQ(f.params[0].size, 24u);
  EXPECT_TRUE(f.params[1].isPointer);
  EXPECT_EQ(f.params[1].pointerAlignment, 16u);
  EXPECT_EQ(f.maxntid[0], 256u);
  EXPECT_EQ(f.maxntid[1], 2u);
  EXPECT_EQ(f.maxntid[2], 1u);
  EXPECT_EQ(f.minnctapersm, 3u);
  EXPECT_TRUE(f.explicitCluster);
  EXPECT_EQ(f.pragmas, std::vector<std::string>{"nounroll"});
  EXPECT_EQ(m.functions[1].reqntid[0], 32u);
}

TEST(RoundTrip, calls) {
  Module m = roundTrip(
      ".extern .func (.param .b32 r) ext(.param .b64 a);\n.func (.reg .u32 %out) old(.reg .u32 %in) { add.u32 %out, "
      "%in, 1; ret; }\n"
      ".func noargs() .noreturn { trap; }\n.visible .entry k()\n{ .reg .b64 %rd<2>; .reg .u32 %r<2>;\n"
      "{ .param .b64 a; .param .b32 r; st.param.b64 [a], %rd0; call.uni (r), ext, (a); ld.param.b32 %r0, [r]; }\n"
      "{ .param .b64 a; .param .b32 r; st.param.b64 [a], %rd0;\nproto : .callprototype (.param .b32 _) _ (.param .b64 "
      "_);\n"
      "call (r), %rd1, (a), proto; }\ncall (%r0), old, (%r1);\nmov.u64 %rd0, noargs;\ncall noargs;\nret; }\n");
  const Function &f = *m.findFunction("k");
  const Instruction &direct = f.body[1], &indirect = f.body[4];
  EXPECT_EQ(direct.operands[1].symbol.kind, SymbolRef::Kind::function);
  EXPECT_EQ(direct.operands[0].elements.size(), 1u);
  EXPECT_EQ(indirect.operands[1].kind, Operand::Kind::reg);
  EXPECT_EQ(f.prototypes[indirect.operands[3].label].params[0].size, 8u);
  EXPECT_EQ(f.variables.size(), 4u);
  EXPECT_NE(f.variables[0].name, f.variables[2].name);
  EXPECT_TRUE(m.findFunction("noargs")->noreturn);
}

TEST(RoundTrip, declarationThenDefinition) {
  Module m = roundTrip(
      ".func (.param .b32 r) f(.param .b32 a);\n.visible .entry k() { ret; }\n.func (.param .b32 r) f(.param .b32 a) { "
      "ret; }\n");
  ASSERT_EQ(m.functions.size(), 2u);
  EXPECT_TRUE(m.functions[0].hasBody);
}

TEST(RoundTrip, aliasMeansItsFunction) {
  Module m = roundTrip(
      ".func real() { ret; }\n.visible .func nick();\n.global .u64 p = nick;\n.visible .entry k() { call nick; ret; "
      "}\n.alias nick, real;\n");
  EXPECT_EQ(m.functions[1].aliasOf, 0);
  EXPECT_EQ(m.functions[2].body[0].operands[1].symbol.index, 0u);
  EXPECT_EQ(m.variables[0].relocations[0].symbol.index, 0u);
}

TEST(RoundTrip, branchTables) {
  Function f = kernel(
      ".reg .b32 %r<2>; .reg .pred %p<2>;\n t: .branchtargets A, B, A;\n@!%p1 brx.idx %r0, t;\nA: bra.uni B;\nB:");
  EXPECT_EQ(f.branchTargets[0], (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_TRUE(f.body[0].guard && f.body[0].guard->negated);
}

TEST(RoundTrip, pairsSinksAndVectors) {
  Function f = kernel(
      ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b16 %h<4>; .reg .b64 %rd<4>;\n"
      "shfl.sync.up.b32 %r0|%p0, %r1, 1, 0, -1; setp.lt.and.s32 %p0|%p1, %r0, %r1, !%p2; setp.eq.s32 _|%p1, %r0, 3;\n"
      "mov.b32 {%h0, _}, %r0; ld.global.v4.u32 {%r0, _, %r2, %r3}, [%rd0]; atom.global.add.u32 _, [%rd0], 1; "
      "st.global.v2.u32 [%rd0], {1, %r2};");
  EXPECT_EQ(f.body[0].operands[0].kind, Operand::Kind::pair);
  EXPECT_TRUE(f.body[1].operands[3].negated);
  EXPECT_EQ(f.body[2].operands[0].elements[0].kind, Operand::Kind::sink);
  EXPECT_EQ(f.body[5].operands[0].kind, Operand::Kind::sink);
}

TEST(RoundTrip, modifiersComeInAnyOrder) {
  Function f = kernel(
      ".reg .b32 %r<2>; .reg .f32 %f<4>; .reg .b64 %rd<2>;\nld.global.acquire.gpu.b32 %r0, [%rd0]; "
      "ld.acquire.gpu.global.b32 %r0, [%rd0];\n"
      "add.f32.ftz %f0, %f1, %f2; add .ftz.f32 %f0, %f1, %f2;");
  EXPECT_EQ(f.body[0].modifiers, f.body[1].modifiers);
  EXPECT_EQ(f.body[2].form, f.body[3].form);
}

TEST(RoundTrip, carryFlagIsAHiddenRegister) {
  Function f = kernel(".reg .b32 %r<8>;\nadd.cc.u32 %r0, %r1, %r2; addc.cc.u32 %r3, %r4, %r5; addc.u32 %r6, %r7, 0;");
  EXPECT_EQ(f.registers.back().name, "%cc");
  for (int k = 0; k < 3; ++k)
    EXPECT_EQ(f.body[static_cast<std::size_t>(k)].operands.back().reg, f.registers.size() - 1);
}

TEST(RoundTrip, sourceLines) {
  Module m = roundTrip(
      ".file 1 \"a.cu\"\n.visible .entry k()\n{\n.loc 1 10 3\n.loc 1 20 5, function_name $L__info_string0, inlined_at "
      "1 10 3\n"
      "bar.sync 0;\n.loc 1 11 1\nret;\n}\n.section .debug_str\n{\n$L__info_string0:\n.b8 102\n.b8 111, 111\n.b8 "
      "0\n}\n");
  const Function &f = m.functions[0];
  const SourceLine &line = f.sourceLines[static_cast<std::size_t>(f.body[0].sourceLine)];
  EXPECT_EQ(line.line, 20u);
  EXPECT_EQ(f.sourceLines[static_cast<std::size_t>(line.inlinedAt)].line, 10u);
  EXPECT_EQ(f.sourceLines[static_cast<std::size_t>(f.body[1].sourceLine)].line, 11u);
  EXPECT_EQ(line.function, "foo");
  EXPECT_EQ(m.debugSections.size(), 1u);
}

TEST(RoundTrip, commentsAndOddSpacing) {
  Function f = kernel("/* a\n { */ .reg .b32 %r<2>;;; // }\nadd\t.u32\n%r0 ,%r1\n,\n1;");
  EXPECT_EQ(f.body[0].place.line, 8u);
}

}  // namespace
}  // namespace strata::ptx
