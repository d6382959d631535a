// SPDX-License-Identifier: Apache-2.0
// Kernel launches, from a call to the record that a stream gets: checked, with its parameters packed.
#pragma once

#include "driver/work.h"

namespace strata::driver {

struct LaunchShape {
  std::array<std::uint32_t, 3> gridDim, blockDim;
  std::uint32_t dynamicShared = 0;
};
CUresult prepareLaunch(Context &context, CUfunction handle, const LaunchShape &shape, void **params, void **extra,
                       std::span<const CUlaunchAttribute> attributes, Launch &launch);

}  // namespace strata::driver
