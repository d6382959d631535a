// SPDX-License-Identifier: Apache-2.0
// What a later block will read at first is asked for ahead. Blocks that read a page or less leave the hardware no time
// to see that they read straight on, and where a barrier follows, all of a block's warps wait for memory.
//
//   %b = load i32, ptr %block.idx              %b = load i32, ptr %block.idx
//   %i = add (shl %b, 10), %t                  %i = add (shl %b, 10), %t
//                                        →     prefetch %in + add (shl (%b + 4), 10), %t   ; line by line
//   %v = load <32 x float>, ptr %in + %i       %v = load <32 x float>, ptr %in + %i
//
// Done where a warp reads a few lines so, at addresses that follow from the launch, the block and the warp's number.
// Before and after: the optimised machine module.
#pragma once

namespace llvm {
class Function;
}

namespace strata::simt {

// Returns whether anything changed.
bool prefetchBlocks(llvm::Function &function);

}  // namespace strata::simt
