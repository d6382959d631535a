// SPDX-License-Identifier: Apache-2.0
// Rows of the pipeline that are LLVM's passes. Before and after vectorisation these are the scalar ones; convergent
// calls of lane IR stay where they are.
#pragma once

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/PassManager.h>

namespace llvm {
class TargetMachine;
}

namespace strata::simt {

// LLVM's analyses for one kernel.
struct Analyses {
  explicit Analyses(llvm::TargetMachine *target);
  void clear();
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
};

// Lane IR as lower() writes it -> lane IR in SSA form, loops rotated, small constant loops unrolled.
void promoteRegisters(llvm::Function &function, Analyses &analyses);
void inlineFunctions(llvm::Module &module, Analyses &analyses);  // those that chooseInlining has chosen
void combine(llvm::Function &function, Analyses &analyses);
void simplify(llvm::Function &function, Analyses &analyses);  // arrays whose addresses go nowhere become values
void rotateLoops(llvm::Function &function, Analyses &analyses);
void unrollLoops(llvm::Function &function, Analyses &analyses);
void numberValues(llvm::Function &function, Analyses &analyses);  // and arrays that unrolling gave constant indices
void dropDeadCode(llvm::Function &function, Analyses &analyses);

// What the vectoriser wrote: its slots become values.
void promoteSlots(llvm::Function &function, Analyses &analyses);

// Vector (or expanded lane) code, on which convergence has no claim any more.
void cleanUp(llvm::Function &function, Analyses &analyses);
void dropUnused(llvm::Module &module, Analyses &analyses);

}  // namespace strata::simt
