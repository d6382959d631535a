// SPDX-License-Identifier: Apache-2.0
// The machine-code cache on disk: one file per key, safe between processes without locks. An entry is written
// aside and renamed; its head holds the key and a checksum, so that whatever is damaged is a miss. A cache that
// cannot be used (no home, foreign folder, disk full) is off or loses entries; nothing ever fails because of it.
// What lies in it is executed. Only its owner can write the folder and change the way to it (base/trust.h); it is
// opened once and held, and an entry counts only if it is a plain file of the same owner that nobody else can write.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "simt/exec/cache_key.h"

namespace strata::simt {

class DiskCache {
public:
  // limit: bytes; 0 turns the cache off. The folder is made at need, readable by its owner only.
  DiskCache(std::string folder, std::int64_t limit);

  std::optional<std::vector<std::uint8_t>> get(const CacheKey &key);
  void put(const CacheKey &key, std::span<const std::uint8_t> payload);
  // Why nothing is kept; empty: the cache is in use.
  std::string refusal();
  // Entries made since the start that are not there: too large, or gone already to make room for others.
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }
  // For an entry that is whole but that its reader does not understand.
  void remove(const CacheKey &key);

  // The process's cache, by STRATA_CACHE_DIR and STRATA_CACHE_SIZE.
  static DiskCache &process();
  // Its folder: STRATA_CACHE_DIR, $XDG_CACHE_HOME/strata or ~/.cache/strata; empty: none of them is set.
  static std::string processFolder();

private:
  bool usable() { return refusal().empty(); }
  std::string findRefusal();
  bool writeFile(const std::string &name, const CacheKey &key, std::span<const std::uint8_t> payload);
  void unlink(const std::string &name) { unlinkat(descriptor_.number(), name.c_str(), 0); }
  void evict();

  std::string folder_;     // for messages
  Descriptor descriptor_;  // of the folder, once it is usable
  std::int64_t limit_;
  const std::time_t start_;
  std::atomic<std::uint64_t> lost_{0};
  std::mutex mutex_;                    // of the two below
  std::optional<std::string> refusal_;  // not yet known; empty: usable
  std::int64_t size_ = -1;              // estimate of the folder's size; -1: not yet known
};

}  // namespace strata::simt
