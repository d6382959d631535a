// SPDX-License-Identifier: Apache-2.0
// Every block in the influence of a branch gets a label: the successor of the branch, or the latest join,
// through which all lanes must have come. A block that two labels reach is a join. Blocks are visited in
// topological order; when a single block is left to visit, all lanes have met again.
#include "simt/analysis/divergence.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>

#include <map>

namespace strata::simt {

using llvm::BasicBlock;
using llvm::Loop;

bool Divergence::markDivergent(const BasicBlock *block) {
  if (!branches_.insert(block).second) return false;
  llvm::SmallVector<const BasicBlock *, 2> starts(llvm::successors(block));
  propagate(starts, loops_.getLoopFor(block));
  return true;
}

void Divergence::propagate(llvm::ArrayRef<const BasicBlock *> starts, const Loop *loop) {
  std::map<unsigned, const BasicBlock *> labels;  // blocks to visit, by place in the order
  bool leaves = false, repeats = false;
  auto reach = [&](const BasicBlock *to, const BasicBlock *label) {
    if (loop && !loop->contains(to)) {
      leaves = true;
      return;
    }
    if (loop && to == loop->getHeader()) {
      repeats = true;
      return;
    }
    auto [at, isNew] = labels.emplace(order_.index(to), label);
    if (isNew || at->second == label) return;
    at->second = to;
    joins_.insert(to);
  };
  for (const BasicBlock *start : starts) reach(start, start);
  while (!labels.empty()) {
    if (labels.size() == 1 && !leaves && !repeats) return;
    auto [place, label] = *labels.begin();
    labels.erase(labels.begin());
    const BasicBlock *block = order_.blocks()[place];
    for (const BasicBlock *to : llvm::successors(block)) {
      const Loop *inner = loops_.getLoopFor(block);
      bool backEdge = inner && inner != loop && to == inner->getHeader();
      if (!backEdge) reach(to, label);
    }
  }
  if (leaves && (repeats || starts.size() > 1)) markLoop(loop);
}

void Divergence::markLoop(const Loop *loop) {
  if (!divergentLoops_.insert(loop).second) return;
  llvm::SmallVector<BasicBlock *, 4> exits;
  loop->getUniqueExitBlocks(exits);
  llvm::SmallVector<const BasicBlock *, 4> starts;
  for (const BasicBlock *exit : exits) {
    joins_.insert(exit);
    starts.push_back(exit);
  }
  propagate(starts, loop->getParentLoop());
}

}  // namespace strata::simt
