// SPDX-License-Identifier: Apache-2.0
#include "tests/simt/lane_program.h"

#include <algorithm>
#include <cstring>

namespace strata::simt::test {
namespace {

LaneProgram *running = nullptr;
std::jmp_buf stopped;

Runtime makeRuntime() {
  Runtime r{};
  r.barrier = [](Warp *, std::uint32_t id, std::uint32_t count, std::uint32_t lanes) {
    running->calls.push_back({"barrier", {id, count, lanes}});
  };
  r.barrierArrive = [](Warp *, std::uint32_t id, std::uint32_t count, std::uint32_t lanes) {
    running->calls.push_back({"arrive", {id, count, lanes}});
  };
  r.barrierReduce = [](Warp *, std::uint32_t id, std::uint32_t count, std::uint32_t lanes, std::uint32_t predicates,
                       std::uint32_t op) {
    running->calls.push_back({"reduce", {id, count, lanes, predicates, op}});
    return predicates ? 1u : 0u;
  };
  r.yield = [](Warp *) { running->calls.push_back({"yield", {}}); };
  r.nanosleep = [](Warp *, std::uint32_t ns) { running->calls.push_back({"nanosleep", {ns}}); };
  r.globaltimer = [] { return std::uint64_t{42}; };
  r.fault = [](Warp *, std::uint32_t kind, std::uint32_t, std::uint64_t address) {
    running->fault = static_cast<FaultKind>(kind);
    running->faultAddress = address;
    std::longjmp(stopped, 1);
  };
  r.vprintf = [](Warp *, std::uint32_t lane, const char *format, const void *arguments) {
    std::uint32_t first = 0;
    std::memcpy(&first, arguments, 4);
    running->calls.push_back({format, {lane, first}});
    return 7;
  };
  r.assertFail = [](Warp *, std::uint32_t lane, const char *message, const char *, std::uint32_t line, const char *,
                    std::uint64_t) { running->calls.push_back({message, {lane, line}}); };
  r.malloc = [](Warp *, std::uint64_t bytes) -> void * { return reinterpret_cast<void *>(bytes + 0x1000); };
  r.free = [](Warp *, void *p) { running->calls.push_back({"free", {reinterpret_cast<std::uint64_t>(p)}}); };
  r.laneCollective = [](Warp *, std::uint32_t kind, std::uint32_t mask, std::uint64_t value, std::uint32_t b,
                        std::uint32_t c, std::uint32_t *p) { return running->collective(kind, mask, value, b, c, p); };
  return r;
}

}  // namespace

LaneProgram::LaneProgram(const std::string &text, const std::string &kernel, CompileOptions options)
    : kernelName_(kernel) {
  options.mode = Mode::lane;
  auto module = ptx::parse(text);
  if (!module) {
    error_ = module.error().message;
    return;
  }
  auto info = describeModule(*module);
  if (!info) {
    error_ = info.error().message;
    return;
  }
  info_ = *info;
  auto result = compileKernel(*module, kernel, options);
  if (!result) {
    error_ = result.error().message;
    return;
  }
  image_ = result->image;
  object_ = std::make_unique<LoadedObject>(image_.object);
  globals_ = info_.globalsImage;
  globals_.resize(info_.globalsSize);
  globals_.resize(info_.globalsSize);
}

const KernelInfo &LaneProgram::kernel() const {
  for (const KernelInfo &k : info_.kernels)
    if (k.name == kernelName_) return k;
  std::abort();
}

void LaneProgram::run(const Shape &shape, const std::vector<std::uint64_t> &params) {
  static const Runtime runtime = makeRuntime();
  running = this;
  std::vector<std::uint8_t> buffer(kernel().paramBytes + 16);
  for (std::size_t p = 0; p < params.size(); ++p)
    std::memcpy(buffer.data() + kernel().params[p].offset, &params[p],
                std::min<std::size_t>(8, kernel().params[p].size));
  auto *globals = static_cast<std::uint8_t *>(std::aligned_alloc(256, std::max<std::size_t>(256, globals_.size())));
  std::copy(globals_.begin(), globals_.end(), globals);
  for (const GlobalRelocation &r : info_.relocations) {
    const std::uint64_t address = reinterpret_cast<std::uint64_t>(globals) + r.target;
    std::memcpy(globals + r.offset, &address, 8);
  }
  LaunchState launch{};
  launch.runtime = &runtime;
  launch.params = buffer.data();
  launch.globals = globals;
  launch.gridDim[0] = shape.grid;
  launch.gridDim[1] = launch.gridDim[2] = 1;
  std::copy(shape.block, shape.block + 3, launch.blockDim);
  launch.clusterDim[0] = launch.clusterDim[1] = launch.clusterDim[2] = 1;
  launch.dynamicShared = shape.dynamicShared;
  launch.totalShared = kernel().staticShared + shape.dynamicShared;
  auto *shared = static_cast<std::uint8_t *>(std::aligned_alloc(128, 1 << 16));
  auto *entry = object_->find<void(Warp *)>("strata_entry");
  for (volatile std::uint32_t b = 0; b < shape.grid && fault == FaultKind::none; b = b + 1) {
    Block block{};
    block.launch = &launch;
    block.shared = shared;
    std::memset(shared, 0xa5, 1 << 16);
    block.blockIdx[0] = b;
    block.threads = shape.block[0] * shape.block[1] * shape.block[2];
    block.warps = (block.threads + 31) / 32;
    for (volatile std::uint32_t t = 0; t < block.threads && fault == FaultKind::none; t = t + 1) {
      Warp warp{};
      warp.block = &block;
      warp.index = t / 32;
      warp.lane = t % 32;
      warp.lanes = block.threads - t / 32 * 32 >= 32 ? ~0u : (1u << block.threads % 32) - 1;
      if (setjmp(stopped) == 0) entry(&warp);
    }
  }
  std::copy_n(globals, globals_.size(), globals_.begin());
  std::free(globals);
  std::free(shared);
}

}  // namespace strata::simt::test
