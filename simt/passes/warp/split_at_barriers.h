// SPDX-License-Identifier: Apache-2.0
// A kernel whose only waits are barriers of the whole block becomes a function that runs one warp from one
// barrier to the next, so that the block's entry (kernel_entry.h) can run all warps up to a barrier and then go
// on: no fibers, and the processor overlaps one warp's work with the next one's.
//
// Before: a warp's function, with a call of the marker kSuspend where a barrier is.
// After:  i32 part(block, warp, index, frame, state): `state` is 0 at first, then what the last call returned:
//         the number of the barrier it stands at (1…), or kEnded (a call with that does nothing). What lives across a
//         barrier is in the warp's frame (`frameBytes`, 64-byte aligned); values that follow from the launch, the block
//         and the warp's number alone are computed again instead.
//
//   %n = load …params            entry:  %n = load …params              ; the same for the whole block
//   %y = shl %index, 1                   switch %state, [0: a, 1: resume]
//   a: %s = fma …                a:      %s = fma …
//      call @strata.suspend()            store %s, %frame[0]
//      use %s, %y                        ret 1
//      ret                       resume: %y1 = shl %index, 1            ; computed again
//                                        %s1 = load %frame[0]
//                                        use %s1, %y1
//                                        ret kEnded
#pragma once

#include <cstdint>

namespace llvm {
class Function;
}

namespace strata::simt {

inline constexpr const char *kSuspend = "strata.suspend";
inline constexpr std::uint32_t kEnded = ~0u;

// The same for a warp that only lets the others have their turn: it goes on in the next round whether or not they have
// come to a barrier. Its states have kTurnBit.
inline constexpr const char *kTurn = "strata.suspend.turn";
inline constexpr std::uint32_t kTurnBit = 1u << 30;

struct SplitWarp {
  llvm::Function *part;      // internal; takes the place of the warp's function, which is gone
  std::uint64_t frameBytes;  // a multiple of 64
  bool takesTurns;           // some of its states have kTurnBit
};
SplitWarp splitAtBarriers(llvm::Function &warpFunction);

}  // namespace strata::simt
