// SPDX-License-Identifier: Apache-2.0
// Decides which functions of lane IR are inlined where they are called: all, except recursive ones, and where that
// would make far too much code: there the calls that cost most of it stay.
#pragma once

namespace llvm {
class Module;
}

namespace strata::simt {

// After: each function but the kernel is alwaysinline or noinline.
void chooseInlining(llvm::Module &module);

}  // namespace strata::simt
