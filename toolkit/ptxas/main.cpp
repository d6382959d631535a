// SPDX-License-Identifier: Apache-2.0
// ptxas: checks PTX and writes it as a fat binary, which both drivers load where they take machine code
// (cuModuleLoadData, cuLibraryLoadData). Machine code is made by the driver: NVIDIA's for its GPUs, ours for this CPU.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "base/fatbin.h"
#include "base/printable.h"
#include "base/result.h"
#include "ptx/ptx.h"
#include "simt/simt.h"
#include "toolkit/nvcc/ptx_text.h"
#include "toolkit/nvcc/toolkit.h"

namespace strata::ptxas {
namespace {

enum class Option {
#define OPTION(id, ...) id,
#include "toolkit/ptxas/options.def"
#undef OPTION
};

struct OptionRow {
  Option id;
  std::string_view longName, shortName;  // without dashes
  bool takesValue;
  std::string_view sentence;
};
constexpr OptionRow kOptions[] = {
#define OPTION(id, longName, shortName, takesValue, sentence) {Option::id, longName, shortName, takesValue, sentence},
#include "toolkit/ptxas/options.def"
#undef OPTION
};

struct CommandLine {
  std::map<Option, std::string> values;
  std::vector<std::string> inputs;

  bool has(Option option) const { return values.contains(option); }
  std::string value(Option option, const std::string &fallback) const {
    auto found = values.find(option);
    return found == values.end() ? fallback : found->second;
  }
};

Result<std::string> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return userError("Could not open input file '" + path + "'");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class Parser {
public:
  Result<CommandLine> parse(const std::vector<std::string> &arguments) {
    if (auto read = readAll(arguments, 0); !read) return read.error();
    return std::move(line_);
  }

private:
  static constexpr int kDeepest = 8;  // options files that name options files

  Result<void> readAll(const std::vector<std::string> &arguments, int depth) {
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (auto read = readOne(arguments, i, depth); !read) return read;
    return {};
  }

  Result<void> readOne(const std::vector<std::string> &arguments, std::size_t &i, int depth) {
    const std::string &argument = arguments[i];
    if (argument.size() < 2 || argument[0] != '-') return line_.inputs.push_back(argument), Result<void>();
    const std::string_view text = std::string_view(argument).substr(argument.starts_with("--") ? 2 : 1);
    const std::size_t equals = text.find('=');
    std::optional<std::string> value;
    const OptionRow *row = find(text.substr(0, equals));
    if (row && equals != text.npos) value = text.substr(equals + 1);
    if (!row && !argument.starts_with("--") && (row = find(text.substr(0, 1))) && row->takesValue)
      value = text.substr(1);  // -O3
    if (!row || (value && !row->takesValue)) return userError("Unknown option '" + argument + "'");
    if (row->takesValue && !value) {
      if (i + 1 >= arguments.size()) return userError("argument expected after '" + argument + "'");
      value = arguments[++i];
    }
    line_.values[row->id] = value.value_or("");
    return row->id == Option::optionsFile ? readOptionsFile(*value, depth) : Result<void>();
  }

  Result<void> readOptionsFile(const std::string &path, int depth) {
    if (depth == kDeepest) return userError("options files are nested too deeply at '" + path + "'");
    auto text = readFile(path);
    if (!text) return text.error();
    std::istringstream words(*text);
    return readAll({std::istream_iterator<std::string>(words), {}}, depth + 1);
  }

  static const OptionRow *find(std::string_view name) {
    for (const OptionRow &row : kOptions)
      if (name == row.longName || name == row.shortName) return &row;
    return nullptr;
  }

  CommandLine line_;
};

struct Architecture {
  unsigned number = 0;
  std::string suffix;
};

// "sm_90a"; compute_90 is taken for sm_90, as ptxas does.
Result<Architecture> readArchitecture(const std::string &text) {
  Architecture arch;
  int used = 0;
  const char *digits = text.starts_with("sm_")        ? text.c_str() + 3
                       : text.starts_with("compute_") ? text.c_str() + 8
                                                      : "";
  if (std::sscanf(digits, "%3u%n", &arch.number, &used) != 1)
    return userError("Value '" + text + "' is not defined for option 'gpu-name'");
  arch.suffix = digits + used;
  if (arch.suffix != "" && arch.suffix != "a" && arch.suffix != "f")
    return userError("Value '" + text + "' is not defined for option 'gpu-name'");
  return arch;
}

// PTX for one architecture runs on later ones, but for those with a letter, which are for themselves only.
Result<void> checkTarget(const ptx::Module &module, const Architecture &gpu) {
  auto target = readArchitecture(module.target);
  if (!target) return userError("unknown .target '" + module.target + "'");
  const bool runs =
      target->suffix == "a" ? target->number == gpu.number && gpu.suffix == "a" : target->number <= gpu.number;
  if (runs) return {};
  return userError(fmt::format("SM version specified by .target ({}) does not run on sm_{}{}", module.target,
                               gpu.number, gpu.suffix));
}

void printUse(const simt::ModuleInfo &module, const std::string &gpu) {
  std::uint64_t constants = 0;
  for (const simt::GlobalInfo &global : module.globals) constants += global.constant ? global.size : 0;
  std::fprintf(stderr, "ptxas info    : %llu bytes gmem, %llu bytes cmem[3]\n",
               static_cast<unsigned long long>(module.globalsSize - constants),
               static_cast<unsigned long long>(constants));
  for (const simt::KernelInfo &kernel : module.kernels) {
    std::fprintf(stderr, "ptxas info    : Compiling entry function '%s' for '%s'\n", kernel.name.c_str(), gpu.c_str());
    std::fprintf(stderr, "ptxas info    : Function properties for %s\n", kernel.name.c_str());
    std::fprintf(stderr, "    %u bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n", kernel.localBytes);
    std::fprintf(stderr, "ptxas info    : Used %u registers, used %d barriers, %u bytes smem, %u bytes cmem[0]\n",
                 kernel.registers, kernel.usesBarrier ? 1 : 0, kernel.staticShared, kernel.paramBytes);
  }
}

Result<std::string> inputText(const CommandLine &line) {
  if (line.has(Option::inputText)) return line.value(Option::inputText, "");
  if (line.inputs.empty()) return userError("No input file specified");
  if (line.inputs.size() > 1) return userError("More than one input file: '" + line.inputs[1] + "'");
  return readFile(line.inputs[0]);
}

// Relocatable PTX may have open symbols, so only its text is checked; else all that loading it checks.
Result<void> check(const std::string &text, const CommandLine &line, const std::string &gpu) {
  auto module = ptx::parse(text);
  if (!module) return module.error();
  auto arch = readArchitecture(gpu);
  if (!arch) return arch.error();
  if (auto fits = checkTarget(*module, *arch); !fits) return fits;
  if (line.has(Option::compileOnly)) return {};
  if (const std::string open = nvcc::unresolvedSymbol(text); !open.empty())
    return userError("Unresolved extern '" + open + "'");
  auto opened = simt::openModule(text);
  if (!opened) return opened.error();
  if (line.has(Option::verbose) || line.has(Option::resourceUsage)) printUse((*opened)->info(), gpu);
  return {};
}

Result<void> writeOutput(const std::string &path, const std::string &text, const CommandLine &line,
                         const std::string &gpu) {
  fatbin::Entry entry;
  entry.kind = fatbin::Kind::ptx;
  entry.arch = readArchitecture(gpu)->number;
  entry.relocatable = line.has(Option::compileOnly);
  entry.payload.assign(text.begin(), text.end());
  const std::vector<std::uint8_t> bytes = fatbin::write({std::move(entry)}, /*compress=*/true);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return file.flush() ? Result<void>() : resourceError("Could not write output file '" + path + "'");
}

// The lines by which callers recognise a ptxas and its release.
void printVersion() {
  std::printf(
      "ptxas: NVIDIA (R) Ptx optimizing assembler\n"
      "Strata %s: this is Strata's own, compatible with the one named above\n"
      "Cuda compilation tools, release %d.%d, V%d.%d.%d\n"
      "Build strata_%s\n",
      STRATA_VERSION, nvcc::kMajor, nvcc::kMinor, nvcc::kMajor, nvcc::kMinor, nvcc::kBuild, STRATA_VERSION);
}

void printHelp() {
  std::puts("usage: ptxas [OPTIONS] FILE.ptx\n\nChecks PTX and writes it as a fat binary that both drivers load.\n");
  for (const OptionRow &row : kOptions)
    std::printf("  --%-32.*s -%-20.*s %.*s\n", static_cast<int>(row.longName.size()), row.longName.data(),
                static_cast<int>(row.shortName.size()), row.shortName.data(), static_cast<int>(row.sentence.size()),
                row.sentence.data());
}

int fail(const Error &error) {
  std::fprintf(stderr, "ptxas fatal   : %s\n", printable(error.message).c_str());
  return 255;
}

int run(const std::vector<std::string> &arguments) {
  auto line = Parser().parse(arguments);
  if (!line) return fail(line.error());
  if (line->has(Option::version)) return printVersion(), 0;
  if (line->has(Option::help)) return printHelp(), 0;
  if (line->value(Option::machine, "64") != "64") return fail(userError("only 64-bit code is supported"));
  auto text = inputText(*line);
  if (!text) return fail(text.error());
  while (!text->empty() && text->back() == '\0') text->pop_back();
  const std::string gpu = line->value(Option::arch, "sm_75");
  if (auto checked = check(*text, *line, gpu); !checked) {
    const std::string name = line->inputs.empty() ? "input" : line->inputs[0];
    std::fprintf(stderr, "ptxas %s, %s\n", printable(name).c_str(), printable(checked.error().message).c_str());
    return fail(userError("Ptx assembly aborted due to errors"));
  }
  if (auto written = writeOutput(line->value(Option::output, "elf.o"), *text, *line, gpu); !written)
    return fail(written.error());
  return 0;
}

}  // namespace
}  // namespace strata::ptxas

// The standard library throws where memory or the file system fails.
int main(int argc, char **argv) try {
  return strata::ptxas::run({argv + 1, argv + argc});
} catch (const std::exception &error) { return strata::ptxas::fail(strata::resourceError(error.what())); }
