// SPDX-License-Identifier: Apache-2.0
// How much memory the CPU device has.
#pragma once

#include <cstdint>
#include <filesystem>

namespace strata::driver {

// Bytes: the machine's memory, or the least limit of this process's control groups (memory, version 1 or 2) where that
// is lower. Found once.
std::uint64_t machineMemory();

// The least limit in bytes of the control group that /proc/self/cgroup names and of those above it; none: the largest
// number. `root` stands for / in tests.
std::uint64_t controlGroupLimit(const std::filesystem::path &root = "/");

}  // namespace strata::driver
