// SPDX-License-Identifier: Apache-2.0
// The verifier's rules, by their numbers at the head of ptx/verifier.cpp.
#include <gtest/gtest.h>

#include "ptx/ptx.h"

namespace strata::ptx {
namespace {

constexpr auto kHead = ".version 8.3\n.target sm_90\n.address_size 64\n";
constexpr auto kRegisters = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<4>;\n";

Module moduleOf(const std::string &body) {
  Result<Module> module = parse(kHead + body);
  EXPECT_TRUE(module) << (module ? "" : module.error().message);
  return module ? *module : Module{};
}
std::string messageOf(const std::string &body) {
  Result<Module> module = parse(kHead + body);
  return module ? std::string() : module.error().message;
}
std::string messageOf(const Module &module) {
  Result<void> sound = verify(module);
  return sound ? std::string() : sound.error().message;
}
std::string kernel(const std::string &body) {
  return std::string(".visible .entry k(.param .u64 p)\n{\n") + kRegisters + body + "\nret;\n}\n";
}
Module sample() {
  return moduleOf(".global .b32 g;\n.global .u64 pg = g;\n.func f() { ret; }\n" +
                  kernel("L: @%p0 bra L;\nadd.u32 %r0, %r1, %r2;\nld.global.u32 %r0, [g];\ncall f;"));
}
Function &body(Module &m) { return m.functions[1]; }

#define EXPECT_SAYS(message, part) EXPECT_NE(std::string(message).find(part), std::string::npos) << message

TEST(Verifier, acceptsWhatTheParserGives) { EXPECT_EQ(messageOf(sample()), ""); }

TEST(Verifier, v1NamesAndIndices) {
  Module m = sample();
  m.variables[1].name = "g";
  EXPECT_SAYS(messageOf(m), "'g' is declared twice");
  m = sample();
  m.functions[0].name = "k";
  EXPECT_SAYS(messageOf(m), "'k' is declared twice");
  m = sample();
  body(m).registers[1].name = body(m).registers[0].name;
  EXPECT_SAYS(messageOf(m), "is declared twice");
  m = sample();
  body(m).body[1].operands[2].reg = 1000;
  EXPECT_SAYS(messageOf(m), "an operand's index is out of range");
  m = sample();
  body(m).body[0].operands[0].label = 7;
  EXPECT_SAYS(messageOf(m), "an operand's index is out of range");
  m = sample();
  body(m).body[2].operands[1].symbol.index = 9;
  EXPECT_SAYS(messageOf(m), "an operand's index is out of range");
  m = sample();
  body(m).body[1].sourceLine = 3;
  EXPECT_SAYS(messageOf(m), "the source line is out of range");
  m = sample();
  body(m).labels[0].instruction = 99;
  EXPECT_SAYS(messageOf(m), "label 'L' is outside its function");
  m = sample();
  body(m).branchTargets = {{5}};
  EXPECT_SAYS(messageOf(m), "names an unknown label");
}
TEST(Verifier, v2InstructionsFitTheirRows) {
  Module m = sample();
  body(m).body[1].form = nullptr;
  EXPECT_SAYS(messageOf(m), "does not fit its row");
  m = sample();
  body(m).body[1].form = body(m).body[2].form;
  EXPECT_SAYS(messageOf(m), "does not fit its row");
  m = sample();
  body(m).body[1].modifiers.push_back(Mod::ftz);
  EXPECT_SAYS(messageOf(m), "does not fit its row");
  m = sample();
  body(m).body[1].operands.pop_back();
  EXPECT_SAYS(messageOf(m), "takes 3 operands, not 2");
  m = sample();
  body(m).registers[body(m).body[1].operands[1].reg].type = Type::f32;
  EXPECT_SAYS(messageOf(m), "operand 'a' is %r1 of type f32, but u32 is needed");
}
TEST(Verifier, v3GuardsArePredicates) {
  Module m = sample();
  body(m).body[0].guard->reg = 5;
  EXPECT_SAYS(messageOf(m), "the guard is not a predicate");
}
TEST(Verifier, v4VersionAndTarget) {
  EXPECT_SAYS(messageOf(kernel("fence.acquire.gpu;")),
              "line 7, column 1: fence: this form needs PTX 8.6 or later, the module says 8.3");
  EXPECT_SAYS(messageOf(kernel("setmaxnreg.inc.sync.aligned.u32 32;")), "needs target sm_90a, the module says sm_90");
  Module m = sample();
  m.target = "sm_60";
  EXPECT_EQ(messageOf(m), "");
  Result<Module> old = parse(std::string(".version 7.0\n.target sm_70\n.address_size 64\n") +
                             kernel("redux.sync.add.u32 %r0, %r1, -1;"));
  ASSERT_FALSE(old);
  EXPECT_SAYS(old.error().message, "needs target sm_80 or later, the module says sm_70");
}
TEST(Verifier, v5Spaces) {
  std::string data = ".global .b32 g; .shared .b32 s; .const .b32 c;\n";
  EXPECT_SAYS(messageOf(data + kernel("ld.shared.u32 %r0, [g];")),
              "the address is in the .global space, the instruction says .shared");
  EXPECT_SAYS(messageOf(data + kernel("ld.global.u32 %r0, [s];")),
              "the address is in the .shared space, the instruction says .global");
  EXPECT_SAYS(messageOf(data + kernel("cvta.shared.u64 %rd0, g;")),
              "the address is in the .global space, the instruction says .shared");
  EXPECT_SAYS(messageOf(data + kernel("st.u32 [c], %r0;")), "the address is in the .const space");
  EXPECT_SAYS(messageOf(data + kernel("st.param.u64 [p], %rd0;")), "parameter 'p' may not be written");
  EXPECT_SAYS(messageOf(data + kernel("ld.global.u32 %r0, [k];")), "a function has no memory to access");
  EXPECT_EQ(messageOf(data + kernel("ld.shared::cta.u32 %r0, [s]; ld.u32 %r0, [g]; ld.u32 %r0, [s]; cvta.const.u64 "
                                    "%rd0, c; ld.param.u64 %rd1, [p];")),
            "");
}
TEST(Verifier, v6VectorSizes) {
  EXPECT_SAYS(messageOf(kernel("ld.global.v4.u64 {%rd0, %rd1, %rd2, %rd3}, [%rd4];")),
              "a vector access of 32 bytes is too large");
  EXPECT_EQ(messageOf(kernel("ld.global.v2.u64 {%rd0, %rd1}, [%rd4];")), "");
}
TEST(Verifier, v7Calls) {
  std::string f =
      ".func (.param .b32 r) f(.param .b64 a) { ret; }\n.entry e() { ret; }\n.func g(.reg .b32 %x) { ret; }\n";
  std::string args = ".param .b64 a; .param .b32 b;\n";
  EXPECT_EQ(messageOf(f + kernel(args + "call (b), f, (a); call g, (%r0); call g, (5);")), "");
  EXPECT_SAYS(messageOf(f + kernel(args + "call (b), f;")), "the callee takes 1 arguments, not 0");
  EXPECT_SAYS(messageOf(f + kernel(args + "call f, (a);")), "the callee takes 1 results, not 0");
  EXPECT_SAYS(messageOf(f + kernel(args + "call (b), f, (b);")), "arguments 1 has 4 bytes, the callee's has 8");
  EXPECT_SAYS(messageOf(f + kernel("call g, (%rd0);")), "arguments 1 has 8 bytes, the callee's has 4");
  EXPECT_SAYS(messageOf(f + kernel("call e;")), "'e' is a kernel and may not be called");
  EXPECT_SAYS(messageOf(f + kernel("call %rd0;")), "a call through a register needs a .callprototype");
  EXPECT_SAYS(messageOf(f + kernel("call %r0;")), "the callee must be a function or a 64-bit register");
  EXPECT_SAYS(
      messageOf(f + kernel(args + "q: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (b), %rd0, (a), q;")),
      "arguments 1 has 8 bytes, the callee's has 4");
}
TEST(Verifier, v8Kernels) {
  Module m = sample();
  body(m).results.push_back(body(m).params[0]);
  EXPECT_SAYS(messageOf(m), "kernel 'k' may not return a value");
  m = sample();
  body(m).params[0].size = 40000;
  EXPECT_SAYS(messageOf(m), "has 40000 bytes of parameters");
}
TEST(Verifier, v9Initialisers) {
  Module m = sample();
  m.variables[1].init.assign(9, 1);
  EXPECT_SAYS(messageOf(m), "the initialiser of 'pg' is longer than the variable");
  m = sample();
  m.variables[1].relocations[0].offset = 4;
  EXPECT_SAYS(messageOf(m), "lies outside it");
  m = sample();
  m.variables[1].relocations[0].symbol.index = 40;
  EXPECT_SAYS(messageOf(m), "names an unknown symbol");
  EXPECT_SAYS(messageOf(".shared .b32 s; .global .u64 x = s;"), "takes the address of a .shared variable");
}
TEST(Verifier, v10ConstantMemory) {
  EXPECT_EQ(messageOf(".const .b8 a[65536];"), "");
  EXPECT_SAYS(messageOf(".const .b8 a[65530]; .const .b64 b;"), "'b' brings constant memory above 64 KiB");
}

}  // namespace
}  // namespace strata::ptx
