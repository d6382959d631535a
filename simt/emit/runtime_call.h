// SPDX-License-Identifier: Apache-2.0
// Calls from generated code into the executor, through the Runtime table (simt/abi.h).
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>

#include <cstddef>

#include "simt/intrinsics.h"

namespace strata::simt {

// Calls the entry of the table at byte `slot`, e.g. offsetof(Runtime, barrier).
llvm::CallInst *callRuntime(llvm::IRBuilder<> &b, llvm::Value *warp, std::size_t slot, llvm::Type *result,
                            llvm::ArrayRef<llvm::Value *> args);

// Calls the entry that `row` names for a call of that intrinsic with result `type`, and returns the call's value.
// `operand` gives what stands for one of the row's letters other than w and =.
llvm::Value *callRuntime(llvm::IRBuilder<> &b, llvm::Value *warp, const IntrinsicRow &row, llvm::Type *type,
                         llvm::function_ref<llvm::Value *(char)> operand);

}  // namespace strata::simt
