// SPDX-License-Identifier: Apache-2.0
// The entry point of simt/abi.h around a kernel's vector function, which becomes part of it.
//
//   define void @strata_entry(ptr %block, ptr %warp)     ; no barrier: all warps of the block in one call
//     unless the block is idle: for each warp: set warp->index, ->lanes, ->exited; the kernel's vector form
//   the same, for a kernel that was split at its barriers:
//     until all have ended: for each warp that has not: set warp->…; the kernel's next part
//   define void @strata_entry(ptr %warp)                 ; other waits: one call, and one fiber, per warp
#pragma once

#include "simt/analysis/thread_index.h"
#include "simt/passes/warp/split_at_barriers.h"

namespace strata::simt {

// i32 @strata.first.tid.x(), .y, .z: tid of a warp's first thread in a kernel without barriers whose rows are whole
// warps. Its entry counts them from warp to warp, which takes no division, and puts them in the place of the calls.
inline constexpr const char *kFirstThread[3] = {"strata.first.tid.x", "strata.first.tid.y", "strata.first.tid.z"};

// Metadata of the count of tid.y.
inline constexpr const char *kRowOfWarp = "strata.row";

// `idle`: a test whether the block has nothing to do (passes/lane/idle_blocks.h), which becomes part of the entry, or
// null.
void writeBlockEntry(llvm::Function &body, llvm::Function *idle);
// `sideBySide`: between turns, other blocks may have theirs (Runtime::turn).
void writeBarrierEntry(const SplitWarp &split, const ThreadIndex &threads, bool sideBySide, llvm::Function *idle);
void writeWarpEntry(llvm::Function &body);
// Of a block of one thread: `kernel` is lane code that waits for nobody.
void writeOneThreadEntry(llvm::Function &kernel);

// Whether the function is an entry that is called per block: its arguments are %block and %warp.
bool isBlockEntry(const llvm::Function &function);

}  // namespace strata::simt
