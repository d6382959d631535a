// SPDX-License-Identifier: Apache-2.0
// The heap of device code's malloc: apart from the process's own, so that a kernel which writes past what it was given
// harms at most what other device code has there. Pieces lie in mappings of their own between inaccessible pages, as
// device memory does: a large one ends at such a page, small ones of a size share slabs.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace strata::simt {

// Thread-safe.
class DeviceHeap {
public:
  static DeviceHeap &get();

  // At least `bytes`, aligned to 16; null beyond the limit, or if there is no memory. Contents: any.
  void *take(std::uint64_t bytes);
  bool give(void *piece);              // false if it is none
  void setLimit(std::uint64_t bytes);  // cudaLimitMallocHeapSize: of all that is taken together

private:
  struct Piece {
    std::uint64_t size;     // what counts against the limit
    std::uint64_t mapping;  // bytes accessible, of a large piece; 0: it lies in a slab
  };

  static std::uint64_t classOf(std::uint64_t size);
  void *takeSmall(std::uint64_t size);
  void *takeLarge(std::uint64_t size, std::uint64_t &mapping);

  std::mutex mutex_;
  std::unordered_map<void *, Piece> pieces_;
  std::unordered_map<std::uint64_t, std::vector<char *>> free_;  // by class
  std::uint64_t used_ = 0, limit_ = 8u << 20;
};

}  // namespace strata::simt
