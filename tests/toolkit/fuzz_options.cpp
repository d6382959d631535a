// SPDX-License-Identifier: Apache-2.0
// libFuzzer: command lines of nvcc, one word a line, planned but not run. Files of options are not read.
#include <cstdlib>
#include <string>

#include "toolkit/nvcc/arch.h"
#include "toolkit/nvcc/plan.h"
#include "toolkit/nvcc/shell.h"

using namespace strata;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::vector<std::string> words = {"--dryrun"};  // makes no folders
  std::string word;
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == 0) return 0;  // no argument has one
    if (data[i] != '\n') word += static_cast<char>(data[i]);
    else words.push_back(std::move(word)), word.clear();
  }
  words.push_back(word);
  for (std::string &each : words)
    if (each.starts_with("@") || each.find("optf") != each.npos || each.find("options-file") != each.npos) return 0;
  if (words.size() > 1 && nvcc::shellWords(nvcc::shellLine(words)) != words) std::abort();
  auto line = nvcc::parseCommandLine(words);
  if (!line) return line.error().message.empty() ? std::abort(), 0 : 0;
  auto plan = nvcc::makePlan(*line);
  if (!plan && plan.error().message.empty()) std::abort();
  return 0;
}
