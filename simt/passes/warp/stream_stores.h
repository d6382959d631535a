// SPDX-License-Identifier: Apache-2.0
// A launch that writes more than the caches hold gains from stores that go past them: what is overwritten is not
// read first, a quarter to a third of an addition's traffic. Only the launch knows how much it writes, so such stores
// exist in both forms and LaunchState::streamStores chooses:
//
//   store <32 x float> %v, ptr %p      →      br i1 (%streams and %p is 64-byte aligned), %past, %plain
//                                      past:  store <32 x float> %v, ptr %p, align 64, !nontemporal
//                                      plain: store <32 x float> %v, ptr %p
//
// Of a masked store, in the first form, lines that are written whole go past the caches, and with them the parts of
// lines beside them: those would be read before they are written, and stores behind them wait.
//
// Only whole cache lines, to memory that a parameter points to and from which the kernel does not load, by stores
// with kOncePerWarp: in no loop of the kernel's. These stores are not ordered with others: kernels with atomics, fences
// or calls are left alone, and the executor fences at the end of a block (exec/unit.cpp).
//
// Before and after: the optimised machine module.
#pragma once

namespace llvm {
class Function;
}

namespace strata::simt {

// Returns whether anything changed.
bool streamStores(llvm::Function &function);

}  // namespace strata::simt
