// SPDX-License-Identifier: Apache-2.0
// Lane mode: what lane IR leaves open becomes code for one lane on its own fiber.
//
// Before: optimised lane IR. After: no strata.* call but elementwise ones is left; each function runs one
// lane, collectives are calls of Runtime::laneCollective; loops that wait for memory yield.
#pragma once

#include "base/result.h"

namespace llvm {
class Module;
}

namespace strata::simt {

// Errors: internal, naming an unknown intrinsic.
Result<void> expandLaneForms(llvm::Module &module);

}  // namespace strata::simt
