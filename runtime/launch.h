// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "toolkit/include/cuda.h"
#include "toolkit/include/driver_types.h"

namespace strata::runtime {

// The driver's form of a launch configuration; attributes are shared, not copied.
CUlaunchConfig driverConfig(const cudaLaunchConfig_t &config, CUstream stream);

}  // namespace strata::runtime
