// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/specialize_full_warps.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <vector>

#include "simt/analysis/frame_post_dominators.h"
#include "simt/analysis/uniformity.h"
#include "simt/passes/lane/clone_blocks.h"
#include "simt/passes/lane/specialize_full_paths.h"
#include "simt/passes/lane/warp_full.h"

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

constexpr unsigned kMostInstructions = 600, kLeastInstructions = 3;  // of the regions that are doubled, of one

// A divergent branch around a region.
struct Guard {
  BasicBlock *branch = nullptr, *body = nullptr, *join = nullptr;
  std::vector<BasicBlock *> region;  // body first
  unsigned size = 0;                 // of the region, in instructions
};

// The region between `body` and `join`, which nothing else enters; false if it is too large or entered elsewhere.
bool collect(Guard &guard) {
  std::vector<BasicBlock *> &region = guard.region;
  region.push_back(guard.body);
  for (std::size_t i = 0; i < region.size(); ++i) {
    guard.size += static_cast<unsigned>(region[i]->size());
    for (BasicBlock *to : llvm::successors(region[i]))
      if (to != guard.join && std::find(region.begin(), region.end(), to) == region.end()) region.push_back(to);
  }
  for (BasicBlock *block : region)
    for (BasicBlock *from : llvm::predecessors(block))
      if (from != guard.branch && std::find(region.begin(), region.end(), from) == region.end()) return false;
  return guard.size <= kMostInstructions && guard.size >= kLeastInstructions &&
         guard.body->getSinglePredecessor() == guard.branch;
}

// Follows the blocks that all lanes reach together after `start` to the first divergent branch.
bool findGuard(llvm::Function &function, const ThreadIndex &threads, BasicBlock &start, Guard &guard) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  BlockOrder order(function, loops);
  Uniformity uniformity(function, loops, order, threads);
  FramePostDominators postDominators(loops, order);
  for (BasicBlock *block : order.blocks()) {
    if (loops.getLoopFor(block) || !dominators.dominates(&start, block) || !postDominators.dominates(block, &start))
      continue;
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (!branch || !branch->isConditional() || !uniformity.control().divergentBranch(block)) continue;
    for (unsigned i = 0; i < 2; ++i) {
      BasicBlock *body = branch->getSuccessor(i), *join = branch->getSuccessor(1 - i);
      if (!postDominators.dominates(join, block)) continue;
      guard = {block, body, join, {}, 0};
      return collect(guard);
    }
    return false;
  }
  return false;
}

// Returns the first block of the version for full warps.
BasicBlock *specialize(const Guard &guard) {
  llvm::ValueToValueMapTy map;
  const std::vector<BasicBlock *> copies = cloneBlocks(guard.region, ".full", map);
  addCopiedEdges(*guard.join, map);
  // The branch moves into a block of its own, behind the test for a full warp.
  auto *branch = llvm::cast<llvm::BranchInst>(guard.branch->getTerminator());
  BasicBlock *some = guard.branch->splitBasicBlock(branch, guard.branch->getName() + ".some");
  Instruction *jump = guard.branch->getTerminator();
  llvm::IRBuilder<> builder(jump);
  llvm::Value *condition = branch->getCondition();
  llvm::Value *full = createWarpFull(builder, condition, /*inverted=*/branch->getSuccessor(0) != guard.body);
  builder.CreateCondBr(full, copies[0], some);
  builder.SetInsertPoint(branch);
  branch->setCondition(copyCondition(builder, condition));
  jump->eraseFromParent();
  repairUses(guard.region, copies, map);
  return copies[0];
}

}  // namespace

void specializeFullWarps(llvm::Function &function, const ThreadIndex &threads) {
  if (!function.hasFnAttribute("strata.kernel") || function.hasFnAttribute(kFullPath)) return;
  BasicBlock *start = &function.getEntryBlock();
  unsigned doubled = 0;
  for (Guard guard; findGuard(function, threads, *start, guard) && doubled + guard.size <= kMostInstructions;
       guard = {}) {
    doubled += guard.size;
    start = specialize(guard);
  }
}

}  // namespace strata::simt
