// SPDX-License-Identifier: Apache-2.0
// Stream-ordered memory. An allocation gets its address and memory at the call; it is given back when the free's
// turn comes in its stream. Freed memory faults at once, so a pool holds nothing in reserve: what it reports as
// reserved is what is used (Ranges keeps the pages for quick reuse, for all pools together).
#pragma once

#include <atomic>
#include <cstdint>

#include "driver/cuda_types.h"
#include "driver/device.h"
#include "driver/handles.h"
#include "driver/operation.h"

namespace strata::driver {

class Pool final : public Shared {
public:
  Pool(Device &device, std::uint64_t maxSize) : device(device), maxSize(maxSize) {}

  Device &device;
  const std::uint64_t maxSize;  // bytes; 0: the device's memory
  CUmemoryPool handle = nullptr;

  std::atomic<int> reuseFlags[3] = {1, 1, 1};  // follow events, opportunistic, internal dependencies
  std::atomic<std::uint64_t> releaseThreshold{0};
  std::atomic<std::uint64_t> used{0}, usedHigh{0};  // bytes

  CUresult allocate(std::uint64_t bytes, std::uint64_t &base);
  void returned(std::uint64_t bytes) { used.fetch_sub(bytes); }
};

// cuMemFreeAsync: gives the memory back at its turn.
OperationPtr makeFree(std::uint64_t base);

}  // namespace strata::driver
