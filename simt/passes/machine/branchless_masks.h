// SPDX-License-Identifier: Apache-2.0
// Masked loads, stores, gathers and scatters that the target has no instruction for become scalar accesses without
// branches: inactive lanes access a dummy on the stack. LLVM's own expansion makes two blocks for each lane, which
// costs seconds of compile time for large kernels and a misprediction for each change of the mask.
//
//   %v = masked.gather(<32 x ptr> %p, <32 x i1> %m)   →   for each lane: %q = select %m[i], %p[i], %dummy; load %q
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace strata::simt {

void expandMaskedAccesses(llvm::Module &module, llvm::TargetMachine &target);

}  // namespace strata::simt
