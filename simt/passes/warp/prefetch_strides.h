// SPDX-License-Identifier: Apache-2.0
// Prefetches for loops that walk memory in strides which the hardware does not follow, as grid-stride loops do: they
// advance by the number of all threads, and each round would wait for memory anew.
//
//   loop: %i = phi i32 [ %a, … ], [ %next, %loop ]         %ahead = add i32 %i, %far       ; %far = 8 * %stride
//         %p = getelementptr float, ptr %x, i32 %i         %q = getelementptr float, ptr %x, i32 %ahead
//         %v = load <32 x float>, ptr %p            →      prefetch %q; prefetch %q + 64
//         %next = add i32 %i, %stride                      …
//
// Where lanes fetch from all over memory, what a loop reads straight on is prefetched too.
//
// Before: optimised IR of a warp. After: the same with calls of llvm.prefetch in loops. Shared memory and stack are
// left alone. A round of a loop with barriers is long, since all warps of the block take it: there, two rounds ahead
// are enough. When a warp's function is split at its barriers these are no loops any more, so they come before that.
#pragma once

namespace llvm {
class Function;
}

namespace strata::simt {

void prefetchPlainLoops(llvm::Function &function);
void prefetchBarrierLoops(llvm::Function &function);  // with markers of barriers (split_at_barriers.h)

}  // namespace strata::simt
