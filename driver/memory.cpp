// SPDX-License-Identifier: Apache-2.0
#include "driver/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "driver/device.h"
#include "driver/ipc.h"
#include "driver/machine_memory.h"
#include "driver/pool.h"

namespace strata::driver {

bool isMapped(std::uint64_t address, std::uint64_t size) {
  constexpr std::uint64_t kPages = 16384;  // at a time
  if (address + size < address) return false;
  unsigned char resident[kPages];
  for (std::uint64_t at = address / kPage * kPage; at < address + size; at += kPages * kPage)
    if (mincore(reinterpret_cast<void *>(at), std::min(kPages * kPage, address + size - at), resident) != 0)
      return false;
  return true;
}

Memory &Memory::get() {
  static auto &memory = *new Memory;  // never destroyed: kernels may run until the process is gone
  return memory;
}

CUresult Memory::allocate(Allocation wanted, std::uint64_t &base) {
  std::uint64_t bytes = roundUp(wanted.size, kAlignment);
  if (bytes < wanted.size) return CUDA_ERROR_OUT_OF_MEMORY;
  std::atomic<std::uint64_t> &used = wanted.device ? wanted.device->used : hostUsed_;
  std::uint64_t limit = wanted.device ? wanted.device->totalMemory() : machineMemory();
  if (bytes > limit || used.fetch_add(bytes) + bytes > limit) {
    if (bytes <= limit) used.fetch_sub(bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  wanted.range = ranges_.take(bytes);
  if (!wanted.range.begin) {
    used.fetch_sub(bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  base = wanted.base = wanted.range.begin;
  wanted.id = nextId_.fetch_add(1);
  std::lock_guard lock(mutex_);
  known_.emplace(base, wanted);
  return CUDA_SUCCESS;
}

bool Memory::adopt(Allocation allocation) {
  allocation.id = nextId_.fetch_add(1);
  std::lock_guard lock(mutex_);
  auto next = known_.lower_bound(allocation.base);
  if (next != known_.end() && next->first < allocation.base + allocation.size) return false;
  if (next != known_.begin() && std::prev(next)->second.contains(allocation.base)) return false;
  known_.emplace_hint(next, allocation.base, allocation);
  return true;
}

std::map<std::uint64_t, Allocation>::const_iterator Memory::locate(std::uint64_t address) const {
  auto next = known_.upper_bound(address);
  if (next == known_.begin()) return known_.end();
  --next;
  return next->second.contains(address) ? next : known_.end();
}

std::optional<Allocation> Memory::find(std::uint64_t address) const {
  std::shared_lock lock(mutex_);
  auto found = locate(address);
  if (found == known_.end()) return std::nullopt;
  return found->second;
}

std::optional<Allocation> Memory::findBase(std::uint64_t base, unsigned kinds) const {
  std::shared_lock lock(mutex_);
  auto found = known_.find(base);
  if (found == known_.end() || !(kinds & bit(found->second.kind))) return std::nullopt;
  return found->second;
}

bool Memory::overlaps(std::uint64_t base, std::uint64_t size) const {
  std::shared_lock lock(mutex_);
  auto next = known_.lower_bound(base);
  return (next != known_.end() && next->first - base < size) || locate(base) != known_.end();
}

std::optional<MemoryKind> Memory::kindOf(std::uint64_t address, std::uint64_t size) const {
  std::shared_lock lock(mutex_);
  if (address + size < address) return std::nullopt;
  auto found = locate(address);
  while (found != known_.end() && !found->second.freeing) {
    const Allocation &a = found->second;
    if (a.access == CU_MEM_ACCESS_FLAGS_PROT_NONE) return std::nullopt;
    if (address + size <= a.base + a.size) return a.kind;
    if (a.kind != MemoryKind::mapped) return std::nullopt;
    size -= a.base + a.size - address;
    address = a.base + a.size;
    found = locate(address);
    if (found != known_.end() && found->second.kind != MemoryKind::mapped) return std::nullopt;
  }
  return std::nullopt;
}

void Memory::giveBack(const Allocation &allocation) {
  if (!allocation.range.begin) return;
  std::atomic<std::uint64_t> &used = allocation.device ? allocation.device->used : hostUsed_;
  used.fetch_sub(roundUp(allocation.size, kAlignment));
  if (allocation.shared) forgetShared(allocation);
  ranges_.give(allocation.range);
  if (!allocation.pool) return;
  allocation.pool->returned(allocation.size);
  allocation.pool->release();
}

std::optional<Allocation> Memory::release(std::uint64_t base) {
  std::optional<Allocation> released;
  {
    std::lock_guard lock(mutex_);
    auto found = known_.find(base);
    if (found == known_.end()) return std::nullopt;
    released = found->second;
    known_.erase(found);
  }
  giveBack(*released);
  return released;
}

void Memory::releaseAll(const Context &context) {
  std::vector<Allocation> released;
  {
    std::lock_guard lock(mutex_);
    for (auto at = known_.begin(); at != known_.end();) {
      if (at->second.context != &context) {
        ++at;
        continue;
      }
      released.push_back(at->second);
      at = known_.erase(at);
    }
  }
  for (const Allocation &allocation : released) giveBack(allocation);
}

}  // namespace strata::driver
