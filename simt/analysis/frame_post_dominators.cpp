// SPDX-License-Identifier: Apache-2.0
#include "simt/analysis/frame_post_dominators.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>

namespace strata::simt {

using llvm::BasicBlock;
using llvm::Loop;

FramePostDominators::FramePostDominators(const llvm::LoopInfo &loops, const BlockOrder &order)
    : loops_(loops), order_(order) {
  for (auto at = order.blocks().rbegin(); at != order.blocks().rend(); ++at) {
    const Loop *loop = loops.getLoopFor(*at);
    add(loop, *at, nullptr);
    if (loop && loop->getHeader() == *at) add(loop->getParentLoop(), *at, loop);
  }
}

bool FramePostDominators::dominates(const BasicBlock *below, const BasicBlock *above) const {
  const Loop *frame = loops_.getLoopFor(above);
  Node node = above;
  while (node && order_.index(node) < order_.index(below)) node = next(frame, node);
  return node == below;
}

// Follows the two chains down to where they meet. A node is before its post-dominator in the order.
FramePostDominators::Node FramePostDominators::meet(const Loop *frame, Node a, Node b) const {
  while (a != b) {
    if (!a || !b) return nullptr;
    if (order_.index(a) < order_.index(b)) a = next(frame, a);
    else b = next(frame, b);
  }
  return a;
}

void FramePostDominators::add(const Loop *frame, Node node, const Loop *inner) {
  bool first = true;
  Node result = nullptr;
  auto successor = [&](const BasicBlock *to) {
    bool ends = frame && (!frame->contains(to) || to == frame->getHeader());
    Node target = ends ? nullptr : to;
    result = first ? target : meet(frame, result, target);
    first = false;
  };
  if (inner) {
    llvm::SmallVector<BasicBlock *, 4> exits;
    inner->getUniqueExitBlocks(exits);
    for (const BasicBlock *exit : exits) successor(exit);
  } else {
    for (const BasicBlock *to : llvm::successors(node)) successor(to);
  }
  next_[{frame, node}] = result;
}

}  // namespace strata::simt
