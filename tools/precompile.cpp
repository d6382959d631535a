// SPDX-License-Identifier: Apache-2.0
// strata precompile: what the first launch of each kernel would do, ahead of time and on all processors.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>

#include "simt/exec/cache.h"
#include "simt/exec/precompile.h"
#include "simt/simt.h"
#include "tools/device_code.h"
#include "tools/tools.h"

namespace strata::tools {

namespace fs = std::filesystem;

namespace {

struct Job {
  std::shared_ptr<simt::Module> module;
  const simt::KernelInfo *kernel;
  simt::BlockShape block;
};

using Kernels = std::set<const simt::KernelInfo *>;  // each may have several jobs

// The PTX that a program would load from each fat binary of the file.
Result<std::vector<simt::ModuleSource>> modulesOf(const std::string &file) {
  if (!fs::exists(file)) return userError("cannot read '" + file + "'");
  if (fs::path(file).extension() == ".ptx") return std::vector<simt::ModuleSource>{{{readText(file)}, false, {}}};
  Result<std::vector<nvcc::Object>> objects = nvcc::readObjects(file, nvcc::Objects::linkedToo);
  if (!objects) return objects.error();
  std::vector<simt::ModuleSource> modules;
  bool relocatable = false;
  for (const nvcc::Object &object : *objects) {
    if (Result<void> added = addModules(object, kFatbins, modules); !added) return added.error();
    Result<std::vector<std::uint8_t>> parts = nvcc::section(object, kRelocatableFatbins);
    relocatable |= parts && !parts->empty();
  }
  if (!modules.empty()) return modules;
  return userError(relocatable ? "'" + file + "' has only relocatable device code: name the program that it is linked into"
                               : "'" + file + "' holds no PTX that the CPU device takes");
}

Result<void> openModules(const PrecompileOptions &options, std::vector<Job> &jobs) {
  std::vector<simt::BlockShape> blocks;
  for (const std::string &text : options.blocks) {
    const auto shape = simt::readShape("--block", text);
    if (!shape) return shape.error();
    blocks.push_back(*shape);
  }
  std::set<std::shared_ptr<simt::Module>> opened;
  for (const std::string &file : options.files) {
    Result<std::vector<simt::ModuleSource>> modules = modulesOf(file);
    if (!modules) return modules.error();
    for (simt::ModuleSource &source : *modules) {
      Result<std::shared_ptr<simt::Module>> module = simt::openModule(std::move(source));
      if (!module) return Error{module.error().blame, "'" + file + "': " + module.error().message};
      if (!opened.insert(*module).second) continue;  // the text of another file
      for (const simt::KernelInfo &kernel : (*module)->info().kernels)
        for (const simt::BlockShape &block : simt::shapesToCompile(kernel, blocks)) jobs.push_back({*module, &kernel, block});
    }
  }
  return {};
}

// Compiles them; prints each kernel that fails, once. Returns these.
Kernels compileAll(const std::vector<Job> &jobs, const PrecompileOptions &options) {
  std::size_t done = 0;
  Kernels failed;
  std::mutex output;
  const bool progress = !options.quiet && isatty(STDERR_FILENO);
  simt::inParallel(jobs.size(), options.jobs, [&](std::size_t i) {
    const Job &job = jobs[i];
    auto kernel = simt::loadKernel(job.module, job.kernel->name, job.block.data());
    std::lock_guard lock(output);
    ++done;
    if (progress) std::fprintf(stderr, "\r\033[K[%zu/%zu] %s", done, jobs.size(), plainName(job.kernel->name).substr(0, 60).c_str());
    if (kernel || !failed.insert(job.kernel).second) return;
    std::fprintf(stderr, "%sstrata: kernel '%s': %s\n", progress ? "\n" : "", plainName(job.kernel->name).c_str(), kernel.error().message.c_str());
  });
  if (progress && done) std::fputc('\n', stderr);
  return failed;
}

Kernels kernelsOf(const std::vector<Job> &jobs) {
  Kernels kernels;
  for (const Job &job : jobs) kernels.insert(job.kernel);
  return kernels;
}

}  // namespace

int precompile(const PrecompileOptions &options) {
  simt::DiskCache &cache = simt::DiskCache::process();
  if (std::string why = cache.refusal(); !why.empty()) return fail(userError("no machine-code cache: " + why));
  std::vector<Job> jobs;
  if (Result<void> opened = openModules(options, jobs); !opened) return fail(opened.error());
  const std::size_t kernels = kernelsOf(jobs).size();
  if (const Kernels failed = compileAll(jobs, options); !failed.empty())
    return fail(userError(std::to_string(failed.size()) + " of " + std::to_string(kernels) + " kernels do not compile"));
  if (cache.lost())
    return fail(userError("the cache is too small, or cannot be written: it lost " + std::to_string(cache.lost()) + " new entries; see STRATA_CACHE_SIZE"));
  if (options.quiet) return 0;
  const std::string versions = kernels == jobs.size() ? "" : ", in " + std::to_string(jobs.size()) + " versions by block shape,";
  std::printf("%zu kernel%s%s %s in the machine-code cache\n", kernels, kernels == 1 ? "" : "s", versions.c_str(), kernels == 1 ? "is" : "are");
  return 0;
}

}  // namespace strata::tools
