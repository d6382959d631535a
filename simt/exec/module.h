// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simt/simt.h"

namespace strata::simt {

// loadKernel in a given mode, whatever STRATA_MODE says: for the replay of a fault, lane by lane.
Result<std::shared_ptr<const Kernel>> loadKernelInMode(const std::shared_ptr<Module> &module, std::string_view name,
                                                       const std::uint32_t blockDim[3], Mode mode);

}  // namespace strata::simt
