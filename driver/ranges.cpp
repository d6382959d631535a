// SPDX-License-Identifier: Apache-2.0
#include "driver/ranges.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

#include "base/log.h"

namespace strata::driver {
namespace {

constexpr std::uint64_t kHuge = std::uint64_t{2} << 20;
constexpr std::uint64_t kGuardedLimit = 12000;  // each guarded piece is two mappings; Linux allows 65530
constexpr std::uint64_t kSlabPiece = std::uint64_t{64} << 10;
constexpr std::uint64_t kWarmLimit = std::uint64_t{512} << 20;

void *pointer(std::uint64_t address) { return reinterpret_cast<void *>(address); }

bool protect(std::uint64_t begin, std::uint64_t bytes, int protection) {
  return mprotect(pointer(begin), bytes, protection) == 0;
}

}  // namespace

Ranges::Ranges() {
  for (std::uint64_t bytes = std::uint64_t{1} << 40; bytes >= std::uint64_t{1} << 32; bytes /= 2) {
    void *memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    base_ = roundUp(reinterpret_cast<std::uint64_t>(memory), kHuge);
    bytes_ = bytes - kHuge;
    next_ = base_ + kHuge;  // the first piece has a guard before it
    madvise(pointer(base_), bytes_, MADV_HUGEPAGE);
    return;
  }
  log::error("no address space for device memory: every allocation will fail (is RLIMIT_AS set?)");
}

// Pages for the piece and its guard; sizes are spread over 8 classes per power of two, so that a freed slot fits
// many later requests. Large slots are multiples of a huge page, and so are their guards: large pieces, of which
// programs have round sizes, then lie on huge pages from end to end.
std::uint64_t Ranges::slotBytesFor(std::uint64_t bytes) {
  std::uint64_t need = roundUp(bytes, kPage) + kPage;
  if (need > kHuge) need = roundUp(bytes, kPage) + kHuge;
  std::uint64_t step = std::max(kPage, std::bit_floor(need) / 8);
  need = roundUp(need, step);
  return need > kHuge ? roundUp(need, kHuge) : need;
}

std::uint64_t Ranges::endOf(const Range &range) {
  return range.slot + range.slotBytes - (range.slotBytes > kHuge ? kHuge : kPage);
}

std::uint64_t Ranges::carve(std::uint64_t bytes, std::uint64_t alignment) {
  std::uint64_t begin = roundUp(next_, alignment);
  if (begin + bytes > base_ + bytes_ || begin + bytes < begin) return 0;
  next_ = begin + bytes;
  return begin;
}

Range Ranges::take(std::uint64_t bytes) {
  if (bytes == 0 || bytes > bytes_) return {};
  std::lock_guard lock(mutex_);
  Range range;
  range.bytes = roundUp(bytes, kAlignment);
  if (live_ >= kGuardedLimit && range.bytes <= kSlabPiece) return takeFromSlab(range.bytes);
  range.slotBytes = slotBytesFor(range.bytes);
  auto &slots = classes_[range.slotBytes].slots;
  Slot slot{0, 0, 0, false};
  if (!slots.empty()) {
    slot = slots.back();
    warm_ -= slot.warmBytes;
    slots.pop_back();
  } else {
    slot.begin = carve(range.slotBytes, range.slotBytes > kHuge ? kHuge : kPage);
    if (!slot.begin) return {};
  }
  range.slot = slot.begin;
  std::uint64_t end = endOf(range);
  range.begin = end - range.bytes;
  std::uint64_t firstPage = range.begin / kPage * kPage;
  if (slot.open && slot.warmBegin == firstPage) {
    unsealed_.fetch_sub(1);
  } else {
    sealLocked(slot);
    if (!protect(firstPage, end - firstPage, PROT_READ | PROT_WRITE)) return {};
  }
  ++live_;
  return range;
}

void Ranges::sealLocked(Slot &slot) {
  if (!slot.open) return;
  protect(slot.warmBegin, slot.warmBytes, PROT_NONE);
  slot.open = false;
  unsealed_.fetch_sub(1);
}

void Ranges::sealAll() {
  std::lock_guard lock(mutex_);
  for (std::uint64_t bytes : openClasses_) {
    auto &slots = classes_[bytes].slots;  // the open ones are the last, as they are pushed and popped there
    for (auto slot = slots.rbegin(); slot != slots.rend() && slot->open; ++slot) sealLocked(*slot);
  }
  openClasses_.clear();
}

Range Ranges::takeFromSlab(std::uint64_t bytes) {
  Range range;
  range.bytes = range.slotBytes = std::bit_ceil(bytes);
  range.slab = true;
  auto &pieces = slabs_[range.bytes];
  if (pieces.empty()) {
    std::uint64_t slab = carve(kHuge, kHuge);
    if (!slab || !protect(slab, kHuge, PROT_READ | PROT_WRITE)) return {};
    for (std::uint64_t at = slab; at < slab + kHuge; at += range.bytes) pieces.push_back(at);
  }
  range.begin = range.slot = pieces.back();
  pieces.pop_back();
  return range;
}

void Ranges::give(const Range &range) {
  std::lock_guard lock(mutex_);
  if (range.slab) {
    slabs_[range.slotBytes].push_back(range.begin);
    return;
  }
  std::uint64_t firstPage = range.begin / kPage * kPage;
  std::uint64_t bytes = endOf(range) - firstPage;
  classes_[range.slotBytes].slots.push_back({range.slot, firstPage, bytes, true});
  unsealed_.fetch_add(1);
  if (std::find(openClasses_.begin(), openClasses_.end(), range.slotBytes) == openClasses_.end())
    openClasses_.push_back(range.slotBytes);
  --live_;
  warm_ += bytes;
  if (warm_ > kWarmLimit) trimLocked(kWarmLimit / 2);
}

void Ranges::trim(std::uint64_t keep) {
  std::lock_guard lock(mutex_);
  trimLocked(keep);
}

// The largest slots go first: few system calls free the most.
void Ranges::trimLocked(std::uint64_t keep) {
  while (warm_ > keep) {
    std::uint64_t largest = 0;
    for (auto &[bytes, sizeClass] : classes_) {
      bool warm = false;
      for (const Slot &slot : sizeClass.slots) warm |= slot.warmBytes != 0;
      if (warm && bytes > largest) largest = bytes;
    }
    if (!largest) return;
    for (Slot &slot : classes_[largest].slots) {
      if (!slot.warmBytes || warm_ <= keep) continue;
      sealLocked(slot);
      madvise(pointer(slot.warmBegin), slot.warmBytes, MADV_DONTNEED);
      warm_ -= slot.warmBytes;
      slot.warmBytes = 0;
    }
  }
}

std::uint64_t Ranges::reserve(std::uint64_t bytes, std::uint64_t alignment) {
  std::lock_guard lock(mutex_);
  auto &freed = reserved_[bytes];
  for (auto at = freed.begin(); at != freed.end(); ++at) {
    if (*at % alignment) continue;
    std::uint64_t begin = *at;
    freed.erase(at);
    return begin;
  }
  std::uint64_t begin = carve(bytes + kHuge, alignment);  // a huge page of guard behind it
  return begin;
}

void Ranges::unreserve(std::uint64_t begin, std::uint64_t bytes) {
  // Whatever was mapped there becomes inaccessible address space again.
  mmap(pointer(begin), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  std::lock_guard lock(mutex_);
  reserved_[bytes].push_back(begin);
}

}  // namespace strata::driver
