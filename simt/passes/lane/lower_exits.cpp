// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/lower_exits.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>

namespace strata::simt {

void lowerKernelExits(llvm::Module &module) {
  llvm::Function *exit = module.getFunction("strata.exit");
  if (!exit) return;
  for (llvm::User *user : llvm::make_early_inc_range(exit->users())) {
    auto *call = llvm::cast<llvm::CallInst>(user);
    if (!call->getFunction()->hasFnAttribute("strata.kernel")) continue;
    llvm::BasicBlock *block = call->getParent();
    llvm::changeToUnreachable(call);
    llvm::Instruction *end = block->getTerminator();
    llvm::ReturnInst::Create(module.getContext(), nullptr, end->getIterator())->setDebugLoc(end->getDebugLoc());
    end->eraseFromParent();
  }
}

}  // namespace strata::simt
