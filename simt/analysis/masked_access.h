// SPDX-License-Identifier: Apache-2.0
// llvm.masked.load, .gather, .store and .scatter: which operand is what; and loads with and without a mask.
#pragma once

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/Alignment.h>

#include <optional>

namespace strata::simt {

struct MaskedAccess {
  llvm::Value *address = nullptr;  // of a gather or a scatter: all lanes' addresses
  llvm::Value *mask = nullptr;
  llvm::Value *stored = nullptr;          // null if it loads
  llvm::Value *passThrough = nullptr;     // null if it stores
  llvm::FixedVectorType *type = nullptr;  // of what is loaded or stored
  llvm::Align align;
  unsigned addressOperand = 0;

  bool isContiguous() const { return !address->getType()->isVectorTy(); }
};

// None if it is something else.
std::optional<MaskedAccess> maskedAccess(const llvm::Instruction &i);

// The address from which `i` loads a vector's elements side by side, under a mask or not; null if it does something
// else.
llvm::Value *contiguousLoadAddress(llvm::Instruction &i);

}  // namespace strata::simt
