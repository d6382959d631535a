// SPDX-License-Identifier: Apache-2.0
// CUDA_VISIBLE_DEVICES: which of the machine's devices a process sees, and in which order.
#pragma once

#include <vector>

#include "driver/cuda_types.h"

namespace strata::driver {

// The devices, by number, that the variable's value names: "1,0", "GPU-9fe1a0c5" (the uuid or its begin). What follows
// an entry that names no device, or more than one, is not seen; nothing is if a device is named twice. Null: all
// devices.
std::vector<int> visibleDevices(const char *value, const std::vector<CUuuid> &uuids);

}  // namespace strata::driver
