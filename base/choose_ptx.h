// SPDX-License-Identifier: Apache-2.0
// Which entries of a fat binary a device runs: the runtime, the CPU driver and the tools choose alike.
#pragma once

#include <string>
#include <vector>

#include "base/fatbin.h"

namespace strata::fatbin {

inline constexpr unsigned kCpuCapability = 90;  // of the CPU device

// The letter after the number in a PTX entry's .target line: 'a', 'f' or 0.
char targetSuffix(const Entry &entry);

// The PTX entry to use on a device of this capability (90 for 9.0): the highest architecture not above it,
// where an architecture-specific one (sm_90a) must be the device's own. Null: none.
const Entry *bestPtx(const std::vector<const Entry *> &entries, unsigned capability);

// Relocatable PTX, to be linked: one entry of each name, in the order of first appearance. False: one name has none
// that runs on the device.
bool chooseRelocatable(const std::vector<Entry> &entries, unsigned capability, std::vector<const Entry *> &chosen);

// The whole PTX entries.
std::vector<const Entry *> wholePtx(const std::vector<Entry> &entries);

}  // namespace strata::fatbin
