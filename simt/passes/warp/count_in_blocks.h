// SPDX-License-Identifier: Apache-2.0
// Atomic additions without a result, of one value in all lanes, to words that bytes number (histograms): the lanes of a
// block count in a table on the worker's stack, which is added to memory, atomically, where anybody may look:
//
//   call void @strata.count.i32(ptr %base, i64 scale, <32 x i8> %bytes, <32 x i1> %mask, i32 %value)
//
//   %base + scale * byte += %value, lane by lane    →    table[byte] += %value; the table's base is %base
//
// PTX lets relaxed additions be seen late by others: until the thread does what orders them, a fence, a barrier,
// another atomic or volatile access, or ends. The thread itself must see them at once: what it reads or writes beside
// is compared with the table's range in memory. So the table is added to memory ("flushed")
//   - before an access that may lie in its range, as is asked at run time,
//   - before fences, other atomics, volatile accesses and calls that may do such things,
//   - before additions with another base, and when the block ends.
// Calls that let other blocks of the worker have their turn do not count: these have tables of their own, and are no
// more than other threads.
//
// Not in kernels with barriers, in other functions than the kernel, or with many such additions: there each call
// becomes one atomic per active lane, in their order.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace strata::simt {

// Metadata of calls that run other blocks.
inline constexpr const char *kRunsOtherBlocks = "strata.others";

llvm::CallInst *createCount(llvm::IRBuilder<> &builder, llvm::Value *base, std::uint64_t scale, llvm::Value *bytes,
                            llvm::Value *mask, llvm::Value *value);

// Expands all of a module. `entry`: the kernel's entry for a block, which waits for nobody; or null.
void countInBlocks(llvm::Module &module, llvm::Function *entry);

}  // namespace strata::simt
