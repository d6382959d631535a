// SPDX-License-Identifier: Apache-2.0
// A second version of some blocks of a function: what the passes that specialise code for full warps begin with.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <vector>

namespace strata::simt {

// Copies that refer to each other; `map` then has blocks and values.
std::vector<llvm::BasicBlock *> cloneBlocks(llvm::ArrayRef<llvm::BasicBlock *> blocks, const char *suffix,
                                            llvm::ValueToValueMapTy &map);

// A value's copy, or itself if it has none.
llvm::Value *copyOrSelf(llvm::Value *value, const llvm::ValueToValueMapTy &map);

// `join`, which the blocks go to, is reached from their copies too: its phis get the copies' values.
void addCopiedEdges(llvm::BasicBlock &join, const llvm::ValueToValueMapTy &map);

// Values of the region that are used after it come from either version.
void repairUses(llvm::ArrayRef<llvm::BasicBlock *> region, llvm::ArrayRef<llvm::BasicBlock *> copies,
                llvm::ValueToValueMapTy &map);

}  // namespace strata::simt
