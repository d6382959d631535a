// SPDX-License-Identifier: Apache-2.0
// strata precompile: what the first launch of each kernel would do, ahead of time and on all processors.
#include "simt/exec/precompile.h"

#include <elf.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <sstream>
#include <string>

#include "base/printable.h"
#include "simt/exec/cache.h"
#include "simt/simt.h"
#include "tools/device_code.h"
#include "tools/kernel_names.h"
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
  return userError(relocatable
                       ? "'" + file + "' has only relocatable device code: name the program that it is linked into"
                       : "'" + file + "' holds no PTX that the CPU device takes");
}

std::string filesText(const std::vector<std::string> &files) {
  std::string text;
  for (const std::string &file : files) text += (text.empty() ? "" : "', '") + file;
  return text;
}

Result<void> openModules(const PrecompileOptions &options, std::vector<Job> &jobs) {
  std::vector<simt::BlockShape> blocks;
  for (const std::string &text : options.blocks) {
    const auto shape = simt::readShape("--block", text);
    if (!shape) return shape.error();
    blocks.push_back(*shape);
  }
  std::set<std::shared_ptr<simt::Module>> opened;
  std::set<std::string> others;
  for (const std::string &file : options.files) {
    Result<std::vector<simt::ModuleSource>> modules = modulesOf(file);
    if (!modules) return modules.error();
    for (simt::ModuleSource &source : *modules) {
      Result<std::shared_ptr<simt::Module>> module = simt::openModule(std::move(source));
      if (!module) return Error{module.error().blame, "'" + file + "': " + module.error().message};
      if (!opened.insert(*module).second) continue;  // the text of another file
      for (const simt::KernelInfo &kernel : (*module)->info().kernels) {
        if (!isCalled(kernel.name, options.kernel)) others.insert(shortName(kernel.name));
        else
          for (const simt::BlockShape &block : simt::shapesToCompile(kernel, blocks))
            jobs.push_back({*module, &kernel, block});
      }
    }
  }
  if (jobs.empty() && !options.kernel.empty()) return noSuchKernel(filesText(options.files), options.kernel, others);
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
    if (progress)
      std::fprintf(stderr, "\r\033[K[%zu/%zu] %s", done, jobs.size(),
                   plainName(job.kernel->name).substr(0, 60).c_str());
    if (kernel || !failed.insert(job.kernel).second) return;
    std::fprintf(stderr, "%sstrata: kernel '%s': %s\n", progress ? "\n" : "", plainName(job.kernel->name).c_str(),
                 printable(kernel.error().message).c_str());
  });
  if (progress && done) std::fputc('\n', stderr);
  return failed;
}

// Folders that the program searches for libraries, as nvcc and the user have recorded them.
std::vector<fs::path> recordedFolders(const nvcc::Object &program) {
  const auto dynamic = nvcc::section(program, ".dynamic"), names = nvcc::section(program, ".dynstr");
  std::vector<fs::path> folders;
  if (!dynamic || !names) return folders;
  for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic->size(); at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, dynamic->data() + at, sizeof entry);
    if ((entry.d_tag != DT_RUNPATH && entry.d_tag != DT_RPATH) || entry.d_un.d_val >= names->size()) continue;
    const char *text = reinterpret_cast<const char *>(names->data()) + entry.d_un.d_val;
    std::istringstream list(std::string(text, strnlen(text, names->size() - entry.d_un.d_val)));
    for (std::string folder; std::getline(list, folder, ':');) {
      if (folder.starts_with("$ORIGIN")) folder.replace(0, 7, fs::absolute(program.name).parent_path().string());
      folders.emplace_back(folder);
    }
  }
  return folders;
}

// The code generators' identity, as cache entries record it.
bool isSameBuild(const fs::path &folder, const fs::path &other) {
  const auto stampOf = [](const fs::path &in) {
    std::error_code ignored;
    const fs::path file = in / "libstrata_codegen.so";
    return std::pair(fs::file_size(file, ignored), fs::last_write_time(file, ignored));
  };
  return stampOf(folder) == stampOf(other);
}

// A program runs the copy of Strata that it finds, and another build does not take this one's code.
void warnOfOtherCopies(const std::vector<std::string> &files) {
  const fs::path own = fs::path(prefix()) / "lib64";
  for (const std::string &file : files) {
    if (fs::path(file).extension() == ".ptx") continue;
    const Result<std::vector<nvcc::Object>> objects = nvcc::readObjects(file, nvcc::Objects::linkedToo);
    if (!objects || objects->size() != 1) continue;
    for (const fs::path &folder : recordedFolders(objects->front())) {
      if (std::error_code ignored; !fs::exists(folder / "strata" / "libcuda.so.1", ignored)) continue;
      if (!isSameBuild(own, folder))
        std::fprintf(stderr,
                     "strata: warning: '%s' runs with another build of Strata, in %s, which does not take this code; "
                     "precompile it with that build's `strata`\n",
                     printable(file).c_str(), printable(folder.string()).c_str());
      break;
    }
  }
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
  warnOfOtherCopies(options.files);
  const std::size_t kernels = kernelsOf(jobs).size();
  if (const Kernels failed = compileAll(jobs, options); !failed.empty())
    return fail(
        userError(std::to_string(failed.size()) + " of " + std::to_string(kernels) + " kernels do not compile"));
  if (cache.lost())
    return fail(userError("the cache is too small, or cannot be written: it lost " + std::to_string(cache.lost()) +
                          " new entries; see STRATA_CACHE_SIZE"));
  if (options.quiet) return 0;
  const std::string versions =
      kernels == jobs.size() ? "" : ", in " + std::to_string(jobs.size()) + " versions by block shape,";
  std::printf("%zu kernel%s%s %s in the machine-code cache\n", kernels, kernels == 1 ? "" : "s", versions.c_str(),
              kernels == 1 ? "is" : "are");
  return 0;
}

}  // namespace strata::tools
