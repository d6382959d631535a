// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/warp/sink_loads.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <optional>

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

class LoadSinker {
public:
  explicit LoadSinker(llvm::Function &function) : function_(function), dominators_(function) {}

  bool run() {
    bool changed = false;
    const llvm::ReversePostOrderTraversal<llvm::Function *> order(&function_);
    for (BasicBlock *block : std::vector<BasicBlock *>(order.begin(), order.end()))
      if (block->getTerminator()->getNumSuccessors() > 1) changed |= sinkFrom(*block);
    return changed;
  }

private:
  bool sinkFrom(BasicBlock &block) {
    std::vector<std::pair<llvm::LoadInst *, unsigned>> loads;
    for (Instruction &i : llvm::reverse(block)) {
      if (i.mayHaveSideEffects()) break;
      auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
      if (!load || !load->isSimple() || !load->getType()->isVectorTy() || load->use_empty()) continue;
      if (auto way = onlyWay(*load)) loads.push_back({load, *way});
    }
    for (auto [load, way] : loads) {
      Instruction &first = *begin(block, way);
      load->moveBefore(&first);
    }
    return !loads.empty();
  }

  // The successor's number by which all uses are reached.
  std::optional<unsigned> onlyWay(const llvm::LoadInst &load) const {
    const BasicBlock *block = load.getParent();
    const Instruction *end = block->getTerminator();
    for (unsigned s = 0; s < end->getNumSuccessors(); ++s) {
      const BasicBlock *to = end->getSuccessor(s);
      if (llvm::count(llvm::successors(block), to) > 1) continue;
      const llvm::BasicBlockEdge edge(block, to);
      if (llvm::all_of(load.uses(), [&](const llvm::Use &use) { return dominators_.dominates(edge, use); })) return s;
    }
    return std::nullopt;
  }

  BasicBlock::iterator begin(BasicBlock &block, unsigned way) {
    BasicBlock *to = block.getTerminator()->getSuccessor(way);
    if (to->getSinglePredecessor()) {
      llvm::FoldSingleEntryPHINodes(to);
      return to->getFirstInsertionPt();
    }
    BasicBlock *between = llvm::SplitEdge(&block, to, &dominators_);
    return between->getFirstInsertionPt();
  }

  llvm::Function &function_;
  llvm::DominatorTree dominators_;
};

}  // namespace

bool sinkLoads(llvm::Function &function) { return LoadSinker(function).run(); }

}  // namespace strata::simt
