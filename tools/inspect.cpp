// SPDX-License-Identifier: Apache-2.0
// strata inspect: the PTX of a source, object or program, and what the code generator makes of it.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "base/knobs.h"
#include "base/printable.h"
#include "base/temporary_folder.h"
#include "simt/exec/module.h"
#include "simt/exec/precompile.h"
#include "simt/simt.h"
#include "toolkit/nvcc/children.h"
#include "toolkit/nvcc/shell.h"
#include "tools/device_code.h"
#include "tools/kernel_names.h"
#include "tools/tools.h"

namespace strata::tools {

namespace fs = std::filesystem;

namespace {

Result<std::string> ptxOfSource(const InspectOptions &options) {
  const nvcc::EndBySignal atSignals;
  const Result<TemporaryFolder> folder = TemporaryFolder::make("strata-inspect");
  if (!folder) return folder.error();
  const std::string output = folder->path() + "/kernels.ptx";
  std::vector<std::string> words = {prefix() + "/bin/nvcc", "-ptx", "-arch=sm_90", "-lineinfo",
                                    options.file,           "-o",   output};
  for (const std::string &word : nvcc::shellWords(options.nvccOptions)) words.push_back(word);
  const Result<int> status = nvcc::spawnAndWait(words);
  if (!status) return status.error();
  if (*status != 0) return userError("'" + options.file + "' does not compile");
  return readText(output);
}

Result<std::vector<std::string>> modulesOf(const InspectOptions &options) {
  std::string extension = fs::path(options.file).extension();
  if (!fs::exists(options.file)) return userError("cannot read '" + options.file + "'");
  if (extension == ".ptx") return std::vector<std::string>{readText(options.file)};
  if (extension == ".cu") {
    Result<std::string> text = ptxOfSource(options);
    if (!text) return text.error();
    return std::vector<std::string>{*text};
  }
  Result<std::vector<nvcc::Object>> objects = nvcc::readObjects(options.file, nvcc::Objects::linkedToo);
  if (!objects) return objects.error();
  std::vector<simt::ModuleSource> sources;
  for (const nvcc::Object &object : *objects)
    for (const char *name : {kFatbins, kRelocatableFatbins})
      if (Result<void> added = addModules(object, name, sources); !added) return added.error();
  if (sources.empty()) return userError("'" + options.file + "' holds no PTX");
  std::vector<std::string> modules;
  for (const simt::ModuleSource &source : sources) {
    Result<std::string> text = simt::wholePtx(source);
    if (!text) return Error{text.error().blame, "'" + options.file + "': " + text.error().message};
    modules.push_back(std::move(*text));
  }
  return modules;
}

Result<simt::CompileOptions> compileOptions(const InspectOptions &options) {
  simt::CompileOptions compile;
  compile.mode = options.mode == "lane" ? simt::Mode::lane : simt::Mode::vector;
  compile.passes = knobs::get().STRATA_PASSES;
  if (options.simd == "auto") {
    Result<simt::Simd> best = simt::hostSimd();
    if (!best) return best.error();
    compile.simd = *best;
  } else {
    compile.simd = simt::levelOf(std::string_view(options.simd))->simd;  // the command line has been checked
  }
  compile.blockMultipleOf32 = options.block == "rows";
  if (options.block.empty() || options.block == "rows" || options.block == "any") return compile;
  const auto shape = simt::readShape("--block", options.block);
  if (!shape) return shape.error();
  std::copy(shape->begin(), shape->end(), compile.blockDim);
  return compile;
}

// What most launches of the kernel run.
void assumeUsualShape(const simt::KernelInfo &kernel, simt::CompileOptions &compile) {
  simt::specialiseFor(simt::shapesToCompile(kernel, {}).back().data(), compile);
}

std::string shapeText(const simt::CompileOptions &compile) {
  if (compile.blockMultipleOf32) return "blocks of rows of 32";
  if (!compile.blockDim[0]) return "any block";
  const auto extent = [&](int i) { return std::to_string(compile.blockDim[i]); };
  return "blocks of " + extent(0) + "," + extent(1) + "," + extent(2);
}

std::string headingOf(const simt::KernelInfo &kernel, const simt::CompileOptions &shape,
                      const InspectOptions &options) {
  std::string heading = plainName(kernel.name);
  if (options.stage == "ptx") return heading;
  heading += ", for " + shapeText(shape);
  const bool guessed = options.block.empty() && !kernel.reqntid[0];
  return guessed ? heading + " (--block X,Y,Z for others)" : heading;
}

std::string whyText(const std::string &report, const std::string &ptx) {
  if (report.empty())
    return "nothing to report: all accesses are wide or uniform, no branch parts lanes, nothing spills\n";
  const bool hasLines = ptx.find(".loc") != ptx.npos;
  return hasLines ? report : report + "\n// No lines are known: compile with -lineinfo.\n";
}

struct Seen {
  int shown = 0;
  std::set<std::string> others;  // kernels that were not asked for
};

Result<void> inspectModule(const std::string &ptx, const InspectOptions &options, Seen &seen) {
  if (options.stage == "ptx" && options.kernel.empty()) {
    const std::string shown = isatty(STDOUT_FILENO) ? printable(ptx) : ptx;
    std::fwrite(shown.data(), 1, shown.size(), stdout);
    ++seen.shown;
    return {};
  }
  Result<simt::CompileOptions> compile = compileOptions(options);
  if (!compile) return compile.error();
  auto opened = simt::openCodegen({{ptx}, false, {}});
  if (!opened) return opened.error();
  simt::CodegenModule *module = opened->get();
  for (const simt::KernelInfo &kernel : module->info().kernels) {
    if (!isCalled(kernel.name, options.kernel)) {
      seen.others.insert(shortName(kernel.name));
      continue;
    }
    ++seen.shown;
    simt::CompileOptions shape = *compile;
    if (options.block.empty()) assumeUsualShape(kernel, shape);
    std::printf("// %s\n", headingOf(kernel, shape, options).c_str());
    Result<std::string> text = module->inspect(kernel.name, shape, options.stage);
    if (!text) return text.error();
    std::printf("%s\n", printable(options.stage == "why" ? whyText(*text, ptx) : *text).c_str());
  }
  return {};
}

}  // namespace

int inspect(const InspectOptions &options) {
  Result<std::vector<std::string>> modules = modulesOf(options);
  if (!modules) return fail(modules.error());
  Seen seen;
  for (const std::string &ptx : *modules)
    if (Result<void> done = inspectModule(ptx, options, seen); !done) return fail(done.error());
  return seen.shown ? 0 : fail(noSuchKernel(options.file, options.kernel, seen.others));
}

}  // namespace strata::tools
