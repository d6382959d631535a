// SPDX-License-Identifier: Apache-2.0
// What nvcc does for one command line, as data: stages of steps. --dryrun prints it, the runner runs it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/temporary_folder.h"
#include "toolkit/nvcc/options.h"

namespace strata::nvcc {

// A command to run, or work that nvcc does itself; then the words only describe it.
struct Step {
  std::vector<std::string> words;
  std::function<Result<void>()> work;
};

// Steps of a stage may run at the same time.
using Stage = std::vector<Step>;

// What becomes of one input: stages in order.
using Chain = std::vector<Stage>;

struct Plan {
  std::vector<std::string> variables;  // "NAME=value" lines that CMake reads from --dryrun and --verbose
  std::vector<Chain> chains;           // may run at the same time
  Chain last;                          // after all chains: link or archive
  std::string temporaryFolder;         // of intermediate files
  std::optional<TemporaryFolder> own;  // which it is, unless the files are kept or nothing is run
  bool keep = false;
  std::string standardInput;  // where the input "-" is kept for the steps of `chains`, which all read it; empty: none
  unsigned threads = 0;       // 0: one per core
};

// Errors (user): options that exclude each other, no input, a result in the place of an input; (resource): no temporary
// folder.
Result<Plan> makePlan(const CommandLine &line);

}  // namespace strata::nvcc
