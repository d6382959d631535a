// SPDX-License-Identifier: Apache-2.0
// Launches of the fake kernels in kernels/.
#pragma once

#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "simt/exec/image.h"
#include "simt/simt.h"

namespace strata::simt::test {

inline std::vector<std::uint8_t> readObject(const std::string &name) {
  std::ifstream file(std::string(KERNEL_FOLDER "/") + name + ".o", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::shared_ptr<const Kernel> loadFake(const std::string &name, EntryKind kind, std::uint32_t staticShared = 0) {
  static std::deque<KernelInfo> infos;  // as long as the process
  static std::mutex mutex;
  KernelInfo *info;
  {
    std::lock_guard lock(mutex);
    info = &infos.emplace_back();
  }
  info->name = name;
  info->staticShared = staticShared;
  KernelImage image;
  image.entryKind = kind;
  image.object = readObject(name);
  auto kernel = makeKernel(nullptr, info, std::move(image));
  if (!kernel) throw std::runtime_error(kernel.error().message);
  return *kernel;
}

template <class Params>
LaunchRequest makeLaunch(std::shared_ptr<const Kernel> kernel, std::uint32_t grid, std::uint32_t block,
                         const Params &params) {
  LaunchRequest request;
  request.kernel = std::move(kernel);
  request.gridDim[0] = grid;
  request.blockDim[0] = block;
  request.params.resize(sizeof params);
  std::memcpy(request.params.data(), &params, sizeof params);
  request.group = 1;
  return request;
}

// Launches and waits, helping.
inline Fault runLaunch(Engine &engine, LaunchRequest request, std::uint64_t group = 1) {
  Fault fault;
  std::atomic<std::uint32_t> flag{0};
  engine.submit(std::move(request), [&](const Fault &f) {
    fault = f;
    flag.store(1, std::memory_order_release);
    engine.wake(flag);
  });
  engine.waitFor(flag, group);
  return fault;
}

}  // namespace strata::simt::test
