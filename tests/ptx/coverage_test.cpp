// SPDX-License-Identifier: Apache-2.0
// Walks all rows of the instruction table.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <set>

#include "ptx/isa/families.h"
#include "ptx/isa/pattern.h"
#include "tests/ptx/interpreter.h"
#include "tests/ptx/row_examples.h"
#include "tests/ptx/same_module.h"

namespace strata::ptx {
namespace {

std::string wrapped(const std::string &lines, const Form &form) {
  std::string target = form.target.sm >= 100 ? "sm_100a" : "sm_90a";
  return ".version 8.8\n.target " + target +
         "\n.address_size 64\n.func callee()\n{\n\tret;\n}\n.visible .entry k()\n{\n" + examples::prologue() +
         "targets: .branchtargets here;\nhere:\n" + lines + "}\n";
}

std::string label(const Form &form) { return std::string(form.syntax) + "  [" + std::string(form.where) + "]"; }

TEST(Coverage, everyRowIsWellFormed) {
  ASSERT_GT(allForms().size(), 300u);
  std::set<const Form *> seen;
  for (const Form *form : allForms()) {
    Result<Pattern> pattern = readForm(*form);
    ASSERT_TRUE(pattern) << pattern.error().message;
    EXPECT_TRUE(seen.insert(form).second);
    EXPECT_EQ(form->state == State::executes, form->meaning != nullptr) << label(*form);
    EXPECT_FALSE(form->anchor.empty()) << label(*form);
  }
}

TEST(Coverage, everyRowParsesPrintsAndParses) {
  for (const Form *form : allForms()) {
    Result<Pattern> pattern = readForm(*form);
    ASSERT_TRUE(pattern);
    std::string lines;
    for (const std::string &line : examples::Maker(*pattern).lines()) lines += "\t" + line + "\n";
    std::string text = wrapped(lines, *form);
    Result<Module> first = parse(text);
    ASSERT_TRUE(first) << label(*form) << "\n" << first.error().message << "\n" << text;
    std::string printed = print(*first);
    Result<Module> second = parse(printed);
    ASSERT_TRUE(second) << label(*form) << "\n" << second.error().message << "\n" << printed;
    EXPECT_EQ(difference(*first, *second), "") << label(*form) << "\n" << printed;
  }
}

// An instruction that a row gives is recognised as an instruction of its opcode and, unless an earlier
// row of the same meaning takes it, as that row.
TEST(Coverage, everyRowIsReached) {
  for (const Form *form : allForms()) {
    Result<Pattern> pattern = readForm(*form);
    ASSERT_TRUE(pattern);
    bool reached = false;
    for (const std::string &line : examples::Maker(*pattern).lines()) {
      Result<Module> module = parse(wrapped("\t" + line + "\n", *form));
      ASSERT_TRUE(module) << line << "\n" << module.error().message;
      const Instruction &i = module->functions.back().body[0];
      EXPECT_EQ(i.opcode, pattern->opcode);
      EXPECT_EQ(i.form->meaning, form->meaning) << line << " is taken by " << label(*i.form);
      reached |= i.form == form;
    }
    EXPECT_TRUE(reached) << label(*form) << " is hidden by an earlier row";
  }
}

// Every meaning runs: on types that agree (the interpreter checks), whatever the registers hold.
TEST(Coverage, everyMeaningRuns) {
  unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (const Form *form : allForms()) {
    if (form->state != State::executes) continue;
    Result<Pattern> pattern = readForm(*form);
    ASSERT_TRUE(pattern);
    for (const std::string &line : examples::Maker(*pattern).lines()) {
      SCOPED_TRACE(line);
      Program program(line);
      Interpreter lane;
      const bool strided =
          form->where.find("stride") != std::string_view::npos;  // reaches far: a small stride, more memory
      if (strided) lane.memory.resize(1 << 21);
      for (int n = 0; n < 8; ++n) {
        std::string digit = std::to_string(n);
        lane.set("%p" + digit, random() & 1);
        lane.set("%c" + digit, random() & 0xff);
        lane.set("%h" + digit, random() & 0xffff);
        lane.set("%r" + digit, random() & (strided ? 0xff : 0xffffffff));
        lane.set("%rd" + digit, random());
        lane.set("%q" + digit, random());
      }
      lane.set("%rd1", Interpreter::kBuffer);
      lane.run(program);
    }
  }
}

std::string targetName(const Target &target) {
  return target.sm == 0 ? "any" : "sm_" + std::to_string(target.sm) + (target.specific ? "a" : "");
}

void describe(std::string &text, std::string_view family, std::span<const Form> forms) {
  text += "\n## " + std::string(family) + "\n\n| form | where | since | target | state |\n|---|---|---|---|---|\n";
  for (const Form &form : forms) {
    const char *state = form.state == State::executes  ? "executes"
                        : form.state == State::control ? "control flow"
                                                       : "parses only";
    std::string syntax(form.syntax);
    for (std::size_t bar = 0; (bar = syntax.find('|', bar)) != std::string::npos; bar += 2) syntax.insert(bar, "\\");
    text += "| `" + syntax + "` | " + (form.where.empty() ? "" : "`" + std::string(form.where) + "`") + " | " +
            std::to_string(form.version.major) + "." + std::to_string(form.version.minor) + " | " +
            targetName(form.target) + " | " + state + " |\n";
  }
}

std::string documentation() {
  std::map<State, int> count;
  for (const Form *form : allForms()) ++count[form->state];
  std::string text = "# PTX\n\nEvery form of the instruction table (`ptx/isa/`), " + std::to_string(allForms().size()) +
                     " rows: " + std::to_string(count[State::executes]) + " execute on the CPU device, " +
                     std::to_string(count[State::control]) + " are control flow and execute too, " +
                     std::to_string(count[State::parsesOnly]) +
                     " are\nparsed, checked and printed, and refused with their line when a kernel that uses one is "
                     "compiled. How to read a row: "
                     "`ptx/isa/form.h`.\nSince: the PTX version; target: the least architecture (a: that one only).\n";
#define X(family) describe(text, #family, family##Forms());
  PTX_FAMILIES(X)
#undef X
  return text;
}

// Written anew by running this test with STRATA_TEST_UPDATE_DOCS=1.
TEST(Coverage, thePageIsFresh) {
  const char *path = STRATA_SOURCE_DIR "/docs/ptx.md";
  if (std::getenv("STRATA_TEST_UPDATE_DOCS")) std::ofstream(path) << documentation();
  std::ifstream file(path);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(page == documentation()) << "docs/ptx.md is old: run with STRATA_TEST_UPDATE_DOCS=1";
}

TEST(Coverage, opcodesAndModifiersAreFoundByName) {
  EXPECT_EQ(findOpcode("add"), Opcode::add);
  EXPECT_EQ(findOpcode("and"), Opcode::and_);
  EXPECT_FALSE(findOpcode("nonsense"));
  EXPECT_EQ(findSuffix("shared::cta")->mod, Mod::shared_cta);
  EXPECT_EQ(findSuffix("f16x2")->type, Type::f16x2);
  EXPECT_FALSE(findSuffix("none"));
}

// A row that is wrong is reported, so that a typing error cannot hide.
TEST(Coverage, malformedRowsAreRefused) {
  auto message = [](std::string_view syntax, std::string_view where) {
    Form form{syntax, where, ptx(1, 0), sm(0), pure, State::control, nullptr, "x"};
    Result<Pattern> pattern = readForm(form);
    return pattern ? std::string() : pattern.error().message;
  };
  EXPECT_NE(message("frobnicate.u32 d, a", "").find("unknown opcode"), std::string::npos);
  EXPECT_NE(message("add.nothing d, a", "").find("unknown suffix"), std::string::npos);
  EXPECT_NE(message("add.u32 d, a", "a: u32 often").find("unknown flag"), std::string::npos);
  EXPECT_NE(message("add.u32 d, a", "a: u33").find("unknown type"), std::string::npos);
  EXPECT_NE(message("add.kind.u32 d, a", "kind = ftz f32").find("mixes types and modifiers"), std::string::npos);
  EXPECT_NE(message("add d, a", "").find("has no type"), std::string::npos);
}

}  // namespace
}  // namespace strata::ptx
