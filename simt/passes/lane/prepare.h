// SPDX-License-Identifier: Apache-2.0
// Brings a lane function into the form that analysis and vectoriser expect:
//  - one return block; no unreachable: a lane that traps goes to the return block (its call does not return);
//  - after a call of a function that may run `strata.exit`: br strata.exited(), return block, rest;
//  - br only (no switch), no arithmetic on lane vectors, narrow GEP indices extended explicitly;
//  - reducible, loops simplified and in LCSSA form; a divergent loop has a single exit block:
//
//      loop { if (%varying) goto a; … if (%other) goto b; }
//   →  loop { if (%varying) goto hub; … if (%other) goto hub; }  hub: br %first, a, b
//
//  - per-lane arrays with elements of one size are interleaved by lane: offsets within them are
//    multiplied by 32, and the alloca is marked with kInterleavedMetadata.
#pragma once

#include "simt/analysis/thread_index.h"

namespace llvm {
class Function;
template <class T, class... A>
class AnalysisManager;
using FunctionAnalysisManager = AnalysisManager<Function>;
}  // namespace llvm

namespace strata::simt {

// What only the vectoriser needs comes last: the single exit block, versions of code for full warps, values that are
// skipped.
void prepareControl(llvm::Function &function, const ThreadIndex &threads, llvm::FunctionAnalysisManager &analyses);
void prepareLockStep(llvm::Function &function, const ThreadIndex &threads);

void prepare(llvm::Function &function, const ThreadIndex &threads, llvm::FunctionAnalysisManager &analyses);

}  // namespace strata::simt
