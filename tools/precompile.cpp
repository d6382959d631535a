// SPDX-License-Identifier: Apache-2.0
// strata precompile: what the first launch of each kernel would do, ahead of time and on all processors.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <thread>

#include "simt/exec/cache.h"
#include "simt/simt.h"
#include "tools/device_code.h"
#include "tools/tools.h"

namespace strata::tools {

namespace fs = std::filesystem;

namespace {

struct Job {
  std::shared_ptr<simt::Module> module;
  const simt::KernelInfo *kernel;
  std::array<std::uint32_t, 3> block;
};

// The PTX that a program would load from each fat binary of the file.
Result<std::vector<std::string>> modulesOf(const std::string &file) {
  if (!fs::exists(file)) return userError("cannot read '" + file + "'");
  if (fs::path(file).extension() == ".ptx") return std::vector<std::string>{readText(file)};
  Result<std::vector<nvcc::Object>> objects = nvcc::readObjects(file, nvcc::Objects::linkedToo);
  if (!objects) return objects.error();
  std::vector<std::string> modules;
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

// One job per kernel and kind of code that its launches may need.
void addJobs(const std::shared_ptr<simt::Module> &module, const std::vector<std::array<std::uint32_t, 3>> &blocks, std::vector<Job> &jobs) {
  for (const simt::KernelInfo &kernel : module->info().kernels) {
    if (kernel.reqntid[0]) {
      jobs.push_back({module, &kernel, {kernel.reqntid[0], std::max(1u, kernel.reqntid[1]), std::max(1u, kernel.reqntid[2])}});
      continue;
    }
    jobs.push_back({module, &kernel, {32, 1, 1}});
    for (const auto &block : blocks)
      if (block[0] % 32) jobs.push_back({module, &kernel, block});
  }
}

Result<void> openModules(const PrecompileOptions &options, std::vector<Job> &jobs) {
  std::vector<std::array<std::uint32_t, 3>> blocks;
  for (const std::string &text : options.blocks) {
    std::uint32_t shape[3];
    if (!readShape(text, shape)) return userError("'" + text + "' is not a block shape X,Y,Z");
    blocks.push_back({shape[0], shape[1], shape[2]});
  }
  for (const std::string &file : options.files) {
    Result<std::vector<std::string>> modules = modulesOf(file);
    if (!modules) return modules.error();
    for (const std::string &ptx : *modules) {
      Result<std::shared_ptr<simt::Module>> module = simt::openModule(ptx);
      if (!module) return Error{module.error().blame, "'" + file + "': " + module.error().message};
      addJobs(*module, blocks, jobs);
    }
  }
  return {};
}

// Compiles them; prints each that fails. Returns how many did.
std::size_t compileAll(const std::vector<Job> &jobs, const PrecompileOptions &options) {
  std::atomic<std::size_t> next{0}, done{0}, failed{0};
  std::mutex output;
  const bool progress = !options.quiet && isatty(STDERR_FILENO);
  auto work = [&] {
    for (std::size_t i; (i = next++) < jobs.size();) {
      const Job &job = jobs[i];
      auto kernel = simt::loadKernel(job.module, job.kernel->name, job.block.data());
      const std::size_t count = ++done;
      std::lock_guard lock(output);
      if (progress) std::fprintf(stderr, "\r\033[K[%zu/%zu] %s", count, jobs.size(), plainName(job.kernel->name).substr(0, 60).c_str());
      if (kernel) continue;
      ++failed;
      std::fprintf(stderr, "%sstrata: kernel '%s': %s\n", progress ? "\n" : "", plainName(job.kernel->name).c_str(), kernel.error().message.c_str());
    }
  };
  const std::size_t wanted = options.jobs ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min(wanted, jobs.size()); ++i) threads.emplace_back(work);
  work();
  threads.clear();
  if (progress && done) std::fputc('\n', stderr);
  return failed;
}

}  // namespace

int precompile(const PrecompileOptions &options) {
  simt::DiskCache &cache = simt::DiskCache::process();
  if (std::string why = cache.refusal(); !why.empty()) return fail(userError("no machine-code cache: " + why));
  std::vector<Job> jobs;
  if (Result<void> opened = openModules(options, jobs); !opened) return fail(opened.error());
  if (const std::size_t failed = compileAll(jobs, options))
    return fail(userError(std::to_string(failed) + " of " + std::to_string(jobs.size()) + " kernels do not compile"));
  if (cache.lost())
    return fail(userError("the cache is too small, or cannot be written: it lost " + std::to_string(cache.lost()) + " new entries; see STRATA_CACHE_SIZE"));
  if (!options.quiet) std::printf("%zu kernels are in the machine-code cache\n", jobs.size());
  return 0;
}

}  // namespace strata::tools
