// SPDX-License-Identifier: Apache-2.0
// What the operating system tells about this machine's processor.
#pragma once

#include <string>

namespace strata::driver {

struct Cpu {
  std::string model = "unknown CPU";
  int kilohertz = 0;       // the fastest clock that is known
  int lastLevelCache = 0;  // bytes
  std::string machineId;   // the same on each run, for the devices' uuids
};
const Cpu &cpu();

}  // namespace strata::driver
