// SPDX-License-Identifier: Apache-2.0
// strata.warp.full(i1 %c): all 32 lanes are active and have %c. It may be false where it could be true, so that a cheap
// test can stand for it. Passes branch by it to code for full warps; where that is not taken, code for any lanes
// follows.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace llvm {
class DominatorTree;
}

namespace strata::simt {

// The condition, or its inverse, computed anew if it is a comparison: so that the call sees the comparison's operands,
// and the lanes' comparison is made only where it is needed.
llvm::Value *copyCondition(llvm::IRBuilder<> &builder, llvm::Value *condition, bool inverted = false);

// The call for copyCondition's result.
llvm::Value *createWarpFull(llvm::IRBuilder<> &builder, llvm::Value *condition, bool inverted = false);

// The first block on the side (0: full, 1: not) of the innermost such test that `block` lies behind, or null.
const llvm::BasicBlock *behindWarpFull(const llvm::BasicBlock *block, const llvm::DominatorTree &dominators,
                                       unsigned side);

}  // namespace strata::simt
