// SPDX-License-Identifier: Apache-2.0
// Gives a row of guards, as the taps of a stencil or a convolution have for the border, a version for warps that pass
// them all with all their lanes: straight code without masks, behind one test. It is the way of most warps.
//
//   entry: br %c, a, b                    entry: %full = call i1 @strata.warp.full(%c and %d and %e)
//   a:     … br b                                br %full, a.full, entry.some
//   b:     br %d, c, e              →     a.full: … b.full: … c.full: … e.full: …
//   c:     br %e, d, e
//   d:     … br e                         entry.some: br %c, a, b       ; as before
//
// Done from the first divergent branch that all lanes reach, if it and another such can be foreseen there: branches on
// what can be computed ahead, where one side only skips the other. The straight version goes as far as possible, to the
// function's end or to a block that all lanes reach. Before and after: as for specialize_full_warps.h, which takes
// over where there is only one guard, or one inside the other.
#pragma once

#include "simt/analysis/thread_index.h"

namespace llvm {
class Function;
}

namespace strata::simt {

// Only kernels have such versions. One that has is marked so.
inline constexpr const char *kFullPath = "strata.full_path";
void specializeFullPaths(llvm::Function &function, const ThreadIndex &threads);

}  // namespace strata::simt
