// SPDX-License-Identifier: Apache-2.0
// Lanes that leave a loop with barriers to write memory and end do so when they leave. In lock step they would wait for the
// rest of their warp to leave, too; but the block's barrier counts them as gone, and those who pass it may look for what they wrote.
//
//   loop: …                                         loop: …
//         br %c, out, next            (varies)            br %c, out, left
//   next: barrier; br loop                    →     out:  store %v, %p; br left
//   out:  store %v, %p; br return                   left: br %c, return, next
//                                                   next: barrier; br loop
//
// Before: a lane function with one return block. After: no lane leaves a loop with a barrier for a block that may write memory, on
// a branch that varies, unless it comes to a barrier or collective, or a function that may have one: there it waits for others anyhow.
// Loops are to be simplified again.
#pragma once

#include "simt/analysis/thread_index.h"

namespace llvm {
class Function;
}

namespace strata::simt {

// Returns whether it did anything.
bool leaveBarrierLoops(llvm::Function &function, const ThreadIndex &threads);

}  // namespace strata::simt
