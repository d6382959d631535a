// SPDX-License-Identifier: Apache-2.0
// nvcc's option table and parser: every row is reachable by both names, in every form that its kind has.
#include "toolkit/nvcc/options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace strata::nvcc {
namespace {

using Words = std::vector<std::string>;

CommandLine parsed(const Words &words) {
  Result<CommandLine> line = parseCommandLine(words);
  EXPECT_TRUE(line) << (line ? "" : line.error().message);
  return line ? *line : CommandLine{};
}

std::string errorOf(const Words &words) {
  Result<CommandLine> line = parseCommandLine(words);
  return line ? "" : line.error().message;
}

// A value that the row accepts.
std::string sampleFor(const OptionRow &row) {
  if (row.kind == Kind::boolean) return "false";
  std::string allowed = row.allowed;
  return allowed.empty() ? "value" : allowed.substr(0, allowed.find('|'));
}

TEST(OptionTable, NamesAreUniqueAndDescribed) {
  std::set<std::string> names;
  for (const OptionRow &row : optionTable()) {
    EXPECT_TRUE(names.insert(row.longName).second) << row.longName;
    if (std::string(row.longName) != row.shortName) {
      EXPECT_TRUE(names.insert(row.shortName).second) << row.shortName;
    }
    EXPECT_TRUE(std::string(row.sentence).ends_with(".")) << row.longName;
  }
}

TEST(OptionTable, EveryRowParsesInEveryForm) {
  for (const OptionRow &row : optionTable()) {
    if (row.effect == Effect::refused || row.id == Option::optionsFile) continue;
    std::string sample = sampleFor(row);
    for (const std::string &name : {std::string("-") + row.shortName, std::string("--") + row.longName}) {
      std::vector<Words> forms = {{name}};
      if (row.kind != Kind::flag) forms = {{name, sample}, {name + "=" + sample}};
      if (row.kind == Kind::joined && name[1] != '-') forms.push_back({name + sample});
      for (const Words &form : forms) {
        CommandLine line = parsed(form);
        EXPECT_TRUE(line.has(row.id)) << form[0];
        if (row.kind != Kind::flag) EXPECT_EQ(line.value(row.id), sample) << form[0];
        EXPECT_TRUE(line.inputs.empty()) << form[0];
      }
    }
  }
}

TEST(OptionTable, RefusedRowsSayWhy) {
  for (const OptionRow &row : optionTable()) {
    if (row.effect != Effect::refused) continue;
    Words form = {std::string("--") + row.longName};
    if (row.kind != Kind::flag) form.push_back("value");
    Result<CommandLine> line = parseCommandLine(form);
    ASSERT_FALSE(line) << row.longName;
    EXPECT_EQ(line.error().blame, Blame::unsupported) << row.longName;
    EXPECT_NE(line.error().message.find(row.longName), std::string::npos);
    EXPECT_NE(line.error().message.find(row.sentence), std::string::npos);
  }
}

TEST(OptionTable, ValuesOutsideTheListAreRefused) {
  for (const OptionRow &row : optionTable()) {
    if (row.kind == Kind::flag || (row.kind != Kind::boolean && !*row.allowed)) continue;
    EXPECT_NE(errorOf({std::string("--") + row.longName + "=nonsense"}), "") << row.longName;
  }
}

TEST(OptionTable, HelpNamesEveryRow) {
  std::string help = helpText();
  for (const OptionRow &row : optionTable()) {
    EXPECT_NE(help.find("--" + std::string(row.longName)), std::string::npos) << row.longName;
    EXPECT_NE(help.find(row.sentence), std::string::npos) << row.longName;
  }
}

TEST(OptionParser, CommandLinesOfRealMakefiles) {
  CommandLine line =
      parsed({"-std=c++17", "-Xcompiler", "-Wall", "-arch=sm_60", "-O3", "-c", "main.cu", "-o", "main.o"});
  EXPECT_EQ(line.value(Option::standard), "c++17");
  EXPECT_EQ(line.value(Option::arch), "sm_60");
  EXPECT_EQ(line.value(Option::optimize), "3");
  EXPECT_EQ(line.value(Option::output), "main.o");
  EXPECT_EQ(line.inputs, Words{"main.cu"});
  line = parsed({"-forward-unknown-to-host-compiler", "-DX=\"a b\"", "--options-file=/dev/null", "-isystem=/i",
                 "--generate-code=arch=compute_80,code=[compute_80,sm_80]", "-Xcompiler=-fPIC", "-x", "cu", "-rdc=true",
                 "-c", "a.cu", "-march=native", "-fPIC"});
  EXPECT_EQ(line.list(Option::define), Words{"X=\"a b\""});
  EXPECT_EQ(line.list(Option::generateCode), Words{"arch=compute_80,code=[compute_80,sm_80]"});
  EXPECT_EQ(line.forwardCompiler, (Words{"-march=native", "-fPIC"}));
  EXPECT_TRUE(line.isTrue(Option::relocatable, false));
}

TEST(OptionParser, ListsAreSplitAtCommasOutsideQuotesAndBrackets) {
  EXPECT_EQ(parsed({"-Xcompiler", "-Wall,-O2", "-Xcompiler=-g"}).list(Option::hostOptions),
            (Words{"-Wall", "-O2", "-g"}));
  EXPECT_EQ(parsed({"-Xcompiler=-fPIC,-Wl,-rpath,/x", "-Xcompiler", "-O2"}).list(Option::hostOptions),
            (Words{"-fPIC", "-Wl,-rpath,/x", "-O2"}));
  EXPECT_EQ(parsed({"-Da=1,b=f(x,y),c=\"p,q\",d=m\\,n"}).list(Option::define),
            (Words{"a=1", "b=f(x,y)", "c=\"p,q\"", "d=m,n"}));
  EXPECT_EQ(parsed({"-I", "a,b", "-Ic"}).list(Option::include), (Words{"a", "b", "c"}));
}

TEST(OptionParser, TheLastOfASingleOptionCounts) {
  EXPECT_EQ(parsed({"-O0", "-O3"}).value(Option::optimize), "3");
  EXPECT_FALSE(parsed({"-rdc=true", "-rdc", "false"}).isTrue(Option::relocatable, true));
}

TEST(OptionParser, LongNamesWinOverJoinedShortOnes) {
  CommandLine line = parsed({"-lineinfo", "-lib", "-lm", "-link", "-l", "z"});
  EXPECT_TRUE(line.has(Option::lineInfo) && line.has(Option::lib) && line.has(Option::link));
  EXPECT_EQ(line.list(Option::library), (Words{"m", "z"}));
}

TEST(OptionParser, ErrorsNameTheOption) {
  EXPECT_EQ(errorOf({"a.cu", "--foo"}), "Unknown option '--foo'");
  EXPECT_EQ(errorOf({"-Wall", "a.cu"}), "Unknown option '-Wall'");
  EXPECT_EQ(errorOf({"-march=native"}), "Unknown option '-march=native'");
  EXPECT_EQ(errorOf({"-o"}), "argument expected after '-o'");
  EXPECT_EQ(errorOf({"-lineinfo=true"}), "no argument expected after '-lineinfo'");
  EXPECT_EQ(errorOf({"-std=c++99"}), "Value 'c++99' is not defined for option 'std'");
  EXPECT_EQ(errorOf({"-rdc", "-c"}), "'-c': expected true or false for option 'relocatable-device-code'");
  EXPECT_EQ(errorOf({"--options-file", "/nonexistent"}), "cannot read options file '/nonexistent'");
}

class OptionsFile : public testing::Test {
protected:
  std::string path_ = (std::filesystem::temp_directory_path() / ("options_test_" + std::to_string(getpid()))).string();
  void write(const std::string &text) { std::ofstream(path_) << text; }
  void TearDown() override { std::filesystem::remove(path_); }
};

TEST_F(OptionsFile, IsReadInPlaceWithQuotes) {
  write("-O2 -I\"my dir\"\n -D 'A=\"x y\"'\n b.cu\n");
  for (const Words &form : {Words{"a.cu", "-optf", path_, "c.cu"}, Words{"a.cu", "@" + path_, "c.cu"}}) {
    CommandLine line = parsed(form);
    EXPECT_EQ(line.inputs, (Words{"a.cu", "b.cu", "c.cu"}));
    EXPECT_EQ(line.list(Option::include), Words{"my dir"});
    EXPECT_EQ(line.list(Option::define), Words{"A=\"x y\""});
  }
}

TEST_F(OptionsFile, ThatReadsItselfEnds) {
  write("--options-file " + path_);
  EXPECT_NE(errorOf({"-optf", path_}).find("nested too deeply"), std::string::npos);
}

// docs/nvcc.md is made from the table: STRATA_TEST_UPDATE_DOCS=1 build/tests/nvcc_options_test writes it anew.
TEST(OptionTable, DocumentationIsFresh) {
  if (std::getenv("STRATA_TEST_UPDATE_DOCS")) std::ofstream(STRATA_SOURCE_DIR "/docs/nvcc.md") << documentationPage();
  std::ifstream file(STRATA_SOURCE_DIR "/docs/nvcc.md");
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), documentationPage()) << "run it with STRATA_TEST_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace strata::nvcc
