// SPDX-License-Identifier: Apache-2.0
// Texts that ask for more than they are worth: memory and time are in proportion to the text. Each size is such that a
// reader that is not would need minutes, or the machine's memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "ptx/ptx.h"

namespace strata::ptx {
namespace {

const std::string kHead = ".version 8.5\n.target sm_90\n.address_size 64\n";

std::string repeated(const std::string &text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string numbered(const std::string &before, const std::string &after, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += before + std::to_string(i) + after;
  return all;
}

std::string body(const std::string &text) { return kHead + ".visible .entry k()\n{\n" + text + "ret;\n}\n"; }

// Empty, or the error.
std::string refusal(const std::string &text) {
  const Result<Module> module = parse(text);
  return module ? "" : module.error().message;
}

// Fails where the process's memory grows beyond this.
class Limits : public testing::Test {
protected:
  ~Limits() override {
    rusage after{};
    getrusage(RUSAGE_SELF, &after);
    EXPECT_LT(after.ru_maxrss - before_.ru_maxrss, 512 << 10) << "KiB more";
  }
  Limits() { getrusage(RUSAGE_SELF, &before_); }

private:
  rusage before_{};
};

TEST_F(Limits, NestingEnds) {
  constexpr int kDeep = 200000;
  EXPECT_NE(refusal(body("ld.global.u32 %r, " + repeated("[0,", kDeep) + "0" + repeated("]", kDeep) + ";\n")), "");
  EXPECT_NE(refusal(body("cp.async.bulk " + repeated("[a,{[", kDeep))), "");
  for (const char *open : {"[", "(", "{", "-", "!", "~", "+", "1?", "1?1:", "(.s64)", "[0,", "[0,{0,", "{0,", "1+("}) {
    EXPECT_NE(refusal(body("mov.u32 " + repeated(open, kDeep))), "") << open;
    EXPECT_NE(refusal(kHead + ".global .u32 x = " + repeated(open, kDeep)), "") << open;
    EXPECT_NE(refusal(kHead + ".global .u32 x[2][2] = " + repeated(open, kDeep)), "") << open;
    EXPECT_NE(refusal(body(repeated(open, kDeep))), "") << open;
  }
  EXPECT_NE(refusal(kHead + ".global .u32 x" + repeated("[1]", kDeep) + ";\n"), "");
  EXPECT_NE(refusal(kHead + ".section .debug_str " + repeated("{", kDeep)), "");
}

TEST_F(Limits, InitialisersAreAsLargeAsTheirText) {
  EXPECT_EQ(refusal(kHead + numbered(".global .b8 x", "[1000000000] = {1, 2};\n", 1000)), "");
  EXPECT_NE(refusal(kHead + numbered(".global .b8 x", "[2][200000000] = {{1}, {2}};\n", 100)).find("not supported"),
            std::string::npos);
  EXPECT_EQ(refusal(kHead + ".global .b8 x[3][1000000] = {{1}, {2}, {3}};\n"), "");
}

TEST_F(Limits, RegistersAreAsManyAsATextCanUse) {
  EXPECT_EQ(refusal(body(".reg .b32 %r<1000000>;\n")), "");
  EXPECT_NE(refusal(kHead + numbered(".func f", "() { .reg .b32 %r<1000000>; ret; }\n", 100)).find("registers"),
            std::string::npos);
  EXPECT_NE(refusal(body(repeated(".reg .b32 %r<900000>;\n", 2))), "");
  // Names in the way of a range, each of which would have it look for another one.
  std::string names, under = "%r";
  for (int i = 0; i < 200; ++i) names += ".reg .b32 " + (under += "_") + "899999;\n";
  EXPECT_EQ(refusal(body(".reg .b32 %r899999;\n" + names + "{ .reg .b32 %r<900000>; }\n")), "");
}

// As inline assembly and calls have it.
TEST_F(Limits, BlocksThatDeclareTheSameNames) {
  constexpr int kBlocks = 20000;
  const std::string block =
      "{ .reg .b32 t; .reg .pred %p<3>; .param .b32 param0; mov.u32 t, 1;\nbra.uni L;\nL: @%p1 bra L; }\n";
  const Result<Module> module = parse(body(repeated(block, kBlocks)));
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(module->functions[0].registers.size(), 4u * kBlocks);
  EXPECT_EQ(module->functions[0].labels.size(), std::size_t{kBlocks});
  const Result<Module> again = parse(print(*module));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(print(*again), print(*module));
}

TEST_F(Limits, LinesThatNameInlinedFunctions) {
  constexpr int kFunctions = 50000;
  std::string lines, strings = ".section .debug_str\n{\n";
  for (int i = 0; i < kFunctions; ++i) {
    const std::string label = "$L__info_string" + std::to_string(i);
    lines += ".loc 1 " + std::to_string(i + 2) + " 1, function_name " + label + ", inlined_at 1 " +
             std::to_string(i + 1) + " 1\nmembar.gl;\n";
    strings += label + ":\n.b8 102\n.b8 49\n.b8 0\n";
  }
  const std::string text =
      kHead + ".file 1 \"a.cu\"\n.visible .entry k() {\n.loc 1 1 1\n" + lines + "ret;\n}\n" + strings + "}\n";
  const Result<Module> module = parse(text);
  ASSERT_TRUE(module) << module.error().message;
  const std::vector<SourceLine> &found = module->functions[0].sourceLines;
  EXPECT_EQ(found.back().function, "f1");
  // Each is inlined in the one before: chains end somewhere.
  std::size_t depth = 0;
  for (std::int32_t at = static_cast<std::int32_t>(found.size()) - 1; at >= 0;
       at = found[static_cast<std::size_t>(at)].inlinedAt)
    ++depth;
  EXPECT_LT(depth, 300u);
}

TEST_F(Limits, ManyOfEachKind) {
  constexpr int kMany = 20000;
  EXPECT_EQ(refusal(kHead + numbered(".global .b32 x", ";\n", kMany) + numbered(".func f", "();\n", kMany)), "");
  EXPECT_EQ(refusal(body(numbered("L", ":\n", kMany) + numbered("bra L", ";\n", kMany))), "");
  EXPECT_EQ(refusal(body(repeated("{ { ", 90) + repeated("} } ", 90))), "");
  EXPECT_EQ(refusal(body(numbered("P", ": .callprototype _ (.param .b32 _);\n", kMany))), "");
  EXPECT_EQ(refusal(kHead + numbered(".pragma \"p", "\";\n", kMany)), "");
  EXPECT_EQ(refusal(kHead + numbered(".file ", " \"a.cu\"\n", kMany)), "");
}

}  // namespace
}  // namespace strata::ptx
