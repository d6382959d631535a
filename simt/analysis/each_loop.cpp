// SPDX-License-Identifier: Apache-2.0
#include "simt/analysis/each_loop.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>

namespace strata::simt {

void eachLoop(llvm::Function &function,
              llvm::function_ref<void(llvm::Loop &, const llvm::LoopInfo &, llvm::ScalarEvolution &)> visit) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  if (loops.empty()) return;
  const llvm::TargetLibraryInfoImpl names(llvm::Triple(function.getParent()->getTargetTriple()));
  llvm::TargetLibraryInfo library(names);
  llvm::AssumptionCache assumptions(function);
  llvm::ScalarEvolution evolution(function, library, assumptions, dominators, loops);
  for (llvm::Loop *loop : loops.getLoopsInPreorder()) visit(*loop, loops, evolution);
}

}  // namespace strata::simt
