// SPDX-License-Identifier: Apache-2.0
// The CPU devices of this process (STRATA_DEVICE_COUNT, CUDA_VISIBLE_DEVICES): each has workers, a share of memory, a
// primary context.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "driver/cuda_types.h"
#include "driver/handles.h"
#include "simt/simt.h"

namespace strata::driver {

class Context;
class Pool;

class Device {
public:
  Device(int ordinal, int number);

  const int ordinal;                   // as this process counts
  const int number;                    // of the machine's devices
  std::atomic<std::uint64_t> used{0};  // bytes of device memory in use
  std::uint64_t totalMemory() const { return totalMemory_; }
  std::uint32_t workers() const { return workers_; }
  const std::string &name() const { return name_; }
  CUuuid uuid() const;

  // Made at its first use, and never destroyed.
  simt::Engine &engine();

  // The primary context: one object for the device's whole life, so that its handle stays the same.
  Context &primary();
  std::mutex primaryMutex;
  unsigned primaryUses = 0;
  unsigned primaryFlags = 0;

  Pool &defaultPool();
  Pool &currentPool();
  CUresult setCurrentPool(Pool &pool);

private:
  std::uint64_t totalMemory_ = 0;
  std::uint32_t workers_ = 0;
  std::string name_;
  std::once_flag engineOnce_, primaryOnce_, poolOnce_;
  std::unique_ptr<simt::Engine> engine_;
  Ref<Context> primary_;
  Ref<Pool> defaultPool_, currentPool_;
  std::mutex poolMutex_;
};

// Empty before cuInit.
std::vector<Device *> &devices();
Device *findDevice(CUdevice device);  // null if there is none

// False if the attribute does not exist.
bool deviceAttribute(const Device &device, int attribute, int &value);

// Limits of a multiprocessor of compute capability 9.0, used by attributes, launches and occupancy.
namespace sm90 {
inline constexpr std::uint32_t kMaxThreadsPerBlock = 1024;
inline constexpr std::uint32_t kMaxThreads = 2048, kMaxBlocks = 32, kMaxWarps = 64;
inline constexpr std::uint32_t kRegisters = 65536;
inline constexpr std::uint32_t kShared = 233472, kSharedReserved = 1024;  // bytes, per multiprocessor; per block
inline constexpr std::uint32_t kSharedDefault = 49152, kSharedOptIn = 232448;
inline constexpr std::uint32_t kPortableCluster = 8;
}  // namespace sm90

}  // namespace strata::driver
