// SPDX-License-Identifier: Apache-2.0
// What this machine can do at best on all processors, measured in the same run: the best of several hand-written loops
// each, on huge pages, so that no implementation of a case goes beyond it.
#pragma once

#include <cstddef>

namespace bench {

struct Limits {
  // Bytes per second of loops that only read, that write one word for each that they read, and one for each two.
  double read = 0, copy = 0, add = 0;
  double flopsPerSecond = 0;  // fp32 fused multiply-adds on registers, two each

  struct Memory {
    const char *name;
    double bytesPerSecond;
  };
  // The one of the three whose traffic is most like that of a case with these inputs and outputs.
  Memory memory(std::size_t inputBytes, std::size_t outputBytes) const;
};

Limits measureLimits();

// Memory on huge pages, to be freed by std::free.
void *allocateHuge(std::size_t bytes);

}  // namespace bench
