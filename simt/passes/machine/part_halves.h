// SPDX-License-Identifier: Apache-2.0
// The low and the high halves of 32-bit numbers, where both are taken, as pairs of half-precision numbers are parted:
// with one permutation of 16-bit elements for both, which takes half as long as two truncations and a shift.
//
//   %lo = trunc <16 x i32> %x to <16 x i16>                  %p = shufflevector (bitcast %x), {0, 2, … 30, 1, 3, … 31}
//   %h = lshr <16 x i32> %x, splat(16)                →      %lo = shufflevector %p, {0 … 15}
//   %hi = trunc <16 x i32> %h to <16 x i16>                  %hi = shufflevector %p, {16 … 31}
//
// For targets that permute the 16-bit elements of registers of 512 bits; of wider vectors each register's worth is
// parted.
#pragma once

namespace llvm {
class Function;
}

namespace strata::simt {

void partHalves(llvm::Function &function);

}  // namespace strata::simt
