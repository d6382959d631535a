// SPDX-License-Identifier: Apache-2.0
// Which sanitizer this is built with, and its interface for fibers and memory.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STRATA_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#if __has_feature(thread_sanitizer)
#define STRATA_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif
#endif

#include <cstddef>

namespace strata {

// Tells the leak checker that this memory, which no allocator knows, holds pointers.
inline void holdsPointers([[maybe_unused]] void *memory, [[maybe_unused]] std::size_t size) {
#if STRATA_ASAN
  __lsan_register_root_region(memory, size);
#endif
}

}  // namespace strata
