// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "ptx/ptx.h"

namespace strata::ptx {
namespace {

Module moduleOf(const std::string &body, const std::string &target = "sm_80", const std::string &version = "8.0") {
  Result<Module> module = parse(".version " + version + "\n.target " + target + "\n.address_size 64\n" + body);
  EXPECT_TRUE(module) << (module ? "" : module.error().message);
  return module ? *module : Module{};
}
std::string messageOf(std::vector<Module> modules) {
  Result<Module> linked = link(std::move(modules));
  return linked ? std::string() : linked.error().message;
}
// The result also prints to a text that parses.
Module linkedOf(std::vector<Module> modules) {
  Result<Module> linked = link(std::move(modules));
  EXPECT_TRUE(linked) << (linked ? "" : linked.error().message);
  if (!linked) return {};
  Result<Module> again = parse(print(*linked));
  EXPECT_TRUE(again) << again.error().message << print(*linked);
  return *linked;
}
#define EXPECT_SAYS(message, part) EXPECT_NE(std::string(message).find(part), std::string::npos) << message

constexpr auto kCaller =
    ".extern .func (.param .b32 r) twice(.param .b32 a);\n.extern .global .b32 counter;\n.visible .entry k()\n{\n.reg "
    ".b32 %r<2>;\n.param .b32 a; .param .b32 r;\n"
    "ld.global.u32 %r0, [counter];\nst.param.b32 [a], %r0;\ncall (r), twice, (a);\nret;\n}\n";
constexpr auto kCallee =
    ".visible .global .b32 counter = 7;\n.visible .func (.param .b32 r) twice(.param .b32 a) { ret; }\n";

TEST(Linker, resolvesExterns) {
  for (bool calleeFirst : {false, true}) {
    std::vector<Module> modules = {moduleOf(kCaller), moduleOf(kCallee)};
    if (calleeFirst) std::swap(modules[0], modules[1]);
    Module m = linkedOf(modules);
    ASSERT_EQ(m.functions.size(), 2u);
    ASSERT_EQ(m.variables.size(), 1u);
    EXPECT_TRUE(m.findFunction("twice")->hasBody);
    EXPECT_EQ(m.findVariable("counter")->init[0], 7);
    const Function &k = *m.findFunction("k");
    EXPECT_EQ(m.functions[k.body[2].operands[1].symbol.index].name, "twice");
    EXPECT_EQ(m.variables[k.body[0].operands[1].symbol.index].name, "counter");
  }
}
TEST(Linker, internalNamesAreKeptApart) {
  auto part = [](int n) {
    std::string digit = std::to_string(n);
    return moduleOf(".global .b32 mine = " + digit +
                    ";\n.func help() { ret; }\n.global .u64 where = mine;\n.visible .entry k" + digit +
                    "() { .reg .b32 %r<2>; ld.global.u32 %r0, [mine]; call help; ret; }\n");
  };
  Module m = linkedOf({part(1), part(2), part(3)});
  ASSERT_EQ(m.variables.size(), 6u);
  for (int n = 1; n <= 3; ++n) {
    const Function &k = *m.findFunction("k" + std::to_string(n));
    EXPECT_EQ(m.variables[k.body[0].operands[1].symbol.index].init[0], n);
  }
  EXPECT_EQ(m.variables[m.variables[3].relocations[0].symbol.index].init[0], 2);
}
TEST(Linker, aStrongDefinitionBeatsAWeakOne) {
  std::string weak = ".weak .func f() { ret; }\n.weak .global .b32 w = 1;\n",
              strong = ".visible .func f() { trap; ret; }\n.visible .global .b32 w = 2;\n";
  for (bool strongFirst : {false, true}) {
    Module m = linkedOf(strongFirst ? std::vector{moduleOf(strong), moduleOf(weak)}
                                    : std::vector{moduleOf(weak), moduleOf(strong)});
    ASSERT_EQ(m.functions.size(), 1u);
    EXPECT_EQ(m.functions[0].body.size(), 2u);
    EXPECT_EQ(m.variables[0].init[0], 2);
  }
  EXPECT_EQ(linkedOf({moduleOf(weak), moduleOf(weak)}).functions.size(), 1u);
}
TEST(Linker, commonVariablesAreOne) {
  Module m =
      linkedOf({moduleOf(".common .global .align 4 .b32 c;\n"), moduleOf(".common .global .align 16 .b32 c;\n")});
  ASSERT_EQ(m.variables.size(), 1u);
  EXPECT_EQ(m.variables[0].alignment, 16u);
}
TEST(Linker, dynamicSharedMemoryIsOne) {
  Module m =
      linkedOf({moduleOf(".extern .shared .align 4 .b8 dyn[];\n"), moduleOf(".extern .shared .align 16 .b8 dyn[];\n")});
  ASSERT_EQ(m.variables.size(), 1u);
  EXPECT_EQ(m.variables[0].alignment, 16u);
}
TEST(Linker, aliasesAreResolvedAcrossModules) {
  Module m = linkedOf({moduleOf(".extern .func nick();\n.visible .entry k() { call nick; ret; }\n"),
                       moduleOf(".visible .func real() { ret; }\n.visible .func nick();\n.alias nick, real;\n")});
  const Function &k = *m.findFunction("k");
  EXPECT_EQ(m.functions[k.body[0].operands[1].symbol.index].name, "real");
}
// Each variable holds the address of another variable or of a function; where they lead from `name`, in `steps` steps.
std::string walk(const Module &m, std::string name, int steps) {
  for (; steps; --steps) {
    const Variable *v = m.findVariable(name);
    if (!v || v->relocations.size() != 1) return "nothing after " + name;
    const SymbolRef &next = v->relocations[0].symbol;
    name = next.kind == SymbolRef::Kind::function ? m.functions[next.index].name : m.variables[next.index].name;
  }
  return name;
}
TEST(Linker, initialisersMayNameWhatComesLater) {
  const std::string use =
      ".extern .global .u64 first;\n.visible .entry k() { .reg .u64 %r; ld.global.u64 %r, [first]; ret; }\n";
  const std::string define =
      ".func help() { ret; }\n.global .u64 last = help;\n.global .u64 hidden = last;\n.visible .global .u64 first = "
      "hidden;\n";
  for (bool useFirst : {false, true}) {
    Module m = linkedOf(useFirst ? std::vector{moduleOf(use), moduleOf(define)}
                                 : std::vector{moduleOf(define), moduleOf(use)});
    Result<Module> again = parse(print(m));
    ASSERT_TRUE(again);
    for (const Module *module : {&m, &*again}) EXPECT_EQ(walk(*module, "first", 3), "help");
  }
}
TEST(Linker, variablesOfSeveralModulesMayNameEachOther) {
  const std::vector<std::string> parts = {
      ".extern .global .u64 b;\n.visible .global .u64 a = b;\n",
      ".extern .global .u64 c;\n.global .u64 hidden = c;\n.visible .global .u64 b = hidden;\n",
      ".extern .global .u64 a;\n.weak .global .u64 c = a;\n"};
  std::vector<int> order = {0, 1, 2};
  do {
    std::vector<Module> modules;
    for (int part : order) modules.push_back(moduleOf(parts[static_cast<std::size_t>(part)]));
    Module m = linkedOf(std::move(modules));
    Result<Module> again = parse(print(m));
    ASSERT_TRUE(again);
    EXPECT_EQ(walk(*again, "a", 3), "c");
    EXPECT_EQ(walk(*again, "a", 4), "a");
    EXPECT_EQ(again->findVariable("c")->linkage, Linkage::weak);
    EXPECT_EQ(again->variables.size(), 4u);
  } while (std::next_permutation(order.begin(), order.end()));
}
TEST(Linker, sourceFilesAreKept) {
  auto part = [](const std::string &n) {
    return moduleOf(".file 1 \"" + n + ".cu\"\n.visible .entry " + n +
                    "() {\n.loc 1 5 1\nret; }\n.section .debug_str { .b8 1 }\n");
  };
  Module m = linkedOf({part("a"), part("b")});
  for (const char *n : {"a", "b"}) {
    const Function &f = *m.findFunction(n);
    EXPECT_EQ(m.files[f.sourceLines[0].file], std::string(n) + ".cu");
  }
  EXPECT_TRUE(m.debugSections.empty());
  EXPECT_EQ(linkedOf({part("a")}).debugSections.size(), 1u);
}
TEST(Linker, takesTheNewestVersionAndTarget) {
  Module m = linkedOf({moduleOf("", "sm_80", "7.8"), moduleOf("", "sm_90a", "8.3")});
  EXPECT_EQ(m.target, "sm_90a");
  EXPECT_EQ(m.versionMajor * 10 + m.versionMinor, 83u);
}
TEST(Linker, theDeviceRuntimeIsProvided) {
  EXPECT_EQ(messageOf({moduleOf(".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n")}), "");
}

TEST(Linker, errors) {
  EXPECT_SAYS(messageOf({}), "there is no module to link");
  EXPECT_SAYS(messageOf({moduleOf(kCaller)}), "variable 'counter', declared in module 1, is not defined in any module");
  EXPECT_SAYS(messageOf({moduleOf(kCaller), moduleOf(".visible .global .b32 counter;")}),
              "function 'twice', declared in module 1, is not defined in any module");
  EXPECT_SAYS(messageOf({moduleOf(kCallee), moduleOf(""), moduleOf(kCallee)}),
              "'counter' is defined in module 1 and module 3");
  EXPECT_SAYS(messageOf({moduleOf(".visible .func f() { ret; }"), moduleOf(".visible .func f() { ret; }")}),
              "'f' is defined in module 1 and module 2");
  EXPECT_SAYS(messageOf({moduleOf(".visible .global .b32 x;"), moduleOf(".visible .func x() { ret; }")}),
              "'x' is a function in module 2 and a variable in module 1");
  EXPECT_SAYS(
      messageOf({moduleOf(".extern .func f(.param .b64 a);"), moduleOf(".visible .func f(.param .b32 a) { ret; }")}),
      "'f' is declared differently in module 1 and module 2");
  EXPECT_SAYS(messageOf({moduleOf(".extern .global .b64 x;"), moduleOf(".visible .global .b32 x;")}),
              "'x' is declared differently");
  EXPECT_SAYS(messageOf({moduleOf("", "sm_90a"), moduleOf("", "sm_100a", "8.6")}),
              "targets sm_90a and sm_100a cannot be linked together");
}
TEST(Linker, errorsNameTheModules) {
  auto message = [](std::vector<Module> modules) {
    Result<Module> linked = link(std::move(modules), {"a.o#0", "", "c.o#0"});
    return linked ? std::string() : linked.error().message;
  };
  EXPECT_SAYS(message({moduleOf(kCaller), moduleOf("")}), "'counter', declared in 'a.o#0', is not");
  EXPECT_SAYS(message({moduleOf(""), moduleOf(kCallee), moduleOf(kCallee)}), "defined in module 2 and 'c.o#0'");
}

}  // namespace
}  // namespace strata::ptx
