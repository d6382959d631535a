// SPDX-License-Identifier: Apache-2.0
// What divergent branches do to control flow: where their lanes meet again (phis there depend on the path
// a lane took), and which loops lanes leave at different times.
//
//   d: br %varying, a, b      a → j; b → j      j is a join
//   loop { if (varying) break; }                the loop is divergent, its exit block is a join
//
// Works on a reducible CFG with simplified loops. Branches are reported one by one with
// markDivergent(); facts only grow.
#pragma once

#include <unordered_set>

#include "simt/analysis/block_order.h"

namespace llvm {
class Loop;
template <class T>
class ArrayRef;
}  // namespace llvm

namespace strata::simt {

class Divergence {
public:
  Divergence(const llvm::LoopInfo &loops, const BlockOrder &order) : loops_(loops), order_(order) {}

  // The terminator of `block` is divergent. Returns false if that was known.
  bool markDivergent(const llvm::BasicBlock *block);

  bool divergentBranch(const llvm::BasicBlock *block) const { return branches_.count(block); }
  // Lanes that reach `block` together may have come by different edges.
  bool isJoin(const llvm::BasicBlock *block) const { return joins_.count(block); }
  bool isDivergent(const llvm::Loop *loop) const { return divergentLoops_.count(loop); }

private:
  void propagate(llvm::ArrayRef<const llvm::BasicBlock *> starts, const llvm::Loop *loop);
  void markLoop(const llvm::Loop *loop);

  const llvm::LoopInfo &loops_;
  const BlockOrder &order_;
  std::unordered_set<const llvm::BasicBlock *> branches_, joins_;
  std::unordered_set<const llvm::Loop *> divergentLoops_;
};

}  // namespace strata::simt
