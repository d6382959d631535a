// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/machine/branchless_masks.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "simt/analysis/masked_access.h"

namespace strata::simt {
namespace {

using llvm::Value;

bool isLegal(const llvm::IntrinsicInst &call, const MaskedAccess &a, const llvm::TargetTransformInfo &tti) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::masked_load: return tti.isLegalMaskedLoad(a.type, a.align);
    case llvm::Intrinsic::masked_store: return tti.isLegalMaskedStore(a.type, a.align);
    case llvm::Intrinsic::masked_gather:
      return tti.isLegalMaskedGather(a.type, a.align) && !tti.forceScalarizeMaskedGather(a.type, a.align);
    default: return tti.isLegalMaskedScatter(a.type, a.align) && !tti.forceScalarizeMaskedScatter(a.type, a.align);
  }
}

void expand(llvm::IntrinsicInst &call, Value *dummy) {
  const MaskedAccess a = *maskedAccess(call);
  llvm::IRBuilder<> ir(&call);
  const unsigned lanes = a.type->getNumElements();
  llvm::Type *element = a.type->getElementType();
  const std::uint64_t bytes = call.getModule()->getDataLayout().getTypeStoreSize(element);
  const llvm::Align align = a.isContiguous() ? llvm::commonAlignment(a.align, bytes) : a.align;
  Value *bits = ir.CreateBitCast(a.mask, ir.getIntNTy(lanes));
  Value *loaded = llvm::PoisonValue::get(a.type);
  for (unsigned i = 0; i < lanes; ++i) {
    Value *active = ir.CreateIsNotNull(ir.CreateAnd(bits, ir.getInt(llvm::APInt::getOneBitSet(lanes, i))));
    Value *own =
        a.isContiguous() ? ir.CreateConstInBoundsGEP1_64(element, a.address, i) : ir.CreateExtractElement(a.address, i);
    Value *pointer = ir.CreateSelect(active, own, dummy);
    llvm::Instruction *access = a.stored ? static_cast<llvm::Instruction *>(ir.CreateAlignedStore(
                                               ir.CreateExtractElement(a.stored, i), pointer, align))
                                         : ir.CreateAlignedLoad(element, pointer, align);
    if (!a.stored) loaded = ir.CreateInsertElement(loaded, access, i);
  }
  if (a.passThrough && !llvm::isa<llvm::UndefValue>(a.passThrough))
    loaded = ir.CreateSelect(a.mask, loaded, a.passThrough);
  if (!a.stored) call.replaceAllUsesWith(loaded);
  call.eraseFromParent();
}

}  // namespace

void expandMaskedAccesses(llvm::Module &module, llvm::TargetMachine &target) {
  for (llvm::Function &f : module) {
    std::vector<llvm::IntrinsicInst *> calls;
    const llvm::TargetTransformInfo tti = target.getTargetTransformInfo(f);
    for (llvm::Instruction &i : llvm::instructions(f)) {
      if (auto access = maskedAccess(i); access && !isLegal(llvm::cast<llvm::IntrinsicInst>(i), *access, tti))
        calls.push_back(llvm::cast<llvm::IntrinsicInst>(&i));
    }
    if (calls.empty()) continue;
    llvm::IRBuilder<> entry(&f.getEntryBlock(), f.getEntryBlock().begin());
    llvm::AllocaInst *dummy = entry.CreateAlloca(entry.getInt8Ty(), entry.getInt32(16));
    dummy->setAlignment(llvm::Align(16));
    for (llvm::IntrinsicInst *call : calls) expand(*call, dummy);
  }
}

}  // namespace strata::simt
