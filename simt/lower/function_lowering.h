// SPDX-License-Identifier: Apache-2.0
// The body of one PTX function: control flow here, everything else through the instructions' meanings.
#pragma once

#include "simt/lower/lane_ir_builder.h"

namespace strata::simt {

// Writes the body of module.function(index). Errors: unsupported, internal; each names the place.
Result<void> lowerFunction(LaneModule &module, std::uint32_t index);

}  // namespace strata::simt
