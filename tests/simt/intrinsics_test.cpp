// SPDX-License-Identifier: Apache-2.0
// Each row of simt/intrinsics.def: it stands in lane_ir.md, and both lane mode and the vectoriser know its meaning.
#include "simt/intrinsics.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>

#include <fstream>
#include <iterator>

#include "simt/run_passes.h"

namespace strata::simt::test {
namespace {

using Row = IntrinsicRow;

std::string textOf(std::string_view s) { return std::string(s); }

std::string lineOf(const Row &row) {
  const char *const results[] = {"", "one lane", "members", "warp"}, *const effects[] = {"pure", "ordered", "memory"},
                    *const waits[] = {"nobody", "warp", "block", "others"};
  return "| `" + textOf(row.name) + "` | `" + textOf(row.signature) + "` | " + results[static_cast<int>(row.result)] +
         " | " + effects[static_cast<int>(row.effect)] + " | " + waits[static_cast<int>(row.waits)] + " | " +
         (row.kind < 0 ? "" : std::to_string(row.kind)) + " |\n";
}

TEST(Intrinsics, StandInThePage) {
  std::ifstream file(STRATA_SOURCE_DIR "/simt/lane_ir.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  std::string table =
      "| `strata.` | type | result alike in | memory | waits for | lane mode |\n|---|---|---|---|---|---|\n";
  for (const Row &row : kIntrinsics)
    if (row.group != Row::Group::own) table += lineOf(row);
  EXPECT_NE(page.find(table + "\n"), page.npos) << "simt/lane_ir.md should have:\n" << table;
}

// A kernel that calls it with small numbers, or with the lane's.
std::string kernelWith(const Row &row) {
  const std::string signature = textOf(row.signature), name = "@strata." + textOf(row.name);
  const std::size_t arrow = signature.find(" -> ");
  const std::string result = arrow == signature.npos ? "void" : signature.substr(arrow + 4),
                    parameters = signature.substr(0, arrow);
  std::string call = result + " " + name + "(";
  for (std::size_t at = 1; at + 1 < parameters.size();) {
    const std::size_t end = parameters.find_first_of(",)", at);
    const std::string type = parameters.substr(at, end - at);
    call += (at > 1 ? ", " : "") + type + (type == "ptr" ? " null" : type == "i1" ? " true" : " 4");
    at = end + 2;
  }
  return "declare " + result + " " + name + parameters + "\ndefine void @kernel(ptr %warp) \"strata.kernel\" {\n" +
         (result == "void" ? "  call " : "  %r = call ") + call + ")\n  ret void\n}\n";
}

struct Outcome {
  std::string error;
  bool laneMode = false;
};

Outcome runRow(const Row &row, Mode mode) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(kernelWith(row), problem, context);
  if (!module) return {problem.getMessage().str() + ":\n" + kernelWith(row)};
  CompileOptions options;
  options.mode = mode;
  options.blockMultipleOf32 = true;
  Unit unit(*module, *module->getFunction("kernel"), options, nullptr);
  PassTrace trace;
  auto setting = PassSetting::parse("verify");
  PassRunner runner(unit, *setting, trace);
  auto done = runner.run(passes("choose-mode", "count-in-blocks"));
  for (const llvm::Function &f : *module)
    if (done && f.getName().starts_with("strata.")) return {f.getName().str() + " is left"};
  return {done ? "" : done.error().message, unit.laneMode};
}

TEST(Intrinsics, HaveAMeaningInBothModes) {
  for (const Row &row : kIntrinsics) {
    if (row.group == Row::Group::own) continue;  // always asked for with more around them
    const Outcome vector = runRow(row, Mode::vector), lane = runRow(row, Mode::lane);
    EXPECT_EQ(vector.error, "") << row.name << " in vector mode";
    EXPECT_FALSE(vector.laneMode) << row.name;
    EXPECT_EQ(lane.error, "") << row.name << " in lane mode";
  }
  const Row unknown = {LaneIntrinsic::unknown,
                       "frobnicate",
                       "()",
                       Row::Group::machine,
                       Row::Result::none,
                       Row::Effect::memory,
                       Row::Waits::nobody,
                       -1,
                       -1,
                       ""};
  EXPECT_NE(runRow(unknown, Mode::vector).error, "");
  EXPECT_NE(runRow(unknown, Mode::lane).error, "");
}

TEST(Intrinsics, RowsAgreeWithThemselves) {
  for (const Row &row : kIntrinsics) {
    EXPECT_EQ(row.result == Row::Result::none, row.signature.find(" -> ") == row.signature.npos) << row.name;
    EXPECT_EQ(row.kind >= 0, row.group == Row::Group::collective) << row.name;
    EXPECT_FALSE(row.kind >= 0 && row.slot >= 0) << row.name;
    EXPECT_TRUE(row.slot >= 0 || row.operands.empty()) << row.name;
    EXPECT_EQ(rowOf(row.id), &row);
    EXPECT_EQ(rowOf(row.name), &row);
  }
}

}  // namespace
}  // namespace strata::simt::test
