// SPDX-License-Identifier: Apache-2.0
// strata inspect: the PTX of a source, object or program, and what the code generator makes of it.
#include <cxxabi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "simt/exec/module.h"
#include "simt/exec/precompile.h"
#include "simt/simt.h"
#include "toolkit/nvcc/shell.h"
#include "tools/device_code.h"
#include "tools/tools.h"

namespace strata::tools {

namespace fs = std::filesystem;

std::string plainName(const std::string &mangled) {
  int status = 0;
  char *text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = status ? mangled : text;
  std::free(text);
  return name;
}

namespace {

Result<std::string> ptxOfSource(const InspectOptions &options) {
  std::string output = (fs::temp_directory_path() / ("strata-inspect-" + std::to_string(getpid()) + ".ptx")).string();
  std::string command = nvcc::shellLine({prefix() + "/bin/nvcc", "-ptx", "-arch=sm_90", "-lineinfo", options.file, "-o", output});
  int status = std::system((command + " " + options.nvccOptions).c_str());
  std::string text = readText(output);
  std::error_code ignored;
  fs::remove(output, ignored);
  if (status) return userError("'" + options.file + "' does not compile");
  return text;
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

bool isWanted(const std::string &wanted, const std::string &mangled) {
  if (wanted.empty() || wanted == mangled) return true;
  std::string plain = plainName(mangled);
  return wanted == plain || wanted == plain.substr(0, plain.find_first_of("(<"));
}

Result<simt::CompileOptions> compileOptions(const InspectOptions &options) {
  simt::CompileOptions compile;
  compile.mode = options.mode == "lane" ? simt::Mode::lane : simt::Mode::vector;
  if (options.simd == "auto") {
    Result<simt::Simd> best = simt::hostSimd();
    if (!best) return best.error();
    compile.simd = *best;
  } else {
    compile.simd = options.simd == "avx512" ? simt::Simd::avx512
                   : options.simd == "avx2" ? simt::Simd::avx2
                                            : simt::Simd::portable;
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

// Returns how many kernels were shown.
Result<int> inspectModule(const std::string &ptx, const InspectOptions &options) {
  if (options.stage == "ptx" && options.kernel.empty()) {
    std::fwrite(ptx.data(), 1, ptx.size(), stdout);
    return 1;
  }
  Result<simt::CompileOptions> compile = compileOptions(options);
  if (!compile) return compile.error();
  auto opened = simt::openCodegen({{ptx}, false, {}});
  if (!opened) return opened.error();
  simt::CodegenModule *module = opened->get();
  int shown = 0;
  for (const simt::KernelInfo &kernel : module->info().kernels) {
    if (!isWanted(options.kernel, kernel.name)) continue;
    ++shown;
    simt::CompileOptions shape = *compile;
    if (options.block.empty()) assumeUsualShape(kernel, shape);
    std::printf("// %s%s\n", plainName(kernel.name).c_str(), options.stage == "ptx" ? "" : (", for " + shapeText(shape)).c_str());
    Result<std::string> text = module->inspect(kernel.name, shape, options.stage);
    if (!text) return text.error();
    std::printf("%s\n", text->c_str());
    if (options.stage == "why" && !text->empty() && ptx.find(".loc") == ptx.npos) std::printf("// No lines are known: compile with -lineinfo.\n\n");
  }
  return shown;
}

}  // namespace

int inspect(const InspectOptions &options) {
  Result<std::vector<std::string>> modules = modulesOf(options);
  if (!modules) return fail(modules.error());
  int shown = 0;
  for (const std::string &ptx : *modules) {
    Result<int> count = inspectModule(ptx, options);
    if (!count) return fail(count.error());
    shown += *count;
  }
  if (!shown) return fail(userError("'" + options.file + "' has no kernel '" + options.kernel + "'"));
  return 0;
}

}  // namespace strata::tools
