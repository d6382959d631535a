// SPDX-License-Identifier: Apache-2.0
// nvcc's command line: the table (options.def) and its parser.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace strata::nvcc {

enum class Option {
#define OPTION(id, ...) id,
#include "toolkit/nvcc/options.def"
#undef OPTION
};

enum class Kind { flag, boolean, value, joined };
enum class Times { once, each, list };
enum class Effect { acts, accepted, refused };

struct OptionRow {
  Option id;
  const char *longName, *shortName;  // without dashes
  Kind kind;
  Times times;
  Effect effect;
  const char *allowed;   // "a|b"; empty: any value
  const char *sentence;  // what it does, or why it is refused
};
std::span<const OptionRow> optionTable();

class CommandLine {
public:
  bool has(Option option) const { return values_.contains(option); }
  // The last value, or `fallback`.
  std::string value(Option option, const std::string &fallback = "") const;
  bool isTrue(Option option, bool fallback) const;
  // All values in order, split where the table says so.
  std::vector<std::string> list(Option option) const;

  std::vector<std::string> inputs;           // files, in order
  std::vector<std::string> forwardCompiler;  // unknown options, if they are to be forwarded
  std::vector<std::string> forwardLinker;
  std::vector<std::string> accepted;  // names given that have no effect, for --verbose

private:
  friend class Parser;
  std::map<Option, std::vector<std::string>> values_;
};

// Reads arguments (without argv[0]), options files and response files. Errors (user): unknown option, missing,
// superfluous or wrong value, unreadable options file; (unsupported): an option that the table refuses.
Result<CommandLine> parseCommandLine(const std::vector<std::string> &arguments);

std::string helpText();
std::string documentationPage();  // docs/nvcc.md

}  // namespace strata::nvcc
