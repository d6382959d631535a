// SPDX-License-Identifier: Apache-2.0
// Every piece of memory that the driver knows, by address: allocations of all kinds and registered host memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>

#include "driver/cuda_types.h"
#include "driver/ranges.h"

namespace strata::driver {

class Context;
class Device;
class Pool;

enum class MemoryKind : std::uint8_t {
  device,      // cuMemAlloc
  managed,     // cuMemAllocManaged
  host,        // cuMemHostAlloc
  registered,  // cuMemHostRegister: the user's own memory
  globals,     // a module's variables
  pool,        // cuMemAllocAsync
  mapped,      // cuMemMap: virtual memory management
  imported,    // cuIpcOpenMemHandle
  graph,       // an allocation node
};

struct Allocation {
  std::uint64_t base = 0, size = 0;  // bytes, as asked for
  MemoryKind kind = MemoryKind::device;
  Device *device = nullptr;    // null: host memory
  Context *context = nullptr;  // whose end frees it; null: outlives contexts
  Pool *pool = nullptr;
  unsigned flags = 0;  // of the call that made it
  int access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  bool freeing = false;  // cuMemFreeAsync was called: its turn has not come yet
  std::uint64_t id = 0;  // CU_POINTER_ATTRIBUTE_BUFFER_ID
  bool shared = false;   // exported by cuIpcGetMemHandle: its pages are a memfd
  Range range;           // what Ranges gave; empty where we do not own the memory

  bool onDevice() const { return kind != MemoryKind::host && kind != MemoryKind::registered; }
  bool contains(std::uint64_t address) const { return address - base < size; }
};

// Thread-safe.
class Memory {
public:
  static Memory &get();

  Ranges &ranges() { return ranges_; }

  // Takes memory and makes it known. `wanted` has all fields but base, id and range. Device memory counts
  // against its device's limit. CUDA_ERROR_OUT_OF_MEMORY if there is none.
  CUresult allocate(Allocation wanted, std::uint64_t &base);
  // Makes memory known that others own; false if it overlaps known memory.
  bool adopt(Allocation allocation);

  std::optional<Allocation> find(std::uint64_t address) const;
  // As find, for an address that must be the first of an allocation of one of `kinds` (bits 1 << kind).
  std::optional<Allocation> findBase(std::uint64_t base, unsigned kinds) const;
  // True if any byte of the range is known.
  bool overlaps(std::uint64_t base, std::uint64_t size) const;
  // What kind of memory the range is, if it lies in one allocation, or in VMM mappings that adjoin, and none of it is
  // being freed.
  std::optional<MemoryKind> kindOf(std::uint64_t address, std::uint64_t size) const;
  bool covers(std::uint64_t address, std::uint64_t size) const { return kindOf(address, size).has_value(); }

  // Forgets the allocation, gives its memory back, and returns what it was.
  std::optional<Allocation> release(std::uint64_t base);
  void releaseAll(const Context &context);
  template <class Change>
  bool update(std::uint64_t base, Change change) {
    std::lock_guard lock(mutex_);
    auto found = known_.find(base);
    if (found == known_.end()) return false;
    change(found->second);
    return true;
  }

private:
  std::map<std::uint64_t, Allocation>::const_iterator locate(std::uint64_t address) const;
  void giveBack(const Allocation &allocation);

  Ranges ranges_;
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, Allocation> known_;
  std::atomic<std::uint64_t> nextId_{1};
  std::atomic<std::uint64_t> hostUsed_{0};
};

constexpr unsigned bit(MemoryKind kind) { return 1u << static_cast<unsigned>(kind); }

// The process has memory at all of these addresses, its own or ours.
bool isMapped(std::uint64_t address, std::uint64_t size);

}  // namespace strata::driver
