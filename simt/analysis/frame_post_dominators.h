// SPDX-License-Identifier: Apache-2.0
// Post-dominance within one round of a loop: b post-dominates a if every lane that is at a comes to b
// before it starts the loop's next round or leaves the loop. (LLVM's tree answers for any later round.)
//
//   h → b | n;  b → exit | n;  n → h      LLVM: b post-dominates h. Here: it does not.
//
// Inner loops count as one step.
#pragma once

#include <map>
#include <utility>

#include "simt/analysis/block_order.h"

namespace llvm {
class Loop;
}

namespace strata::simt {

class FramePostDominators {
public:
  FramePostDominators(const llvm::LoopInfo &loops, const BlockOrder &order);

  // Both directly in the same loop (or in none).
  bool dominates(const llvm::BasicBlock *below, const llvm::BasicBlock *above) const;

  using Node = const llvm::BasicBlock *;  // null: the end of the round
  // Where lanes that are at `node`, a block of `frame` or the header of a loop in it, next all come to.
  Node next(const llvm::Loop *frame, Node node) const { return next_.at({frame, node}); }

private:
  Node meet(const llvm::Loop *frame, Node a, Node b) const;
  void add(const llvm::Loop *frame, Node node, const llvm::Loop *inner);

  const llvm::LoopInfo &loops_;
  const BlockOrder &order_;
  // Immediate post-dominator; the header of an inner loop stands for the loop.
  std::map<std::pair<const llvm::Loop *, Node>, Node> next_;
};

}  // namespace strata::simt
