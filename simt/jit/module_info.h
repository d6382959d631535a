// SPDX-License-Identifier: Apache-2.0
// What the driver needs to know of a module before any kernel is compiled. No LLVM.
#pragma once

#include "base/result.h"
#include "ptx/ptx.h"
#include "simt/simt.h"

namespace strata::simt {

// Errors: user (initialiser names an undefined variable), unsupported (a relocation that is not 8 bytes).
Result<ModuleInfo> describeModule(const ptx::Module &module);

}  // namespace strata::simt
