// SPDX-License-Identifier: Apache-2.0
// Gives a counter to loops whose number of rounds is the same wherever they begin, so that they are unrolled like those
// that begin at a constant: what a block loads together, when the block's shape is known.
//
//   i = phi [%tid, …], [%next, …]           %tid is 0 to 255        k = phi [0, …], [%k.next, …];  i = …
//   %next = add i32 %i, 256                              →          %next = add i32 %i, 256;  %k.next = add i32 %k, 1
//   br (icmp ult %i, 768), loop, done                               br (icmp ne %k.next, 4), loop, done
//
// Before and after: loops whose latch decides on their end. Others are left alone.
#pragma once

namespace llvm {
class Function;
}

namespace strata::simt {

void countRounds(llvm::Function &function);

}  // namespace strata::simt
