// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/prepare.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/DomTreeUpdater.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/FixIrreducible.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>

#include "simt/abi.h"
#include "simt/analysis/lane_intrinsics.h"
#include "simt/analysis/launch_fields.h"
#include "simt/analysis/uniformity.h"
#include "simt/passes/llvm_passes.h"

namespace strata::simt {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Instruction;

void foldBlockDim(Function &function, const ThreadIndex &threads) {
  if (!threads.exact()) return;
  for (Instruction &i : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
    if (!load || !load->getType()->isIntegerTy(32)) continue;
    std::optional<std::uint64_t> field = launchField(*load);
    for (unsigned d = 0; field && d < 3; ++d)
      if (*field == offsetof(LaunchState, blockDim) + 4 * d)
        load->replaceAllUsesWith(llvm::ConstantInt::get(load->getType(), threads.blockDim(d)));
  }
}

namespace {

// Calls of lane functions may end lanes; the callee says so by warp->exited.
void splitAfterCalls(Function &function, BasicBlock *returnBlock) {
  llvm::Module &module = *function.getParent();
  std::vector<llvm::CallInst *> calls;
  for (Instruction &i : llvm::instructions(function))
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&i); call && calledIntrinsic(i) == LaneIntrinsic::laneFunction)
      calls.push_back(call);
  if (calls.empty()) return;
  llvm::FunctionCallee exited = module.getOrInsertFunction("strata.exited", llvm::Type::getInt1Ty(module.getContext()));
  for (llvm::CallInst *call : calls) {
    BasicBlock *head = call->getParent();
    BasicBlock *rest = head->splitBasicBlock(std::next(call->getIterator()), "after.call");
    head->getTerminator()->eraseFromParent();
    llvm::IRBuilder<> builder(head);
    builder.SetCurrentDebugLocation(call->getDebugLoc());
    builder.CreateCondBr(builder.CreateCall(exited), returnBlock, rest);
    for (llvm::PHINode &phi : returnBlock->phis()) phi.addIncoming(llvm::PoisonValue::get(phi.getType()), head);
  }
}

// One return block, which every trapping or exiting block reaches too. Returns null if nothing returns.
BasicBlock *makeReturnBlock(Function &function) {
  std::vector<BasicBlock *> returning, ending;
  for (BasicBlock &block : function) {
    if (llvm::isa<llvm::ReturnInst>(block.getTerminator())) returning.push_back(&block);
    if (llvm::isa<llvm::UnreachableInst>(block.getTerminator())) ending.push_back(&block);
  }
  if (returning.empty() && ending.empty()) return nullptr;
  llvm::LLVMContext &context = function.getContext();
  BasicBlock *unified = BasicBlock::Create(context, "return", &function);
  llvm::IRBuilder<> builder(unified);
  llvm::PHINode *phi = nullptr;
  if (function.getReturnType()->isVoidTy()) {
    builder.CreateRetVoid();
  } else {
    phi = builder.CreatePHI(function.getReturnType(), 2);
    builder.CreateRet(phi);
  }
  auto redirect = [&](BasicBlock *block, llvm::Value *value) {
    if (phi) phi->addIncoming(value ? value : llvm::PoisonValue::get(phi->getType()), block);
    llvm::DebugLoc place = block->getTerminator()->getDebugLoc();
    block->getTerminator()->eraseFromParent();
    llvm::BranchInst::Create(unified, block)->setDebugLoc(place);
  };
  for (BasicBlock *block : returning)
    redirect(block, llvm::cast<llvm::ReturnInst>(block->getTerminator())->getReturnValue());
  for (BasicBlock *block : ending) redirect(block, nullptr);
  return unified;
}

}  // namespace

void unifyReturns(Function &function) {
  llvm::EliminateUnreachableBlocks(function);
  if (BasicBlock *returnBlock = makeReturnBlock(function)) splitAfterCalls(function, returnBlock);
}

void extendNarrowIndices(Function &function) {
  for (Instruction &i : llvm::instructions(function)) {
    auto *gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&i);
    if (!gep) continue;
    llvm::IRBuilder<> builder(gep);
    for (llvm::Use &index : gep->indices()) {
      llvm::Type *type = index->getType();
      if (llvm::isa<llvm::Constant>(index) || !type->isIntegerTy() || type->getIntegerBitWidth() >= 64) continue;
      index = builder.CreateSExt(index, builder.getInt64Ty());
    }
  }
}

void scalarize(Function &function, Analyses &analyses) {
  llvm::ScalarizerPassOptions options;
  options.ScalarizeLoadStore = false;
  llvm::ScalarizerPass(options).run(function, analyses.functions);
}

// br %c, a, a has two edges that cannot be told apart.
static void foldTwinEdges(Function &function) {
  for (BasicBlock &block : function) llvm::ConstantFoldTerminator(&block, /*DeleteDeadConditions=*/true);
}

void makeReducible(Function &function, Analyses &analyses) {
  llvm::FunctionPassManager branches, reducible;
  branches.addPass(llvm::LowerSwitchPass());
  branches.run(function, analyses.functions);
  foldTwinEdges(function);  // before FixIrreducible: LLVM 19's writes bad phis for them
  analyses.functions.clear(function, function.getName());
  reducible.addPass(llvm::FixIrreduciblePass());
  reducible.run(function, analyses.functions);
  foldTwinEdges(function);
}

// A block that only computes a few values on the way out of a loop is run in the loop instead, so that exits
// meet at once: then nothing has to remember which exit a lane took.
//
//   b: br %c, out, next;  out: %v = add %i, 1; br join     →     b: %v = add %i, 1; br %c, join, next
void hoistExitBlocks(Function &function) {
  constexpr unsigned kMost = 3;
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  std::vector<BasicBlock *> hoisted;
  for (BasicBlock &block : function) {
    BasicBlock *from = block.getSinglePredecessor(), *to = block.getSingleSuccessor();
    const llvm::Loop *loop = from ? loops.getLoopFor(from) : nullptr;
    if (!loop || !to || loop->contains(&block) || loop->contains(to) || block.hasAddressTaken()) continue;
    if (block.size() > kMost + 1 || llvm::is_contained(llvm::successors(from), to)) continue;
    bool cheap = llvm::all_of(llvm::drop_end(block), [&](Instruction &i) {
      return !llvm::isa<llvm::PHINode>(i) && !llvm::isa<llvm::CallBase>(i) && llvm::isSafeToSpeculativelyExecute(&i);
    });
    if (cheap && from->getTerminator()->getNumSuccessors() > 1) hoisted.push_back(&block);
  }
  for (BasicBlock *block : hoisted) {
    BasicBlock *from = block->getSinglePredecessor(), *to = block->getSingleSuccessor();
    if (llvm::is_contained(llvm::successors(from), to)) continue;
    Instruction *end = from->getTerminator();
    from->splice(end->getIterator(), block, block->begin(), block->getTerminator()->getIterator());
    end->replaceSuccessorWith(block, to);
    to->replacePhiUsesWith(block, from);
    block->eraseFromParent();
  }
}

static void simplifyLoops(Function &function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  for (llvm::Loop *loop : llvm::SmallVector<llvm::Loop *, 8>(loops.begin(), loops.end()))
    llvm::simplifyLoop(loop, &dominators, &loops, nullptr, nullptr, nullptr, /*PreserveLCSSA=*/false);
}

void formLcssa(Function &function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  for (llvm::Loop *loop : loops) llvm::formLCSSARecursively(*loop, dominators, &loops, nullptr);
}

void formLoops(Function &function) {
  simplifyLoops(function);
  formLcssa(function);
}

// Gives one divergent loop with several exit blocks a single one. Returns whether there was such a loop.
// The new exit block need not be dedicated to the loop: inner loops may leave through it too.
static bool unifyOneLoopExit(Function &function, const ThreadIndex &threads) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  if (loops.empty()) return false;
  BlockOrder order(function, loops);
  Uniformity uniformity(function, loops, order, threads);
  auto nested = loops.getLoopsInPreorder();
  for (auto at = nested.rbegin(); at != nested.rend(); ++at) {  // inner loops first
    llvm::SetVector<BasicBlock *> exiting, exits;
    llvm::SmallVector<BasicBlock *, 8> blocks;
    (*at)->getExitingBlocks(blocks);
    exiting.insert(blocks.begin(), blocks.end());
    blocks.clear();
    (*at)->getUniqueExitBlocks(blocks);
    exits.insert(blocks.begin(), blocks.end());
    if (exits.size() < 2 || !uniformity.control().isDivergent(*at)) continue;
    llvm::DomTreeUpdater updater(dominators, llvm::DomTreeUpdater::UpdateStrategy::Eager);
    llvm::SmallVector<BasicBlock *, 4> guards;
    llvm::CreateControlFlowHub(&updater, guards, exiting, exits, "loop.exit");
    return true;
  }
  return false;
}

void unifyLoopExits(Function &function, const ThreadIndex &threads) {
  while (unifyOneLoopExit(function, threads)) formLcssa(function);
}

}  // namespace strata::simt
