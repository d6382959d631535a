// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nvcc/options.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "toolkit/nvcc/shell.h"

namespace strata::nvcc {

namespace {

constexpr OptionRow kTable[] = {
#define OPTION(id, longName, shortName, kind, times, effect, allowed, sentence) \
  {Option::id, longName, shortName, Kind::kind, Times::times, Effect::effect, allowed, sentence},
#include "toolkit/nvcc/options.def"
#undef OPTION
};

const OptionRow *findExact(std::string_view name) {
  for (const OptionRow &row : kTable)
    if (name == row.longName || name == row.shortName) return &row;
  return nullptr;
}

bool isAllowed(const OptionRow &row, const std::string &value) {
  if (!*row.allowed) return true;
  std::istringstream choices(row.allowed);
  for (std::string choice; std::getline(choices, choice, '|');)
    if (choice == value) return true;
  return false;
}

// -O3, -Idir, -DX=1: the short name directly followed by the value. (-march=native is none.)
const OptionRow *findJoined(const std::string &text) {
  for (const OptionRow &row : kTable)
    if (row.kind == Kind::joined && text.starts_with(row.shortName) &&
        isAllowed(row, text.substr(std::string_view(row.shortName).size())))
      return &row;
  return nullptr;
}

}  // namespace

std::span<const OptionRow> optionTable() { return kTable; }

std::string CommandLine::value(Option option, const std::string &fallback) const {
  auto found = values_.find(option);
  return found == values_.end() ? fallback : found->second.back();
}

bool CommandLine::isTrue(Option option, bool fallback) const {
  return has(option) ? value(option) == "true" : fallback;
}

std::vector<std::string> CommandLine::list(Option option) const {
  auto found = values_.find(option);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

class Parser {
public:
  Result<CommandLine> parse(const std::vector<std::string> &arguments) {
    if (Result<void> read = readAll(arguments); !read) return read.error();
    return std::move(line_);
  }

private:
  Result<void> readAll(const std::vector<std::string> &arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (Result<void> read = readOne(arguments, i); !read) return read;
    return {};
  }

  Result<void> readOne(const std::vector<std::string> &arguments, std::size_t &i) {
    const std::string &argument = arguments[i];
    if (argument.size() > 1 && argument[0] == '@') return readFile(argument.substr(1));
    if (argument.size() < 2 || argument[0] != '-') {
      line_.inputs.push_back(argument);
      return {};
    }
    std::string text = argument.substr(argument.starts_with("--") ? 2 : 1);
    std::size_t equals = text.find('=');
    std::optional<std::string> value;
    const OptionRow *row = findExact(text.substr(0, equals));
    if (row && equals != text.npos) value = text.substr(equals + 1);
    if (!row && !argument.starts_with("--") && (row = findJoined(text)))
      value = text.substr(std::string_view(row->shortName).size());
    if (!row) return unknown(argument);
    if (row->kind == Kind::flag) {
      if (value) return userError("no argument expected after '" + argument.substr(0, argument.find('=')) + "'");
      return store(*row, "");
    }
    if (!value) {
      if (i + 1 >= arguments.size()) return userError("argument expected after '" + argument + "'");
      value = arguments[++i];
    }
    return store(*row, *value);
  }

  Result<void> unknown(const std::string &argument) {
    bool both = line_.has(Option::forwardBoth);
    bool toCompiler = both || line_.has(Option::forwardCompiler);
    bool toLinker = both || line_.has(Option::forwardLinker);
    // The host linker is reached through clang, which knows which options are the linker's.
    if (toCompiler) line_.forwardCompiler.push_back(argument);
    if (toLinker) line_.forwardLinker.push_back(argument);
    if (toCompiler || toLinker) return {};
    return userError("Unknown option '" + argument + "'");
  }

  // "-Wl,-rpath,/dir" was split like every list, but the host compiler wants it in one piece.
  static void rejoinPassedOn(std::vector<std::string> &parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] != "-Wl" && parts[i] != "-Wa" && parts[i] != "-Wp") continue;
      for (std::size_t j = i + 1; j < parts.size(); ++j) parts[i] += "," + parts[j];
      parts.resize(i + 1);
    }
  }

  Result<void> store(const OptionRow &row, const std::string &text) {
    if (row.effect == Effect::refused)
      return unsupported("Option '--" + std::string(row.longName) + "' is not supported: " + row.sentence);
    if (row.effect == Effect::accepted) line_.accepted.push_back("--" + std::string(row.longName));
    std::vector<std::string> parts = {text};
    if (row.times == Times::list) parts = splitList(text);
    if (row.id == Option::hostOptions) rejoinPassedOn(parts);
    for (const std::string &part : parts) {
      if (row.kind == Kind::boolean && part != "true" && part != "false")
        return userError("'" + part + "': expected true or false for option '" + row.longName + "'");
      if (!isAllowed(row, part))
        return userError("Value '" + part + "' is not defined for option '" + row.longName + "'");
      if (row.id == Option::optionsFile) {
        if (Result<void> read = readFile(part); !read) return read;
      } else {
        line_.values_[row.id].push_back(part);
      }
    }
    return {};
  }

  Result<void> readFile(const std::string &path) {
    if (++fileDepth_ > 20) return userError("options files are nested too deeply at '" + path + "'");
    std::ifstream file(path);
    if (!file || std::filesystem::is_directory(path)) return userError("cannot read options file '" + path + "'");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    Result<void> read = readAll(shellWords(text));
    --fileDepth_;
    return read;
  }

  CommandLine line_;
  int fileDepth_ = 0;
};

Result<CommandLine> parseCommandLine(const std::vector<std::string> &arguments) {
  // Options may be forwarded wherever the option that says so stands, so that one is read first.
  std::vector<std::string> ordered;
  for (bool forwards : {true, false})
    for (const std::string &argument : arguments)
      if (argument.find("-forward-unknown-") < 2 == forwards) ordered.push_back(argument);
  return Parser().parse(ordered);
}

namespace {

std::string valueForm(const OptionRow &row) {
  if (row.kind == Kind::flag) return "";
  std::string form = row.kind == Kind::boolean ? "true|false" : *row.allowed ? row.allowed : "value";
  return form + (row.times == Times::list ? ",..." : "");
}

const char *effectNote(const OptionRow &row) {
  return row.effect == Effect::refused ? " [not supported]" : row.effect == Effect::accepted ? " [no effect]" : "";
}

constexpr const char *kAboutMachineCode = R"(
## Machine code for CPUs

`-arch=sm_90,cpu` puts machine code of every kernel into the fat binary, beside the PTX. On the CPU device such a program starts without a compiler
and without LLVM, with an empty cache as fast as with a full one. On a GPU nothing changes: NVIDIA's driver passes the code over. The names stand after `-arch` (alone, or beside one GPU), `-code`, or in the `code` list of
`-gencode`:

| name | runs on |
|---|---|
| `cpu` | `cpu_avx512` and `cpu_avx2`, each in a program that is shipped |
| `cpu_avx512` | processors with AVX-512 F, BW, DQ, VL, CD (x86-64-v4) |
| `cpu_avx2` | processors with AVX2, FMA, BMI, F16C (x86-64-v3), where AVX-512 is missing or `STRATA_SIMD=avx2` |
| `cpu_portable` | other x86-64 processors |
| `cpu_native` | processors exactly like this one, with all their extensions (AVX512-FP16 makes half arithmetic faster); for programs that stay here |

An image is used if it is for the target that the device runs (the best that the processor has, or `STRATA_SIMD`) and was made from the same PTX by the
same version of Strata. Otherwise, or if it is damaged, the PTX is compiled as in any program; `STRATA_LOG=debug` says why. It holds each kernel for
blocks whose x extent is a multiple of 32, or for the shape that `.reqntid` fixes; kernels that read `threadIdx.y` also for blocks of 16 by 16. A launch of
another shape compiles its kernel unless `--cpu-block X,Y,Z` names the shape. Kernels that the CPU device cannot run are named in a warning. With `-rdc=true` the code
is made at the device link, which takes the same option.
)";

}  // namespace

std::string helpText() {
  std::string text = "Usage: nvcc [options] file...\n\n";
  for (const OptionRow &row : kTable) {
    text += "--" + std::string(row.longName);
    if (std::string form = valueForm(row); !form.empty()) text += " <" + form + ">";
    if (std::string_view(row.longName) != row.shortName) text += "  (-" + std::string(row.shortName) + ")";
    text += "\n        " + std::string(row.sentence) + effectNote(row) + "\n";
  }
  return text;
}

std::string documentationPage() {
  std::string text =
      "# nvcc: options\n\nMade from toolkit/nvcc/options.def; a test keeps it fresh. Names may be written with one "
      "dash or "
      "two, values after a blank or `=`. `[no effect]`: understood, but nothing to do when the product is PTX.\n\n"
      "| option | short | value | what it does |\n|---|---|---|---|\n";
  for (const OptionRow &row : kTable) {
    std::string form = valueForm(row);
    for (std::size_t at = 0; (at = form.find('|', at)) != form.npos; at += 2) form.insert(at, "\\");
    text += "| `--" + std::string(row.longName) + "` | `-" + row.shortName + "` | " + form + " | " + row.sentence +
            effectNote(row) + " |\n";
  }
  return text + kAboutMachineCode;
}

}  // namespace strata::nvcc
