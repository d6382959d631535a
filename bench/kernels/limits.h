// SPDX-License-Identifier: Apache-2.0
// What this machine can do at best, measured in the same run: the bandwidth of the best hand-written
// add loop, and fp32 fused multiply-adds on registers.
#pragma once

namespace bench {

struct Limits {
  double bytesPerSecond = 0;
  double flopsPerSecond = 0;
};

Limits measureLimits();

}  // namespace bench
