// SPDX-License-Identifier: Apache-2.0
// Moves vector operations up to where their operands are ready, if operands end there with them. InstCombine sinks what
// is used once to its user; where a test stands between two accesses, as those for wrapping addresses do, that would
// keep everything that is loaded alive until all of it has been loaded:
//
//   a: %x = load …  br %c, b, b2             a: %x = load …  %s = fadd %x, %r  br %c, b, b2
//   d: %y = load …                      →    d: %y = load …  %t = fadd %y, %s
//      %s = fadd %x, %r  %t = fadd %y, %s
//
// Before and after: optimised IR of a warp. An operation moves only between blocks that run equally often (but for
// blocks that end in a fault).
#pragma once

namespace llvm {
class Function;
}

namespace strata::simt {

void raiseOperations(llvm::Function &function);

}  // namespace strata::simt
