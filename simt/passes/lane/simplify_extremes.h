// SPDX-License-Identifier: Apache-2.0
// The lesser and greater of two numbers, as lowered, in fewer operations.
//
// - Of halves that are only used as floats, among floats, for which there are instructions. Compilers narrow them, as
// on a GPU that costs less:
//     %m = call half @strata.fmax.f16(half %a, half %b)        %x = fpext half %a to float;  %y = fpext half %b to
//     float %w = fpext half %m to float                        →     %w = call float @strata.fmax.f32(float %x, float
//     %y)
// - The result is a NaN where both operands are, which one comparison finds; of what goes around in a loop two find it
// sooner:
//     %n = and (fcmp uno %x, 0), (fcmp uno %y, 0);  select %n, nan, %w      →     select (fcmp uno %w, 0), nan, %w
//
// Before and after: lane IR. The value is the same, but for a NaN's payload where both operands are NaN, which PTX does
// not define.
#pragma once

namespace llvm {
class Function;
}

namespace strata::simt {

bool simplifyExtremes(llvm::Function &function);

}  // namespace strata::simt
