// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/specialize_full_paths.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <vector>

#include "simt/analysis/conditions.h"
#include "simt/analysis/frame_post_dominators.h"
#include "simt/analysis/uniformity.h"
#include "simt/passes/lane/clone_blocks.h"
#include "simt/passes/lane/warp_full.h"

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::dyn_cast;
using llvm::Instruction;
using llvm::Value;

constexpr unsigned kMostInstructions = 1000, kMostTerms = 48, kMostDepth = 12, kLeastGuards = 2;

// The straight way from `head` if all its branches go the way of all lanes.
struct Path {
  BasicBlock *head = nullptr, *end = nullptr;  // end: the block after it, or null if it ends the function
  std::vector<BasicBlock *> blocks;            // after the head
  llvm::SetVector<Term> terms;                 // hold in all lanes
  unsigned guards = 0;                         // that all lanes come to
};

class PathFinder {
public:
  PathFinder(llvm::Function &function, const ThreadIndex &threads)
      : function_(function),
        dominators_(function),
        loops_(dominators_),
        order_(function, loops_),
        uniformity_(function, loops_, order_, threads),
        postDominators_(loops_, order_) {}

  bool find(Path &path);

private:
  BasicBlock *firstGuard() const;
  BasicBlock *foreseen(llvm::BranchInst &branch, Path &path) const;
  bool addTerms(Term term, Path &path) const;
  bool isKnownAt(Value *value, const BasicBlock *head, unsigned depth) const;
  static bool mayBeCopied(const BasicBlock &block);

  llvm::Function &function_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  BlockOrder order_;
  Uniformity uniformity_;
  FramePostDominators postDominators_;
};

// The first divergent branch that all lanes reach.
BasicBlock *PathFinder::firstGuard() const {
  for (BasicBlock *block : order_.blocks()) {
    if (loops_.getLoopFor(block) || !postDominators_.dominates(block, &function_.getEntryBlock())) continue;
    auto *branch = dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (branch && branch->isConditional() && uniformity_.control().divergentBranch(block)) return block;
  }
  return nullptr;
}

// The value can be computed at the end of the head.
bool PathFinder::isKnownAt(Value *value, const BasicBlock *head, unsigned depth) const {
  auto *i = dyn_cast<Instruction>(value);
  if (!i || dominators_.dominates(i, head->getTerminator())) return true;
  if (depth > kMostDepth || llvm::isa<llvm::PHINode>(i) || i->mayReadOrWriteMemory() ||
      !llvm::isSafeToSpeculativelyExecute(i))
    return false;
  return llvm::all_of(i->operands(), [&](Value *operand) { return isKnownAt(operand, head, depth + 1); });
}

// Adds what the term's holding in all lanes asks for, in terms as simple as possible.
bool PathFinder::addTerms(Term term, Path &path) const {
  const llvm::SmallVector<Term, 2> parts = conjuncts(term);
  if (!parts.empty()) return llvm::all_of(parts, [&](Term part) { return addTerms(part, path); });
  if (!isKnownAt(term.getPointer(), path.head, 0) || path.terms.size() >= kMostTerms) return false;
  path.terms.insert(term);
  return true;
}

// The side of a branch that all lanes take on the path, or null. The other side only skips it.
BasicBlock *PathFinder::foreseen(llvm::BranchInst &branch, Path &path) const {
  for (unsigned i = 0; i < 2; ++i) {
    BasicBlock *body = branch.getSuccessor(i), *join = branch.getSuccessor(1 - i);
    if (body != join && postDominators_.dominates(join, body))
      return addTerms(Term(branch.getCondition(), /*inverted=*/i == 1), path) ? body : nullptr;
  }
  return nullptr;
}

bool PathFinder::mayBeCopied(const BasicBlock &block) {
  return llvm::none_of(block, [](const Instruction &i) {
    auto *call = dyn_cast<llvm::CallBase>(&i);
    return call && (call->isConvergent() || call->cannotDuplicate());
  });
}

bool PathFinder::find(Path &path) {
  path.head = firstGuard();
  if (!path.head) return false;
  Path best;
  unsigned size = 0;
  for (BasicBlock *block = path.head; block;) {
    auto *branch = dyn_cast<llvm::BranchInst>(block->getTerminator());
    BasicBlock *next = nullptr;
    if (branch && branch->isConditional()) {
      next = foreseen(*branch, path);
      if (block == path.head || postDominators_.dominates(block, path.head)) ++path.guards;
    } else if (branch) {
      next = branch->getSuccessor(0);
    } else if (llvm::isa<llvm::ReturnInst>(block->getTerminator())) {
      path.end = nullptr;
      best = path;
      break;
    }
    if (!next || loops_.getLoopFor(next) || !mayBeCopied(*next)) break;
    if (postDominators_.dominates(next, path.head)) {
      path.end = next;
      best = path;
    }
    path.blocks.push_back(next);
    size += static_cast<unsigned>(next->size());
    if (size > kMostInstructions) break;
    block = next;
  }
  path = best;
  return path.guards >= kLeastGuards && !path.blocks.empty();
}

// Computes at the head's end what the path's terms need. Copies: what only the other version needs as a vector stays
// there.
class Ahead {
public:
  Ahead(BasicBlock &head, const llvm::DominatorTree &dominators)
      : place_(head.getTerminator()), dominators_(dominators), builder_(place_) {}

  Value *term(Value *condition, bool inverted) {
    return inverted ? builder_.CreateNot(copy(condition)) : copy(condition);
  }

private:
  Value *copy(Value *value) {
    auto *i = dyn_cast<Instruction>(value);
    if (!i || dominators_.dominates(i, place_)) return value;
    if (Value *known = copies_.lookup(value)) return known;
    Instruction *made = i->clone();
    for (llvm::Use &operand : made->operands()) operand = copy(operand);
    made->dropUBImplyingAttrsAndMetadata();
    made->dropPoisonGeneratingFlags();  // the original may run for other lanes only
    return copies_[value] = builder_.Insert(made);
  }

  Instruction *place_;
  const llvm::DominatorTree &dominators_;
  llvm::IRBuilder<> builder_;
  llvm::DenseMap<Value *, Value *> copies_;
};

// The copies become one straight line; the values of their phis are those of the way there.
void straighten(const Path &path, const std::vector<BasicBlock *> &copies, llvm::ValueToValueMapTy &map) {
  for (std::size_t n = 0; n < copies.size(); ++n) {
    BasicBlock *from = n ? copies[n - 1] : path.head;
    for (llvm::PHINode &phi : llvm::make_early_inc_range(copies[n]->phis())) {
      phi.replaceAllUsesWith(phi.getIncomingValueForBlock(from));
      phi.eraseFromParent();
    }
    Instruction *branch = copies[n]->getTerminator();
    BasicBlock *next = n + 1 < copies.size() ? copies[n + 1] : path.end;
    if (!next) continue;
    llvm::BranchInst::Create(next, branch)->setDebugLoc(branch->getDebugLoc());
    branch->eraseFromParent();
  }
  if (!path.end) return;
  for (llvm::PHINode &phi : path.end->phis())
    phi.addIncoming(copyOrSelf(phi.getIncomingValueForBlock(path.blocks.back()), map), copies.back());
}

}  // namespace

void specializeFullPaths(llvm::Function &function, const ThreadIndex &threads) {
  Path path;
  if (!function.hasFnAttribute("strata.kernel") || !PathFinder(function, threads).find(path)) return;
  llvm::DominatorTree dominators(function);
  Ahead ahead(*path.head, dominators);
  Value *all = nullptr;
  for (Term term : path.terms) {
    Value *one = ahead.term(term.getPointer(), term.getInt());
    all = all ? llvm::BinaryOperator::CreateAnd(all, one, "", path.head->getTerminator()->getIterator()) : one;
  }
  llvm::ValueToValueMapTy map;
  const std::vector<BasicBlock *> copies = cloneBlocks(path.blocks, ".full", map);
  straighten(path, copies, map);
  auto *branch = llvm::cast<llvm::BranchInst>(path.head->getTerminator());
  BasicBlock *some = path.head->splitBasicBlock(branch, path.head->getName() + ".some");
  Instruction *jump = path.head->getTerminator();
  llvm::IRBuilder<> builder(jump);
  builder.CreateCondBr(createWarpFull(builder, all), copies[0], some);
  jump->eraseFromParent();
  repairUses(path.blocks, copies, map);
  function.addFnAttr(kFullPath);
}

}  // namespace strata::simt
