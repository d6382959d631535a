// SPDX-License-Identifier: Apache-2.0
// Vectors are loaded on the one way out of a block on which they are used: what a warp's frame holds for the end of a
// kernel need not be loaded in each round.
//
//   resume: %s = load <32 x float>, %frame           resume: br %more, fill, store
//           br %more, fill, done              →      store:  %s = load <32 x float>, %frame
//   done:   phi [%s, resume], …                              br done
//
// Before and after: optimised IR of a warp. A load stays where something between it and the block's end writes memory.
#pragma once

namespace llvm {
class Function;
}

namespace strata::simt {

bool sinkLoads(llvm::Function &function);

}  // namespace strata::simt
