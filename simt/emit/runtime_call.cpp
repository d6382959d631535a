// SPDX-License-Identifier: Apache-2.0
#include "simt/emit/runtime_call.h"

#include <llvm/IR/Instructions.h>

namespace strata::simt {

using llvm::Value;

llvm::CallInst *callRuntime(llvm::IRBuilder<> &b, Value *warp, std::size_t slot, llvm::Type *result,
                            llvm::ArrayRef<Value *> args) {
  const auto loadPointer = [&](Value *base, std::size_t offset) {
    llvm::LoadInst *load = b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
    return load;
  };
  Value *block = loadPointer(warp, offsetof(Warp, block));
  Value *launch = loadPointer(block, offsetof(Block, launch));
  Value *table = loadPointer(launch, offsetof(LaunchState, runtime));
  llvm::SmallVector<llvm::Type *, 8> types;
  for (Value *a : args) types.push_back(a->getType());
  llvm::CallInst *call = b.CreateCall(llvm::FunctionType::get(result, types, false), loadPointer(table, slot), args);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  return call;
}

Value *callRuntime(llvm::IRBuilder<> &b, Value *warp, const IntrinsicRow &row, llvm::Type *type,
                   llvm::function_ref<Value *(char)> operand) {
  llvm::SmallVector<Value *, 8> args;
  for (std::size_t i = 0; i < row.operands.size(); ++i) {
    const char letter = row.operands[i];
    args.push_back(letter == 'w'   ? warp
                   : letter == '=' ? b.getInt32(static_cast<std::uint32_t>(row.operands[++i] - '0'))
                                   : operand(letter));
  }
  const bool isFlag = type->isIntegerTy(1);  // the table has none
  Value *result = callRuntime(b, warp, static_cast<std::size_t>(row.slot), isFlag ? b.getInt32Ty() : type, args);
  return isFlag ? b.CreateICmpNE(result, b.getInt32(0)) : result;
}

}  // namespace strata::simt
