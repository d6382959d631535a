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

// The PTX that a device of this capability (90 for 9.0) runs: if there is relocatable PTX, one entry of each name, to
// be linked, in the order of first appearance; else a whole one. Of several the highest architecture not above the
// device's is taken, where an architecture-specific one (sm_90a) must be the device's own. Empty: the device can run
// none, or one of the names has none for it.
struct ChosenPtx {
  std::vector<const Entry *> entries;
  bool relocatable = false;

  std::vector<std::string> texts() const;
  std::vector<std::string> names() const;  // of the objects that they are from; empty ones: unknown
};
ChosenPtx choosePtx(const std::vector<Entry> &entries, unsigned capability);

}  // namespace strata::fatbin
