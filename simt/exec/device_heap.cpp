// SPDX-License-Identifier: Apache-2.0
#include "simt/exec/device_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

namespace strata::simt {
namespace {

constexpr std::uint64_t kPage = 4096, kAlignment = 16;
constexpr std::uint64_t kSlab = 64u << 10, kLargestSmall = 4096;

constexpr std::uint64_t roundUp(std::uint64_t value, std::uint64_t step) { return (value + step - 1) / step * step; }

// Accessible memory between two pages that are not, or null.
char *map(std::uint64_t bytes) {
  void *all = mmap(nullptr, bytes + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  char *begin = static_cast<char *>(all) + kPage;
  if (mprotect(begin, bytes, PROT_READ | PROT_WRITE) == 0) return begin;
  munmap(all, bytes + 2 * kPage);
  return nullptr;
}

}  // namespace

DeviceHeap &DeviceHeap::get() {
  static auto &heap = *new DeviceHeap;  // kernels may run until the process is gone
  return heap;
}

// Four to each power of two.
std::uint64_t DeviceHeap::classOf(std::uint64_t size) {
  return roundUp(size, std::max<std::uint64_t>(kAlignment, std::bit_floor(size) / 4));
}

void *DeviceHeap::takeSmall(std::uint64_t size) {
  const std::uint64_t each = classOf(size);
  std::vector<char *> &free = free_[each];
  if (free.empty()) {
    char *slab = map(kSlab);
    if (!slab) return nullptr;
    for (std::uint64_t at = kSlab / each; at-- > 0;) free.push_back(slab + kSlab % each + at * each);
  }
  char *piece = free.back();
  free.pop_back();
  return piece;
}

void *DeviceHeap::takeLarge(std::uint64_t size, std::uint64_t &mapping) {
  mapping = roundUp(size, kPage);
  char *begin = map(mapping);
  return begin ? begin + (mapping - size) : nullptr;
}

void *DeviceHeap::take(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes > limit_) return nullptr;
  const std::uint64_t size = std::max(roundUp(bytes, kAlignment), kAlignment);
  if (size > limit_ - std::min(limit_, used_)) return nullptr;
  Piece piece{size, 0};
  void *taken = size <= kLargestSmall ? takeSmall(size) : takeLarge(size, piece.mapping);
  if (!taken) return nullptr;
  pieces_[taken] = piece;
  used_ += size;
  return taken;
}

bool DeviceHeap::give(void *pointer) {
  std::lock_guard lock(mutex_);
  auto found = pieces_.find(pointer);
  if (found == pieces_.end()) return false;
  const Piece piece = found->second;
  pieces_.erase(found);
  used_ -= piece.size;
  char *begin = static_cast<char *>(pointer);
  if (piece.mapping) munmap(begin - (piece.mapping - piece.size) - kPage, piece.mapping + 2 * kPage);
  else free_[classOf(piece.size)].push_back(begin);
  return true;
}

void DeviceHeap::setLimit(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  limit_ = bytes;
}

}  // namespace strata::simt
