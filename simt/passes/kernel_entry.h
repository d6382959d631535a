// SPDX-License-Identifier: Apache-2.0
// The entry point of simt/abi.h around a kernel's vector function, which becomes part of it.
//
//   define void @strata_entry(ptr %block, ptr %warp)     ; no barrier: all warps of the block in one call
//     for each warp: set warp->index, ->lanes, ->exited; the kernel's vector form
//   the same, for a kernel that was split at its barriers:
//     until all have ended: for each warp that has not: set warp->…; the kernel's next part
//   define void @strata_entry(ptr %warp)                 ; other waits: one call, and one fiber, per warp
#pragma once

#include "simt/analysis/thread_index.h"
#include "simt/passes/split_at_barriers.h"

namespace strata::simt {

void writeBlockEntry(llvm::Function &body);
void writeBarrierEntry(const SplitWarp &split, const ThreadIndex &threads);
void writeWarpEntry(llvm::Function &body);

// Whether the function is an entry that is called per block: its arguments are %block and %warp.
bool isBlockEntry(const llvm::Function &function);

}  // namespace strata::simt
