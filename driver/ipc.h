// SPDX-License-Identifier: Apache-2.0
// Device memory shared between processes by handles.
#pragma once

#include "driver/memory.h"

namespace strata::driver {

// Takes back the pages of an allocation that was exported.
void forgetShared(const Allocation &allocation);

}  // namespace strata::driver
