// SPDX-License-Identifier: Apache-2.0
// strata.fmin.<type> and strata.fmax.<type> of lane IR and of vectors (simt/lane_ir.md).
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>

#include <string>

namespace strata::simt {

enum class Extreme { none, least, greatest };

// "fmin.<type>" or "fmax.<type>": behind "strata." the function's name.
inline std::string extremeName(Extreme extreme, const std::string &type) {
  return (extreme == Extreme::least ? "fmin." : "fmax.") + type;
}

// What a call is.
inline Extreme extremeOf(const llvm::Value *value) {
  auto *call = llvm::dyn_cast<llvm::CallBase>(value);
  const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
  llvm::StringRef name = callee ? callee->getName() : "";
  if (!name.consume_front("strata.")) return Extreme::none;
  if (name.starts_with(extremeName(Extreme::least, ""))) return Extreme::least;
  return name.starts_with(extremeName(Extreme::greatest, "")) ? Extreme::greatest : Extreme::none;
}

}  // namespace strata::simt
