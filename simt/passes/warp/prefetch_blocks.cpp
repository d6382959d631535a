// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/warp/prefetch_blocks.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <vector>

#include "simt/abi.h"
#include "simt/analysis/launch_fields.h"
#include "simt/analysis/masked_access.h"
#include "simt/emit/kernel_entry.h"
#include "simt/target/tuning.h"

namespace strata::simt {
namespace {

using llvm::dyn_cast;
using llvm::Instruction;
using llvm::Value;

constexpr unsigned kMostDepth = 12;
constexpr std::uint64_t kLine = kTuning.line, kMostLines = 8;  // bytes; of a warp

class BlockPrefetcher {
public:
  explicit BlockPrefetcher(llvm::Function &function)
      : function_(function), dominators_(function), loops_(dominators_) {}

  bool run() {
    std::vector<Instruction *> loads;
    std::uint64_t lines = 0;
    for (Instruction &i : llvm::instructions(function_)) {
      Value *address = contiguousLoadAddress(i);
      bool ofBlock = false;
      if (!address || !follows(*address, ofBlock, 0) || !ofBlock) continue;
      loads.push_back(&i);
      lines += linesOf(i);
    }
    if (loads.empty() || lines > kMostLines) return false;
    for (Instruction *load : loads) prefetch(*load);
    return true;
  }

private:
  static std::uint64_t linesOf(const Instruction &load) {
    return (load.getModule()->getDataLayout().getTypeStoreSize(load.getType()) + kLine - 1) / kLine;
  }

  bool isBlockNumber(const llvm::LoadInst &load) const {
    auto [base, at] = splitAddress(load);
    if (at != offsetof(Block, blockIdx)) return false;
    auto *block = dyn_cast<llvm::LoadInst>(base);
    return base == function_.getArg(0) || (block && block->getPointerOperand() == function_.getArg(1));
  }

  // Whether the value follows from the launch, the block (and if so, `ofBlock`) and counts of the loop over warps.
  bool follows(const Value &value, bool &ofBlock, unsigned depth) const {
    auto *i = dyn_cast<Instruction>(&value);
    if (!i) return true;
    if (auto *load = dyn_cast<llvm::LoadInst>(i)) {
      ofBlock |= isBlockNumber(*load);
      return load->hasMetadata(llvm::LLVMContext::MD_invariant_load);
    }
    if (auto *phi = dyn_cast<llvm::PHINode>(i)) return phi->getType()->isIntegerTy(32) && !countsInKernel(*phi);
    if (depth == kMostDepth || !mayBeCopied(*i)) return false;
    return llvm::all_of(i->operands(), [&](const Value *operand) { return follows(*operand, ofBlock, depth + 1); });
  }

  // In a loop of the kernel's, not in those over a block's rounds and warps.
  bool countsInKernel(const llvm::PHINode &phi) const {
    constexpr unsigned kOfBlock = 2;
    return loops_.isLoopHeader(phi.getParent()) && loops_.getLoopDepth(phi.getParent()) > kOfBlock;
  }

  static bool mayBeCopied(const Instruction &i) {
    return llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst, llvm::FreezeInst, llvm::SelectInst,
                     llvm::CmpInst>(i) &&
           !i.isIntDivRem();
  }

  void prefetch(Instruction &load) {
    llvm::IRBuilder<> b(&load);
    copies_.clear();
    Value *ahead = copy(contiguousLoadAddress(load), b);
    for (std::uint64_t line = 0; line < linesOf(load); ++line)
      b.CreateIntrinsic(llvm::Intrinsic::prefetch, {ahead->getType()},
                        {b.CreateConstGEP1_64(b.getInt8Ty(), ahead, line * kLine), b.getInt32(/*read*/ 0),
                         b.getInt32(/*locality: second level*/ 2), b.getInt32(/*data*/ 1)});
  }

  Value *copy(Value *value, llvm::IRBuilder<> &b) {
    if (Value *known = copies_.lookup(value)) return known;
    auto *i = dyn_cast<Instruction>(value);
    bool ofBlock = false;
    if (!i || !follows(*i, ofBlock, 0) || !ofBlock) return value;
    if (llvm::isa<llvm::LoadInst>(i)) return copies_[i] = b.CreateAdd(i, b.getInt32(kTuning.blocksAhead));
    Instruction *made = i->clone();
    for (llvm::Use &operand : made->operands()) operand = copy(operand, b);
    made->dropPoisonGeneratingFlags();
    return copies_[i] = b.Insert(made);
  }

  llvm::Function &function_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::DenseMap<Value *, Value *> copies_;
};

}  // namespace

bool prefetchBlocks(llvm::Function &function) { return isBlockEntry(function) && BlockPrefetcher(function).run(); }

}  // namespace strata::simt
