// SPDX-License-Identifier: Apache-2.0
// Random PTX kernels whose results PTX fixes bit by bit. Seeds below kFirstFormSeed: nested divergent loops with
// breaks, early returns, switches, calls, barriers in uniform code, shuffles and votes under exact masks, local and
// shared memory, atomics that commute, integers of all widths, f16, f32 and f64. NaNs are made canonical
// before they are stored; nothing depends on the order of lanes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace strata::fuzz {

// Words that each thread reads from `in` and writes to `out`; 32-bit counters that all threads share
// (0…5 by one operation each, 16… by additions).
inline constexpr std::uint32_t kInputWords = 16, kOutputWords = 32, kCounters = 32;

struct GeneratedKernel {
  std::string ptx;  // module with one entry, "k" (u64 in, u64 out, u64 counters)
  std::uint32_t grid, block, blockY = 1, counters = kCounters;
  std::map<std::string, int> constructs;  // what control flow was generated, and how often
};

// Kernels from this seed on also walk through arrays side by side.
inline constexpr std::uint64_t kFirstWalkingSeed = 1000000;
// Kernels from this seed on are those of form_generator.h.
inline constexpr std::uint64_t kFirstFormSeed = 2000000;
// And from this one on those of leaving_generator.h.
inline constexpr std::uint64_t kFirstLeavingSeed = 3000000;
// And from this one on those of stride_generator.h.
inline constexpr std::uint64_t kFirstStrideSeed = 4000000;
// And from this one on those of meeting_generator.h; a GPU may wait for ever in the open ones.
inline constexpr std::uint64_t kFirstMeetingSeed = 5000000, kFirstOpenMeetingSeed = 5500000;

// The same seed gives the same kernel, on every machine.
GeneratedKernel generateKernel(std::uint64_t seed);

}  // namespace strata::fuzz
