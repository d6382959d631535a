// SPDX-License-Identifier: Apache-2.0
// Expands elementwise operations to what the CPU has. In: lane or vector IR with strata.* elementwise calls
// and LLVM's float operations of any format. Out: only operations that code generation turns into
// instructions, never into library calls. Results are those that lane_ir.md and ptx/lane_builder.h promise, bit for bit
// the same on every CPU save for approximate functions.
#pragma once

#include "base/result.h"
#include "simt/target/cpu_features.h"

namespace llvm {
class Module;
}

namespace strata::simt {

// Errors: internal, naming the unknown operation.
Result<void> expandMath(llvm::Module &module, const CpuFeatures &cpu);

}  // namespace strata::simt
