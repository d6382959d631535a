// SPDX-License-Identifier: Apache-2.0
#include "simt/jit/branchless_masks.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace strata::simt {
namespace {

using llvm::Intrinsic::ID;
using llvm::Value;

// The operands of one masked access; `passThrough` of loads, `stored` of stores.
struct Access {
  llvm::IntrinsicInst *call = nullptr;
  Value *pointers = nullptr, *mask = nullptr, *stored = nullptr, *passThrough = nullptr;
  llvm::Align align;

  explicit Access(llvm::IntrinsicInst &intrinsic) : call(&intrinsic) {
    const ID id = intrinsic.getIntrinsicID();
    const bool load = id == llvm::Intrinsic::masked_load || id == llvm::Intrinsic::masked_gather;
    if (!load) stored = intrinsic.getArgOperand(0);
    const unsigned first = load ? 0 : 1;
    pointers = intrinsic.getArgOperand(first);
    align = llvm::cast<llvm::ConstantInt>(intrinsic.getArgOperand(first + 1))->getMaybeAlignValue().valueOrOne();
    mask = intrinsic.getArgOperand(first + 2);
    if (load) passThrough = intrinsic.getArgOperand(3);
  }
  llvm::FixedVectorType *type() const { return llvm::cast<llvm::FixedVectorType>((stored ? stored : call)->getType()); }
  bool contiguous() const { return !pointers->getType()->isVectorTy(); }
};

bool isLegal(llvm::IntrinsicInst &call, const llvm::TargetTransformInfo &tti) {
  const Access a(call);
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::masked_load: return tti.isLegalMaskedLoad(a.type(), a.align);
    case llvm::Intrinsic::masked_store: return tti.isLegalMaskedStore(a.type(), a.align);
    case llvm::Intrinsic::masked_gather:
      return tti.isLegalMaskedGather(a.type(), a.align) && !tti.forceScalarizeMaskedGather(a.type(), a.align);
    default: return tti.isLegalMaskedScatter(a.type(), a.align) && !tti.forceScalarizeMaskedScatter(a.type(), a.align);
  }
}

void expand(const Access &a, Value *dummy) {
  llvm::IRBuilder<> ir(a.call);
  const unsigned lanes = a.type()->getNumElements();
  llvm::Type *element = a.type()->getElementType();
  const std::uint64_t bytes = a.call->getModule()->getDataLayout().getTypeStoreSize(element);
  const llvm::Align align = a.contiguous() ? llvm::commonAlignment(a.align, bytes) : a.align;
  Value *bits = ir.CreateBitCast(a.mask, ir.getIntNTy(lanes));
  Value *loaded = llvm::PoisonValue::get(a.type());
  for (unsigned i = 0; i < lanes; ++i) {
    Value *active = ir.CreateIsNotNull(ir.CreateAnd(bits, ir.getInt(llvm::APInt::getOneBitSet(lanes, i))));
    Value *own = a.contiguous() ? ir.CreateConstInBoundsGEP1_64(element, a.pointers, i) : ir.CreateExtractElement(a.pointers, i);
    Value *pointer = ir.CreateSelect(active, own, dummy);
    llvm::Instruction *access =
        a.stored ? static_cast<llvm::Instruction *>(ir.CreateAlignedStore(ir.CreateExtractElement(a.stored, i), pointer, align))
                 : ir.CreateAlignedLoad(element, pointer, align);
    if (!a.stored) loaded = ir.CreateInsertElement(loaded, access, i);
  }
  if (a.passThrough && !llvm::isa<llvm::UndefValue>(a.passThrough)) loaded = ir.CreateSelect(a.mask, loaded, a.passThrough);
  if (!a.stored) a.call->replaceAllUsesWith(loaded);
  a.call->eraseFromParent();
}

}  // namespace

void expandMaskedAccesses(llvm::Module &module, llvm::TargetMachine &target) {
  for (llvm::Function &f : module) {
    std::vector<llvm::IntrinsicInst *> calls;
    const llvm::TargetTransformInfo tti = target.getTargetTransformInfo(f);
    for (llvm::Instruction &i : llvm::instructions(f)) {
      auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
      const ID id = call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic;
      const bool masked = id == llvm::Intrinsic::masked_load || id == llvm::Intrinsic::masked_store ||
                          id == llvm::Intrinsic::masked_gather || id == llvm::Intrinsic::masked_scatter;
      if (masked && !isLegal(*call, tti)) calls.push_back(call);
    }
    if (calls.empty()) continue;
    llvm::IRBuilder<> entry(&f.getEntryBlock(), f.getEntryBlock().begin());
    llvm::AllocaInst *dummy = entry.CreateAlloca(entry.getInt8Ty(), entry.getInt32(16));
    dummy->setAlignment(llvm::Align(16));
    for (llvm::IntrinsicInst *call : calls) expand(Access(*call), dummy);
  }
}

}  // namespace strata::simt
