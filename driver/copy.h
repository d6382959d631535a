// SPDX-License-Identifier: Apache-2.0
// Copies and fills of memory: checked, and run at once or as a stream's operation.
#pragma once

#include "driver/work.h"

namespace strata::driver {

enum class Sync { sync, async };
inline constexpr std::uint64_t kInline = std::uint64_t{64} << 10;  // bytes that are done in the thread whose turn it is
OperationPtr makeCopy(Copy copy);
OperationPtr makeFill(Fill fill);
void runCopy(const Copy &copy);
void runFill(const Fill &fill);
// For a synchronous copy it does not find out where memory lies that the call names as the host's.
CUresult planCopy(const CUDA_MEMCPY3D &described, Copy &copy, Sync sync = Sync::async);
CUresult checkFill(Fill &fill);  // sets residence

}  // namespace strata::driver
