// SPDX-License-Identifier: Apache-2.0
// The `strata` command.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "base/knobs.h"
#include "base/printable.h"
#include "simt/target/simd_level.h"
#include "tools/tools.h"

using namespace strata::tools;

namespace {

constexpr const char *kKernelHelp =
    "Only kernels of this name: mangled, or as in the source (ns::fft<512>); namespaces and template arguments may be "
    "left out";

void addRun(CLI::App &app, RunOptions &options, int &status) {
  CLI::App *sub =
      app.add_subcommand("run", "strata run [--nvcc=OPTIONS] FILE.cu|PROGRAM [ARGS...]: compile (if need be) and run");
  sub->add_option("--nvcc", options.nvccOptions, "More options for nvcc, e.g. --nvcc=\"-use_fast_math -Idir\"");
  sub->prefix_command();  // what follows the file is the program's
  sub->callback([&options, &status, sub] {
    std::vector<std::string> rest = sub->remaining();
    if (rest.empty()) throw CLI::RequiredError("FILE.cu or PROGRAM");
    if (rest[0].starts_with("-")) throw CLI::ExtrasError({rest[0]});
    options.file = rest[0];
    options.arguments.assign(rest.begin() + 1, rest.end());
    status = run(options);
  });
}

std::vector<std::string> simdNames() {
  std::vector<std::string> names = {"auto"};
  for (const strata::simt::SimdLevel &level : strata::simt::kSimdLevels) names.insert(names.begin() + 1, level.name);
  return names;
}

void addInspect(CLI::App &app, InspectOptions &options, int &status) {
  CLI::App *sub =
      app.add_subcommand("inspect", "Show what kernels become: PTX, lane IR, vector IR, x86 assembly, and why");
  sub->add_option("FILE", options.file, "CUDA source, PTX, object, library or program")->required();
  sub->add_option("--kernel", options.kernel, kKernelHelp);
  sub->add_option(
      "--stage", options.stage,
      "What to show: ptx, lane, vector, asm, why, passes (the passes, with times and sizes), or the IR after a "
      "pass of that name");
  sub->add_option("--simd", options.simd, "SIMD target")->check(CLI::IsMember(simdNames()));
  sub->add_option("--block", options.block,
                  "Block shape of the launch: X, X,Y or X,Y,Z, 'rows' (blockDim.x a multiple of 32) or 'any'; default: "
                  "rows, or 16,16,1 where threadIdx.y is read");
  sub->add_option("--mode", options.mode, "How lanes run")->check(CLI::IsMember({"vector", "lane"}));
  sub->add_option("--nvcc", options.nvccOptions, "More options for nvcc");
  sub->callback([&options, &status] {
    strata::knobs::report();
    status = inspect(options);
  });
}

void addPrecompile(CLI::App &app, PrecompileOptions &options, int &status) {
  CLI::App *sub = app.add_subcommand(
      "precompile",
      "Compile all kernels of programs and libraries into the machine-code cache, so that they start at once");
  sub->add_option("BINARY", options.files, "Programs, libraries, objects, archives, PTX")->required();
  sub->add_option(
      "--block", options.blocks,
      "A block shape (X, X,Y or X,Y,Z) that the program uses, if X is not a multiple of 32; may be repeated");
  sub->add_option("--kernel", options.kernel, kKernelHelp);
  sub->add_option("--jobs,-j", options.jobs, "Threads; default: one per processor");
  sub->add_flag("--quiet,-q", options.quiet, "Show no progress");
  sub->footer("The cache lies in STRATA_CACHE_DIR and holds up to STRATA_CACHE_SIZE bytes: see `strata knobs`.");
  sub->callback([&options, &status] {
    strata::knobs::report();
    status = precompile(options);
  });
}

int refuse(const std::string &what, const std::string &command) {
  std::fprintf(stderr, "strata: %s\n`%s --help` says more.\n", strata::printable(what).c_str(), command.c_str());
  return 2;
}

// Help and the version are no errors; a command line that cannot be understood is one, and the exit status is 2.
int explain(const CLI::App &app, const CLI::ParseError &error, const char *command) {
  std::string names, of = "strata";
  bool isKnown = false;
  for (const CLI::App *known : app.get_subcommands({})) {
    names += " " + known->get_name();
    isKnown |= command && known->get_name() == command;
  }
  if (command && *command != '-' && !isKnown)
    return refuse("no command '" + std::string(command) + "'; there are:" + names, of);
  if (error.get_exit_code() == 0) return app.exit(error);
  for (const CLI::App *given : app.get_subcommands()) of += " " + given->get_name();
  return refuse(error.what(), of);
}

}  // namespace

// The standard library throws where memory or the file system fails.
int main(int argc, char **argv) try {
  CLI::App app("Strata: CUDA programs on any machine", "strata");
  app.set_version_flag("--version", "strata " STRATA_VERSION);
  app.require_subcommand(1);
  // `strata run -- program …`: the dashes would be taken for the parent's, before the program's name is known.
  if (argc > 2 && std::strcmp(argv[1], "run") == 0 && std::strcmp(argv[2], "--") == 0) {
    std::copy(argv + 3, argv + argc, argv + 2);
    --argc;
  }
  int status = 0;
  RunOptions runOptions;
  InspectOptions inspectOptions;
  PrecompileOptions precompileOptions;
  addRun(app, runOptions, status);
  addInspect(app, inspectOptions, status);
  addPrecompile(app, precompileOptions, status);
  app.add_subcommand("smi", "Show devices and versions")->callback([&status] { status = smi(); });
  app.add_subcommand("knobs", "Show the environment variables that Strata reads")->callback([&status] {
    strata::knobs::report();
    status = knobs();
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) { return explain(app, error, argc > 1 ? argv[1] : nullptr); }
  return status;
} catch (const std::exception &error) { return fail(strata::resourceError(error.what())); }
