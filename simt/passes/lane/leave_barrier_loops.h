// SPDX-License-Identifier: Apache-2.0
// Lanes that leave a loop with barriers, or go past barriers, to write memory and end do so when they leave. In lock
// step they would wait for the rest of their warp, too; but the block's barrier counts them as gone, and those who pass
// it may look for what they wrote.
//
//   loop: …                                         loop: …
//         br %c, out, next                                br %c, out, left
//   next: barrier; br loop                    →     out:  store %v, %p; br left
//   out:  store %v, %p; br return                   left: br %c, return, next
//                                                   next: barrier; br loop
//
// Before: a lane function with one return block. After: where lanes go one way to blocks that may write memory, and
// come to no barrier or collective there, nor to a function that may have one, and others of their warp may come to a
// barrier, the branch is as `left`'s: it varies, or it is in code that only some lanes of a warp may be in. Who comes
// to a barrier waits for others anyhow. What is still late then, or would be copied beyond a bound, needs lane mode
// (forward_progress.h).
#pragma once

#include "simt/analysis/thread_index.h"

namespace llvm {
class Function;
}

namespace strata::simt {

// Before: where ways out meet a way on to a barrier, in one join or several, and part again by what is known on each,
// each goes where it ends. Blocks between are copied, within bounds.
void threadBarrierExits(llvm::Function &function);

void leaveBarrierLoops(llvm::Function &function, const ThreadIndex &threads);

}  // namespace strata::simt
