// SPDX-License-Identifier: Apache-2.0
// A kernel without barriers is entered once per block and writes each warp's number and lanes to the Warp, where
// most often nobody looks but code that is about to end the launch. In kernels that do little but move memory these
// stores cost a quarter of the time: they take places in the store buffer from those that wait for memory.
// This moves them to where they are read, if that is only in blocks that do not return.
//
//   loop:  store i32 %index, %warp+8                 loop:  br i1 %misaligned, %fault, %rest
//          br i1 %misaligned, %fault, %rest     →
//   fault: call void %fault(%warp, …)                fault: store i32 %index, %warp+8
//          unreachable                                      call void %fault(%warp, …)
//
// Before and after: the optimised machine module. A signal then finds no warp's number: see describe in
// exec/faults.cpp.
#pragma once

namespace llvm {
class Function;
}

namespace strata::simt {

// Returns whether anything changed.
bool sinkWarpState(llvm::Function &function);

}  // namespace strata::simt
