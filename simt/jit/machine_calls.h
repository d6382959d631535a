// SPDX-License-Identifier: Apache-2.0
// Calls from generated code into the executor, through the Runtime table (simt/abi.h).
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/IRBuilder.h>

#include <cstddef>

#include "base/result.h"
#include "simt/abi.h"

namespace llvm {
class Module;
}

namespace strata::simt {

// Calls the entry of the table at byte `slot`, e.g. offsetof(Runtime, barrier).
llvm::CallInst *callRuntime(llvm::IRBuilder<> &b, llvm::Value *warp, std::size_t slot, llvm::Type *result,
                            llvm::ArrayRef<llvm::Value *> args);

// Expands strata.w.* (lane_ir.md, "After this stage"). Errors: internal, naming an unknown one.
Result<void> expandMachineCalls(llvm::Module &module);

// Lane mode. Before: optimised lane IR. After: no strata.* call but elementwise ones is left; each function runs one
// lane, collectives are calls of Runtime::laneCollective; loops that wait for memory yield.
// Errors: internal, naming an unknown intrinsic.
Result<void> expandLaneForms(llvm::Module &module);

// In kernels `strata.exit` (from an inlined function) is a return.
void lowerKernelExits(llvm::Module &module);

}  // namespace strata::simt
