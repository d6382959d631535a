// SPDX-License-Identifier: Apache-2.0
#include "simt/exec/precompile.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <optional>
#include <thread>

#include "simt/exec/codegen_library.h"
#include "simt/exec/module.h"
#include "simt/exec/native_image.h"

namespace strata::simt {

std::vector<BlockShape> shapesToCompile(const KernelInfo &kernel, const std::vector<BlockShape> &more) {
  if (kernel.reqntid[0]) return {{kernel.reqntid[0], std::max(1u, kernel.reqntid[1]), std::max(1u, kernel.reqntid[2])}};
  std::vector<BlockShape> shapes = {{std::min(kWarpSize, kernel.maxThreads), 1, 1}};
  if (kernel.usesThreadY && kernel.maxThreads >= 256) shapes.push_back({16, 16, 1});  // the usual tile
  for (const BlockShape &shape : more)
    if (shape[0] % kWarpSize && std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
  return shapes;
}

void inParallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)> &work) {
  std::atomic<std::size_t> next{0};
  auto run = [&] {
    for (std::size_t i; (i = next++) < count;) work(i);
  };
  const std::size_t wanted = threads ? threads : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < std::min(wanted, count); ++i) helpers.emplace_back(run);
  run();
}

Result<BlockShape> readShape(const std::string &option, const std::string &text) {
  constexpr BlockShape kMost = {1024, 1024, 64};
  constexpr std::uint32_t kMostThreads = 1024;
  const auto wrong = [&](const char *why) { return userError(option + " " + text + ": " + why); };
  BlockShape shape = {1, 1, 1};
  const char *at = text.data(), *end = at + text.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i && at == end) break;
    if (i && *at++ != ',') return wrong("not a block shape X,Y,Z");
    const auto [next, error] = std::from_chars(at, end, shape[i]);
    if (next == at || (error == std::errc{} && !shape[i])) return wrong("not a block shape X,Y,Z of positive numbers");
    if (error != std::errc{} || shape[i] > kMost[i]) return wrong("a block has at most 1024,1024,64 threads in x,y,z");
    at = next;
  }
  if (at != end) return wrong("not a block shape X,Y,Z");
  if (shape[0] * shape[1] * shape[2] > kMostThreads) return wrong("a block has at most 1024 threads");
  return shape;
}

namespace {

struct Job {
  std::size_t target;
  const KernelInfo *kernel;
  CompileOptions options;
  std::optional<Result<KernelImage>> made;
};

std::vector<Job> jobsFor(const ModuleInfo &info, const std::vector<NativeTarget> &targets,
                         const std::vector<BlockShape> &shapes) {
  std::vector<Job> jobs;
  for (std::size_t target = 0; target < targets.size(); ++target)
    for (const KernelInfo &kernel : info.kernels)
      for (const BlockShape &shape : shapesToCompile(kernel, shapes)) {
        CompileOptions options;
        options.simd = targets[target].simd;
        options.hostExtensions = targets[target].hostExtensions;
        specialiseFor(shape.data(), options);
        jobs.push_back({target, &kernel, options, {}});
      }
  return jobs;
}

std::vector<std::uint8_t> imageOf(std::size_t index, const NativeTarget &target, const CacheKey &source,
                                  const ModuleInfo &info, std::vector<Job> &jobs) {
  NativeTable table;
  table.engine = engineIdentity();
  table.source = source;
  table.simd = target.simd;
  if (target.hostExtensions) table.cpu = cpuFeatureWords();
  table.info = info;
  std::vector<KernelImage> code;
  for (Job &job : jobs) {
    if (job.target != index || !*job.made) continue;
    NativeKernel &kernel = table.kernels.emplace_back();
    kernel.name = job.kernel->name;
    std::copy_n(job.options.blockDim, 3, kernel.blockDim);
    kernel.blockMultipleOf32 = job.options.blockMultipleOf32;
    code.push_back(std::move(**job.made));
    code.back().report.clear();  // nobody asks an image why
  }
  return writeNative(std::move(table), code);
}

}  // namespace

STRATA_FOREIGN_VTABLE Result<NativeBuild> buildNatives(const ModuleSource &source,
                                                       const std::vector<NativeTarget> &targets,
                                                       const std::vector<BlockShape> &shapes, unsigned threads) {
  auto module = openCodegen(source);
  if (!module) return module.error();
  const ModuleInfo &info = (*module)->info();
  std::vector<Job> jobs = jobsFor(info, targets, shapes);
  inParallel(jobs.size(), threads, [&](std::size_t i) STRATA_FOREIGN_VTABLE {
    jobs[i].made = (*module)->compile(jobs[i].kernel->name, jobs[i].options);
  });

  NativeBuild build;
  const CacheKey key = sourceKey(source.ptx, source.relocatable);
  for (std::size_t i = 0; i < targets.size(); ++i) build.images.push_back(imageOf(i, targets[i], key, info, jobs));
  for (const Job &job : jobs)
    if (!*job.made) build.leftOut.push_back("kernel '" + job.kernel->name + "': " + job.made->error().message);
  return build;
}

}  // namespace strata::simt
