// SPDX-License-Identifier: Apache-2.0
// A function's loops with what LLVM knows of their counts, for passes that are no LLVM passes.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

namespace llvm {
class Function;
class Loop;
class LoopInfo;
class ScalarEvolution;
}  // namespace llvm

namespace strata::simt {

// Visits each loop, outer ones first.
void eachLoop(llvm::Function &function,
              llvm::function_ref<void(llvm::Loop &, const llvm::LoopInfo &, llvm::ScalarEvolution &)> visit);

}  // namespace strata::simt
