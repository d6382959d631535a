// SPDX-License-Identifier: Apache-2.0
// Gives the usual guard of a kernel a version for warps that pass it with all their lanes: there masks are
// constant, so that accesses need no mask and patterns of addresses become wide loads and shuffles.
//
//   entry: br %in, body, join        →   entry:  %full = call i1 @strata.warp.full(%in)
//   body:  … br join                             br %full, body.full, entry.some
//                                        entry.some: br %in, body, join
//
// Done to the first divergent branch that all lanes reach, where one side is the join itself; then to the next one in
// the version for full warps, as guards of the lower and of the upper edge follow each other. Before and after: a
// function in the form of simt/passes/lane/prepare.h, but for loops, which are brought into form afterwards.
#pragma once

#include "simt/analysis/thread_index.h"

namespace llvm {
class Function;
}

namespace strata::simt {

// Only kernels have such versions, unless specialize_full_paths.h has made one.
void specializeFullWarps(llvm::Function &function, const ThreadIndex &threads);

}  // namespace strata::simt
