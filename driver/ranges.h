// SPDX-License-Identifier: Apache-2.0
// Hands out guarded pieces of one reserved address window.
//
// A piece ends at a page that is never mapped, and begins in a page of its own, so that a run past its end (and,
// within a page, before its begin) faults. Freed pieces are inaccessible to every kernel that starts afterwards: a
// use after free faults. They are protected by seal(), which runs before a kernel starts, and not when they are
// freed: a piece that is taken again before that costs no system call. Their memory is kept for the next piece of
// the same size class, up to a limit, after which it is returned to the system.
//
// Beyond kGuardedLimit live pieces, which is near what the kernel allows in mappings, small ones are cut from
// shared slabs without guards; these fault neither at their end nor after they were freed.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "simt/simt.h"

namespace strata::driver {

inline constexpr std::uint64_t kPage = 4096;
inline constexpr std::uint64_t kAlignment = 512;  // of every device allocation

constexpr std::uint64_t roundUp(std::uint64_t value, std::uint64_t step) { return (value + step - 1) / step * step; }

struct Range {
  std::uint64_t begin = 0;  // what the user gets
  std::uint64_t bytes = 0;  // as asked for, rounded up to kAlignment
  std::uint64_t slot = 0;   // begin of the slot it lies in
  std::uint64_t slotBytes = 0;
  bool slab = false;
};

class Ranges {
public:
  Ranges();
  simt::AddressWindow window() const { return {base_, base_ + bytes_}; }
  // Accessible memory of at least `bytes`, aligned to kAlignment; begin is 0 if there is no room. Contents: any.
  Range take(std::uint64_t bytes);
  void give(const Range &range);
  // Makes all freed pieces inaccessible.
  void seal() {
    if (unsealed_.load(std::memory_order_acquire)) sealAll();
  }
  // Address space only, inaccessible: begin aligned to `alignment` (a power of two ≥ 2 MiB).
  std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment);
  void unreserve(std::uint64_t begin, std::uint64_t bytes);
  // Returns freed memory to the system, all that exceeds `keep` bytes.
  void trim(std::uint64_t keep);

private:
  struct Slot {
    std::uint64_t begin, warmBegin, warmBytes;  // warm: pages that still have memory
    bool open;                                  // they are still accessible
  };
  struct Class {
    std::vector<Slot> slots;  // free ones
  };

  static std::uint64_t slotBytesFor(std::uint64_t bytes);
  static std::uint64_t endOf(const Range &range);  // of its memory: where the guard begins
  std::uint64_t carve(std::uint64_t bytes, std::uint64_t alignment);
  Range takeFromSlab(std::uint64_t bytes);
  void trimLocked(std::uint64_t keep);
  void sealAll();
  void sealLocked(Slot &slot);

  std::mutex mutex_;
  std::uint64_t base_ = 0, bytes_ = 0, next_ = 0;
  std::uint64_t live_ = 0, warm_ = 0;
  std::atomic<std::uint32_t> unsealed_{0};                                  // open slots
  std::vector<std::uint64_t> openClasses_;                                  // slot bytes of classes that may have some
  std::unordered_map<std::uint64_t, Class> classes_;                        // by slot bytes
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> slabs_;     // free pieces by size
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> reserved_;  // freed reservations by size
};

}  // namespace strata::driver
