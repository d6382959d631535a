// SPDX-License-Identifier: Apache-2.0
// Grids are often rounded up, or far larger than the work: blocks that only compare and leave. Whether all threads of a
// block fail the guard at the kernel's head is asked once, before its warps are looked at.
//
//   entry: %i = ctaid * ntid + tid          →   define i1 @strata.idle(ptr %warp)
//          br (%i < %n), %body, %done               %i = ctaid * ntid
//   done:  ret void                                 ret (%i >= %n and %i + 1023 does not wrap)
//
// The guard compares with `<` or `<=` what grows with tid, or is a conjunction of which one term does. Nothing happens
// before it, and nothing behind its other side.
#pragma once

namespace llvm {
class Function;
}

namespace strata::simt {

// The test, a function of the kernel's module that reads only what every thread reads; null if there is no such guard.
llvm::Function *writeIdleTest(llvm::Function &kernel);

}  // namespace strata::simt
