// SPDX-License-Identifier: Apache-2.0
// Interleaves per-lane arrays by lane where every access has the same element size, so that one
// element of all lanes is contiguous:
//
//   %a = alloca [8 x float]                       %a = alloca [8 x float], !strata.interleaved !{i64 4}
//   %p = getelementptr i8, ptr %a, i64 %o    →    %p = getelementptr i8, ptr %a, i64 (32 * %o)
//
// Lane l's copy of the marked alloca starts at byte 4*l (laneStride), its elements 128 bytes apart.
// Offsets must be multiples of the element size; an alloca for which that is not proven stays as it is.
#pragma once

namespace llvm {
class Function;
}

namespace strata::simt {

void interleaveLocals(llvm::Function &function);

}  // namespace strata::simt
