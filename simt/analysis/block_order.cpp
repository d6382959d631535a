// SPDX-License-Identifier: Apache-2.0
#include "simt/analysis/block_order.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <unordered_set>

#include "simt/analysis/lane_intrinsics.h"

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::Loop;

// Whether lanes may wait in `block` for other warps: there, or in a function that is called.
bool mayWait(const BasicBlock &block) {
  return llvm::any_of(block, [](const llvm::Instruction &i) {
    const LaneIntrinsic id = calledIntrinsic(i);
    return isBarrier(id) || id == LaneIntrinsic::laneFunction;
  });
}

// Orders the blocks of one loop (or of the function, loop = null), child loops collapsed into their
// headers, then expands each child in place.
class Orderer {
public:
  Orderer(llvm::Function &function, const llvm::LoopInfo &loops, std::vector<BasicBlock *> &out)
      : loops_(loops), out_(out) {
    std::vector<BasicBlock *> todo;
    for (BasicBlock &block : function)
      if (mayWait(block)) todo.push_back(&block);
    while (!todo.empty()) {
      BasicBlock *block = todo.back();
      todo.pop_back();
      if (!waitsLater_.insert(block).second) continue;
      todo.insert(todo.end(), llvm::pred_begin(block), llvm::pred_end(block));
    }
  }

  void order(BasicBlock *header, const Loop *loop) {
    std::vector<BasicBlock *> postOrder;
    std::unordered_set<BasicBlock *> seen;
    visit(header, loop, header, seen, postOrder);
    for (auto at = postOrder.rbegin(); at != postOrder.rend(); ++at) {
      if (const Loop *inner = childAt(*at, loop)) order(*at, inner);
      else out_.push_back(*at);
    }
  }

private:
  // The child loop of `loop` that contains `block`, or null if `block` lies directly in `loop`.
  const Loop *childAt(const BasicBlock *block, const Loop *loop) const {
    const Loop *inner = loops_.getLoopFor(block);
    if (inner == loop) return nullptr;
    while (inner->getParentLoop() != loop) inner = inner->getParentLoop();
    return inner;
  }

  // Depth first with an explicit stack: kernels can be thousands of blocks deep.
  void visit(BasicBlock *start, const Loop *loop, BasicBlock *header, std::unordered_set<BasicBlock *> &seen,
             std::vector<BasicBlock *> &postOrder) {
    struct Frame {
      BasicBlock *node;
      std::vector<BasicBlock *> successors;
      std::size_t next = 0;
    };
    std::vector<Frame> stack;
    auto push = [&](BasicBlock *node) {
      if (!seen.insert(node).second) return;
      stack.push_back({node, successors(node, loop, header)});
    };
    push(start);
    while (!stack.empty()) {
      if (stack.back().next < stack.back().successors.size()) {
        push(stack.back().successors[stack.back().next++]);
        continue;
      }
      postOrder.push_back(stack.back().node);
      stack.pop_back();
    }
  }

  // Successors of a node of the collapsed graph: headers stand for child loops; the loop's own header and
  // what lies outside the loop are left out. Reversed, so that the first successor comes first in the order; but those
  // from which no barrier is reached come before the others: lanes that end without one must have done so when the
  // others stand at it.
  std::vector<BasicBlock *> successors(BasicBlock *node, const Loop *loop, BasicBlock *header) const {
    std::vector<BasicBlock *> result;
    auto add = [&](BasicBlock *target) {
      if (target == header || (loop && !loop->contains(target))) return;
      if (const Loop *inner = childAt(target, loop)) target = inner->getHeader();
      result.push_back(target);
    };
    if (const Loop *inner = childAt(node, loop)) {
      llvm::SmallVector<BasicBlock *, 8> exits;
      inner->getExitBlocks(exits);
      for (BasicBlock *exit : exits) add(exit);
    } else {
      for (BasicBlock *target : llvm::successors(node)) add(target);
    }
    std::reverse(result.begin(), result.end());
    std::stable_partition(result.begin(), result.end(), [&](BasicBlock *to) { return waitsLater_.contains(to); });
    return result;
  }

  const llvm::LoopInfo &loops_;
  std::vector<BasicBlock *> &out_;
  std::unordered_set<const BasicBlock *> waitsLater_;  // a block that may wait, or from which one is reached
};

}  // namespace

BlockOrder::BlockOrder(llvm::Function &function, const llvm::LoopInfo &loops) {
  Orderer(function, loops, blocks_).order(&function.getEntryBlock(), nullptr);
  for (unsigned i = 0; i < blocks_.size(); ++i) indices_[blocks_[i]] = i;
}

}  // namespace strata::simt
