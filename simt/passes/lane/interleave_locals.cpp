// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/interleave_locals.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <bit>
#include <optional>
#include <vector>

#include "simt/analysis/shape.h"
#include "simt/analysis/uniformity.h"

namespace strata::simt {
namespace {

using llvm::dyn_cast;
using llvm::Instruction;
using llvm::Value;

// Collects what reaches through an alloca; refuses what cannot be interleaved.
class Uses {
public:
  explicit Uses(llvm::AllocaInst &alloca) : layout_(alloca.getModule()->getDataLayout()) { collect(alloca); }

  bool ok() const { return ok_ && elementSize_ != 0 && offsetsAreMultiples(); }
  std::uint64_t elementSize() const { return elementSize_; }
  const std::vector<llvm::GetElementPtrInst *> &geps() const { return geps_; }
  const std::vector<Instruction *> &lifetimes() const { return lifetimes_; }

private:
  void collect(Instruction &pointer) {
    for (llvm::Use &use : pointer.uses()) {
      auto *user = llvm::cast<Instruction>(use.getUser());
      if (auto *load = dyn_cast<llvm::LoadInst>(user)) {
        access(load->getType(), load->isSimple());
      } else if (auto *store = dyn_cast<llvm::StoreInst>(user)) {
        access(store->getValueOperand()->getType(), store->isSimple() && use.getOperandNo() == 1);
      } else if (auto *gep = dyn_cast<llvm::GetElementPtrInst>(user)) {
        ok_ = ok_ && use.getOperandNo() == 0;
        geps_.push_back(gep);
        if (ok_) collect(*gep);
      } else if (user->isLifetimeStartOrEnd()) {
        lifetimes_.push_back(user);
      } else {
        ok_ = false;
      }
    }
  }

  void access(llvm::Type *type, bool simple) {
    std::uint64_t size = layout_.getTypeStoreSize(type);
    bool plain = type->isIntegerTy() || type->isFloatingPointTy() || type->isPointerTy();
    ok_ = ok_ && simple && plain && std::has_single_bit(size) && size == layout_.getTypeAllocSize(type) &&
          (elementSize_ == 0 || elementSize_ == size);
    elementSize_ = size;
  }

  bool offsetsAreMultiples() const {
    for (llvm::GetElementPtrInst *gep : geps_) {
      llvm::MapVector<Value *, llvm::APInt> variables;
      llvm::APInt constant(64, 0);
      if (!gep->collectOffset(layout_, 64, variables, constant)) return false;
      if (constant.urem(elementSize_)) return false;
      for (auto &[index, scale] : variables) {
        llvm::KnownBits known = llvm::computeKnownBits(index, layout_);
        unsigned zeros = known.countMinTrailingZeros() + scale.countr_zero();
        if (zeros < static_cast<unsigned>(std::countr_zero(elementSize_))) return false;
      }
    }
    return true;
  }

  const llvm::DataLayout &layout_;
  bool ok_ = true;
  std::uint64_t elementSize_ = 0;
  std::vector<llvm::GetElementPtrInst *> geps_;
  std::vector<Instruction *> lifetimes_;
};

void widenOffset(llvm::GetElementPtrInst &gep) {
  llvm::IRBuilder<> builder(&gep);
  const llvm::DataLayout &layout = gep.getModule()->getDataLayout();
  Value *offset = llvm::emitGEPOffset(&builder, layout, &gep, /*NoAssumptions=*/true);
  Value *wide = builder.CreatePtrAdd(gep.getPointerOperand(), builder.CreateMul(offset, builder.getInt64(kLanes)));
  gep.replaceAllUsesWith(wide);
  gep.eraseFromParent();
}

}  // namespace

void interleaveLocals(llvm::Function &function) {
  std::vector<llvm::AllocaInst *> allocas;
  for (Instruction &i : function.getEntryBlock())
    if (auto *alloca = dyn_cast<llvm::AllocaInst>(&i)) allocas.push_back(alloca);
  llvm::LLVMContext &context = function.getContext();
  for (llvm::AllocaInst *alloca : allocas) {
    Uses uses(*alloca);
    if (!uses.ok()) continue;
    for (Instruction *lifetime : uses.lifetimes()) lifetime->eraseFromParent();
    for (llvm::GetElementPtrInst *gep : uses.geps()) widenOffset(*gep);
    auto *size = llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), uses.elementSize());
    alloca->setMetadata(kInterleavedMetadata, llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(size)));
  }
}

}  // namespace strata::simt
