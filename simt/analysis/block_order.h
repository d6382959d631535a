// SPDX-License-Identifier: Apache-2.0
// A topological order of a reducible CFG (back edges left out) in which every loop is contiguous and
// starts with its header:
//
//   entry → h;  h → a | exit;  a → h        entry, h, a, exit
//
// Where there is a choice, paths without barriers come before those with: entry → a | b, a: barrier   entry, b, a
#pragma once

#include <unordered_map>
#include <vector>

namespace llvm {
class BasicBlock;
class Function;
class LoopInfo;
}  // namespace llvm

namespace strata::simt {

class BlockOrder {
public:
  BlockOrder(llvm::Function &function, const llvm::LoopInfo &loops);

  const std::vector<llvm::BasicBlock *> &blocks() const { return blocks_; }
  unsigned index(const llvm::BasicBlock *block) const { return indices_.at(block); }

private:
  std::vector<llvm::BasicBlock *> blocks_;
  std::unordered_map<const llvm::BasicBlock *, unsigned> indices_;
};

}  // namespace strata::simt
