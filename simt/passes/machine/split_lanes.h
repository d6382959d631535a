// SPDX-License-Identifier: Apache-2.0
// Cuts the values of a warp into parts that fit a vector register, so that a kernel with many live values can work on
// one part after the other, and masks need no joining and cutting.
//
//   %s = fadd <32 x float> %a, %b             %s.0 = fadd <16 x float> %a.0, %b.0
//   %m = fcmp olt <32 x float> %s, %c    →    %s.1 = fadd <16 x float> %a.1, %b.1
//   %w = bitcast <32 x i1> %m to i32          %m.0 = fcmp olt <16 x float> %s.0, %c.0    …
//   %any = icmp ne i32 %w, 0                  %w = bitcast <16 x i1> (or %m.0, %m.1) to i16;  %any = icmp ne i16 %w, 0
//
// Before: optimised IR of a warp. After: elementwise operations, memory accesses, phis and shuffles of 32 lanes on
// elements of 32 and 64 bits or one bit are done in parts. Whatever else there is (narrow elements, calls, vectors of
// other lengths) stays whole; values go between the two by shuffles. In blocks where the warp's values are more than
// the registers, all of the first part's operations come before those of the next, as far as memory allows.
#pragma once

namespace llvm {
class Function;
}

namespace strata::simt {

// `lanes`: 32-bit lanes of a register, a power of two below 32; `registers`: how many there are.
void splitLanes(llvm::Function &function, unsigned lanes, unsigned registers);

}  // namespace strata::simt
