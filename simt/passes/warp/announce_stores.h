// SPDX-License-Identifier: Apache-2.0
// The lines that a later row's warp will store to are asked for ahead. Stores go to the caches one after the other: one
// that misses waits for memory, and those behind it with it. The processor foresees them where they follow each other,
// but not in blocks that are narrower than the rows of a matrix.
//
//   %i = add (mul %row, %n), %x                %i = add (mul %row, %n), %x
//   …                                          %j = add (mul (%row + 8), %n), %x
//   %a = load <32 x float>, ptr %q …     →     prefetch %out + %j for writing, line by line
//   …                                          %a = load <32 x float>, ptr %q …
//   store <32 x float> %s, %out + %i           store <32 x float> %s, %out + %i
//
// Not of stores that go past the caches. Done where a store has loads before it that it would wait behind, follows
// whatever the branches on the way are, and no loop lies between. The row is the entry's count with kRowOfWarp
// (passes/kernel_entry.h).
//
// Before and after: the optimised machine module.
#pragma once

#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <vector>

namespace strata::simt {

// A store of whole lines, under a mask or without one.
struct LineStore {
  llvm::Instruction *store = nullptr;
  llvm::Value *value = nullptr, *address = nullptr, *mask = nullptr;
};

// A line of such a store, of its mask.
struct LineOfMask {
  llvm::SmallVector<int, 64> lanes;
  std::uint64_t offset;      // bytes
  llvm::Value *mask;         // null: all lanes
  llvm::Value *whole, *any;  // i1
};
std::vector<LineOfMask> linesOf(const LineStore &store, llvm::IRBuilderBase &builder);

class StoreAnnouncer {
public:
  explicit StoreAnnouncer(llvm::Function &function);

  // If `past` is true when the kernel runs, stores of whole lines, and of parts beside them, go past the caches.
  void announce(const LineStore &store, llvm::Value &past);

private:
  // Where the operands can be computed: from there on, in that block.
  struct Place {
    llvm::BasicBlock *block = nullptr;
    llvm::Instruction *after = nullptr;  // null: anywhere in the block
    llvm::BasicBlock::iterator begin() const;
  };
  bool find(const LineStore &store, Place &place) const;
  bool isComputable(llvm::Value &value, Place &place, unsigned depth = 0) const;
  bool leadsTo(llvm::BasicBlock &from, const llvm::BasicBlock &to,
               llvm::SmallPtrSetImpl<llvm::BasicBlock *> &between) const;

  llvm::DominatorTree dominators_;
  llvm::PHINode *row_ = nullptr;
};

}  // namespace strata::simt
