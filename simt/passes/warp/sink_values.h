// SPDX-License-Identifier: Apache-2.0
// Values that only some ways out of a block need are computed on these, though they are several: what masks are made
// of, where a warp with all its lanes has none; what a fault will say.
//
//   loop: %v = add <32 x i32> %i, …            loop: br i1 %full, %fast, %test
//         br i1 %full, %fast, %test            test: br i1 %other, %fast, %some
//   test: br i1 %other, %fast, %some      →    some: %v1 = add <32 x i32> %i, …
//   some: use %v                                     use %v1
//   rest: use %v                               rest: %v2 = add <32 x i32> %i, …
//                                                    use %v2
//
// LLVM sinks a value only to one place. Before and after: optimised IR of a machine module. Nothing is computed twice
// on any way, nor in a loop instead of before it.
#pragma once

namespace llvm {
class Function;
}

namespace strata::simt {

// Returns whether anything changed.
bool sinkValues(llvm::Function &function);

}  // namespace strata::simt
