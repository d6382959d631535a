// SPDX-License-Identifier: Apache-2.0
// The control flow of the vector function: which branches stay, and in which order the blocks of divergent
// regions run (partial linearisation: S. Moll, S. Hack, "Partial Control-Flow Linearization", PLDI 2018).
//
// Every block is emitted once, in BlockOrder. A divergent branch goes to whichever of its successors comes
// first and leaves the others *pending*: each block has a set of pending blocks, to which control still
// has to come because lanes may wait there. A uniform branch stays a branch; on either side control goes to
// the earlier of the successor and the pending blocks:
//
//   a: br %varying, b, c        a → b                (pending: c)
//   b: br %uniform, d, e        b → d | b → c        (e is after c in the order: pending e)
//
// A block that is reached with pending blocks may find its mask empty. If it holds what must not run or
// is not worth running then, it is guarded: "any lane?" else skip to the first pending block, which
// skips everything that only such lanes reach.
//
// Divergent loop: lanes that leave are taken out of the mask ("parked" for the exit block); the loop runs
// while any lane is left:
//
//   h → b;  b: br %varying, exit, h        b → h while any lane stays, else → exit
//
// Masks. A block whose lanes are those of another block shares its mask (maskOf).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "simt/analysis/frame_post_dominators.h"
#include "simt/analysis/uniformity.h"

namespace llvm {
class DominatorTree;
}  // namespace llvm

namespace strata::simt {

// How control leaves a block. Targets are original blocks.
struct BlockPlan {
  enum class End {
    ret,
    jump,    // to next[0], after all edges' effects
    branch,  // uniform: edge i's effects, then next[i]
    test,    // after all edges' effects: any lane on edge `tested`? then next[0] else next[1]
  };
  End end = End::jump;
  llvm::BasicBlock *next[2] = {nullptr, nullptr};
  // branch: side i goes to next[i] only if a lane is active, else to otherwise[i] (back edges); or null.
  llvm::BasicBlock *otherwise[2] = {nullptr, nullptr};
  unsigned tested = 0;   // test: successor number
  bool nonEmpty = true;  // some lane is active whenever the block's body runs
  bool guarded = false;  // test for an empty mask first, then go to `skipTo`
  llvm::BasicBlock *skipTo = nullptr;
};

class LinearPlan {
public:
  // Says whether a block may run with an empty mask: nothing in it is unsafe, costly, or relies on lanes.
  using MayRunEmpty = std::function<bool(llvm::BasicBlock &)>;

  LinearPlan(llvm::Function &function, const llvm::LoopInfo &loops, const BlockOrder &order,
             const Uniformity &uniformity, const llvm::DominatorTree &dominators, MayRunEmpty mayRunEmpty);

  const BlockPlan &plan(const llvm::BasicBlock *block) const { return plans_.at(block); }
  // The block whose mask `block` has: itself, or an earlier block. The entry block's mask is the function's.
  const llvm::BasicBlock *maskOf(const llvm::BasicBlock *block) const { return masks_.at(block); }

private:
  using Pending = std::set<unsigned>;

  void planBlock(llvm::BasicBlock *block);
  void planDivergent(llvm::BasicBlock *block, BlockPlan &plan);
  llvm::BasicBlock *go(const Pending &pending, llvm::BasicBlock *target);
  llvm::BasicBlock *leave(const llvm::Loop *loop, const Pending &pending, llvm::BasicBlock *to);
  void park(const llvm::Loop *loop, const llvm::BasicBlock *to, bool tested);
  llvm::BasicBlock *afterLoop(const llvm::Loop *loop);
  const llvm::Loop *divergentLoopLeft(const llvm::Loop *loop, const llvm::BasicBlock *to) const;
  const llvm::BasicBlock *chooseMask(llvm::BasicBlock *block) const;
  const Pending &framePending(const llvm::Loop *loop) const;
  bool isBackEdge(const llvm::BasicBlock *from, const llvm::BasicBlock *to) const;

  const llvm::LoopInfo &loops_;
  const BlockOrder &order_;
  const Divergence &control_;
  const llvm::DominatorTree &dominators_;
  FramePostDominators postDominators_;
  MayRunEmpty mayRunEmpty_;
  llvm::BasicBlock *entry_;

  std::unordered_map<const llvm::BasicBlock *, Pending> pending_;
  std::unordered_map<const llvm::Loop *, Pending> loopPending_;  // at the header: blocks outside the loop
  // Loops from which lanes were parked so far: without a test whether any is left, or by a subset.
  std::set<const llvm::Loop *> maybeEmptied_, reduced_;
  std::unordered_map<const llvm::BasicBlock *, BlockPlan> plans_;
  std::unordered_map<const llvm::BasicBlock *, const llvm::BasicBlock *> masks_;
};

}  // namespace strata::simt
