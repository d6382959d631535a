// SPDX-License-Identifier: Apache-2.0
// In kernels `strata.exit`, which came with a function that was inlined, is a return.
#pragma once

namespace llvm {
class Module;
}

namespace strata::simt {

void lowerKernelExits(llvm::Module &module);

}  // namespace strata::simt
