// SPDX-License-Identifier: Apache-2.0
// nvcc: understands NVIDIA's nvcc command line, compiles CUDA C++ with clang to PTX in a fat binary, and links.
#include <cstdio>
#include <exception>

#include "base/environment.h"
#include "base/printable.h"
#include "toolkit/nvcc/arch.h"
#include "toolkit/nvcc/children.h"
#include "toolkit/nvcc/native_code.h"
#include "toolkit/nvcc/options.h"
#include "toolkit/nvcc/plan.h"
#include "toolkit/nvcc/runner.h"
#include "toolkit/nvcc/shell.h"
#include "toolkit/nvcc/toolkit.h"

using namespace strata;
using namespace strata::nvcc;

namespace {

// The first line is how CMake and autoconf recognise an nvcc command line; the release is the one we stand for.
void printVersion() {
  std::printf(
      "nvcc: NVIDIA (R) Cuda compiler driver\n"
      "Strata %s: this is Strata's own compiler driver, compatible with the one named above\n"
      "Cuda compilation tools, release %d.%d, V%d.%d.%d\n"
      "Build strata_%s\n",
      STRATA_VERSION, kMajor, kMinor, kMajor, kMinor, kBuild, STRATA_VERSION);
}

int fail(const Error &error) {
  std::fprintf(stderr, "nvcc fatal   : %s\n", printable(error.message).c_str());
  return 1;
}

std::vector<std::string> argumentsOf(int argc, char **argv) {
  std::vector<std::string> arguments;
  if (const char *before = environment("NVCC_PREPEND_FLAGS")) arguments = shellWords(before);
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  if (const char *after = environment("NVCC_APPEND_FLAGS"))
    for (const std::string &word : shellWords(after)) arguments.push_back(word);
  return arguments;
}

int run(int argc, char **argv) {
  Result<CommandLine> line = parseCommandLine(argumentsOf(argc, argv));
  if (!line) return fail(line.error());
  if (line->has(Option::version)) return printVersion(), 0;
  if (line->has(Option::help)) return std::fputs(helpText().c_str(), stdout), 0;
  if (line->has(Option::listCode)) return std::fputs((listArchs("sm") + listNativeTargets()).c_str(), stdout), 0;
  if (line->has(Option::listArch)) return std::fputs(listArchs("compute").c_str(), stdout), 0;
  const EndBySignal atSignals;
  Result<Plan> plan = makePlan(*line);
  if (!plan) return fail(plan.error());
  bool verbose = line->has(Option::verbose);
  if (verbose)
    for (const std::string &name : line->accepted)
      std::fprintf(stderr, "nvcc info    : %s has no effect here\n", name.c_str());
  return runPlan(*plan, line->has(Option::dryRun) ? Show::commandsOnly : verbose ? Show::commands : Show::nothing);
}

}  // namespace

// The standard library throws where memory or the file system fails.
int main(int argc, char **argv) try { return run(argc, argv); } catch (const std::exception &error) {
  return fail(resourceError(error.what()));
}
