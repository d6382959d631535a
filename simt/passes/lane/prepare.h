// SPDX-License-Identifier: Apache-2.0
// The rows of the pipeline that bring a lane function into the form that analysis and vectoriser expect:
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
}

namespace strata::simt {

struct Analyses;

void foldBlockDim(llvm::Function &function, const ThreadIndex &threads);  // where the block's shape is known
void unifyReturns(llvm::Function &function);
void extendNarrowIndices(llvm::Function &function);
void scalarize(llvm::Function &function, Analyses &analyses);
void makeReducible(llvm::Function &function, Analyses &analyses);
void hoistExitBlocks(llvm::Function &function);
void formLoops(llvm::Function &function);
void formLcssa(llvm::Function &function);  // formLoops, where loops are simple already
void unifyLoopExits(llvm::Function &function, const ThreadIndex &threads);

}  // namespace strata::simt
