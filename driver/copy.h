// SPDX-License-Identifier: Apache-2.0
// Copies and fills of memory: checked, and run at once or as a stream's operation.
#pragma once

#include "driver/work.h"

namespace strata::driver {

enum class Sync { sync, async };
OperationPtr makeCopy(Copy copy);
OperationPtr makeFill(Fill fill);
void runCopy(const Copy &copy);
void runFill(const Fill &fill);
CUresult planCopy(const CUDA_MEMCPY3D &described, Copy &copy);
CUresult checkFill(Fill &fill);  // sets residence

}  // namespace strata::driver
