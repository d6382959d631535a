// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/register_zeros.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

namespace strata::simt {
namespace {

// The store of zero to the register in the entry block, if no read can see it.
llvm::StoreInst *unreadZero(llvm::AllocaInst &reg, const llvm::DominatorTree &tree) {
  llvm::StoreInst *zero = nullptr, *write = nullptr;
  for (llvm::User *user : reg.users()) {
    if (llvm::isa<llvm::LoadInst>(user)) continue;
    auto *store = llvm::dyn_cast<llvm::StoreInst>(user);
    if (!store || store->getPointerOperand() != &reg) return nullptr;
    auto *value = llvm::dyn_cast<llvm::Constant>(store->getValueOperand());
    const bool initial = store->getParent() == reg.getParent() && value && value->isNullValue();
    if (initial ? zero : write) return nullptr;
    (initial ? zero : write) = store;
  }
  if (!zero || !write) return nullptr;
  for (llvm::User *user : reg.users())
    if (llvm::isa<llvm::LoadInst>(user) && !tree.dominates(write, llvm::cast<llvm::LoadInst>(user))) return nullptr;
  return zero;
}

}  // namespace

void dropUnreadZeros(llvm::Function &f) {
  const llvm::DominatorTree tree(f);
  llvm::SmallVector<llvm::StoreInst *> unread;
  for (llvm::Instruction &i : f.getEntryBlock())
    if (auto *reg = llvm::dyn_cast<llvm::AllocaInst>(&i))
      if (llvm::StoreInst *zero = unreadZero(*reg, tree)) unread.push_back(zero);
  for (llvm::StoreInst *zero : unread) zero->eraseFromParent();
}

}  // namespace strata::simt
