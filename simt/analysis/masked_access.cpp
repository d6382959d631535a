// SPDX-License-Identifier: Apache-2.0
#include "simt/analysis/masked_access.h"

#include <llvm/IR/DerivedTypes.h>

namespace strata::simt {

std::optional<MaskedAccess> maskedAccess(const llvm::Instruction &i) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
  if (!call) return std::nullopt;
  MaskedAccess access;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::masked_load:
    case llvm::Intrinsic::masked_gather: access.passThrough = call->getArgOperand(3); break;
    case llvm::Intrinsic::masked_store:
    case llvm::Intrinsic::masked_scatter: access.stored = call->getArgOperand(0); break;
    default: return std::nullopt;
  }
  const unsigned first = access.addressOperand = access.stored ? 1 : 0;
  access.address = call->getArgOperand(first);
  access.align = llvm::cast<llvm::ConstantInt>(call->getArgOperand(first + 1))->getMaybeAlignValue().valueOrOne();
  access.mask = call->getArgOperand(first + 2);
  access.type = llvm::cast<llvm::FixedVectorType>(access.stored ? access.stored->getType() : call->getType());
  return access;
}

llvm::Value *contiguousLoadAddress(llvm::Instruction &i) {
  if (auto access = maskedAccess(i)) return access->stored || !access->isContiguous() ? nullptr : access->address;
  auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
  return load && load->getType()->isVectorTy() && load->isSimple() ? load->getPointerOperand() : nullptr;
}

}  // namespace strata::simt
