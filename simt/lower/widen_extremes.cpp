// SPDX-License-Identifier: Apache-2.0
#include "simt/lower/widen_extremes.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

namespace strata::simt {

bool widenExtremes(llvm::Function &function) {
  bool changed = false;
  for (llvm::Instruction &i : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(&i);
    const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
    if (!callee || call->use_empty() || !call->getType()->is16bitFPTy()) continue;
    const bool least = callee->getName().starts_with("strata.fmin.");
    if (!least && !callee->getName().starts_with("strata.fmax.")) continue;
    const auto widens = [](const llvm::User *user) { return llvm::isa<llvm::FPExtInst>(user) && user->getType()->isFloatTy(); };
    if (!llvm::all_of(call->users(), widens)) continue;
    llvm::IRBuilder<> builder(call);
    llvm::Type *f32 = builder.getFloatTy();
    llvm::FunctionCallee wide = function.getParent()->getOrInsertFunction(least ? "strata.fmin.f32" : "strata.fmax.f32", callee->getAttributes(), f32, f32, f32);
    llvm::Value *result = builder.CreateCall(wide, {builder.CreateFPExt(call->getArgOperand(0), f32), builder.CreateFPExt(call->getArgOperand(1), f32)});
    for (llvm::User *user : llvm::make_early_inc_range(call->users())) user->replaceAllUsesWith(result);
    changed = true;  // what is dead now goes with the passes that follow
  }
  return changed;
}

}  // namespace strata::simt
