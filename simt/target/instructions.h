// SPDX-License-Identifier: Apache-2.0
// LLVM IR that is instructions of the processor. A family has a source that defines all of it.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "simt/target/simd_level.h"

namespace strata::simt {

const char *targetTriple();
// Makes LLVM's code generator for it known; any number of times.
void initializeTarget();

// values[sources[l]] in lane l, of <32 x i32>; null: there is no such instruction.
llvm::Value *permuteWords(llvm::IRBuilder<> &b, Simd simd, llvm::Value *values, llvm::Value *sources);

// A non-temporal store of those bytes of `piece`, <kMaskedPiece x i8>, whose byte of `mask` has its highest bit.
inline constexpr unsigned kMaskedPiece = 16;
void storeMaskedNonTemporal(llvm::IRBuilder<> &b, llvm::Value *piece, llvm::Value *mask, llvm::Value *address);

}  // namespace strata::simt
