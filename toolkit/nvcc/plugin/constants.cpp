// SPDX-License-Identifier: Apache-2.0
// clang puts each const variable whose value is known into constant memory. nvcc does so for __constant__ ones only:
// others may be larger than the 64 KB of it, and another file's `extern __device__ const int x;` takes x for global
// memory. host_defines.h annotates __constant__ variables; in the device pass all others are moved to global memory. In
// relocatable code the host knows those of one file, static ones, by the name that tells them apart, but clang gives it
// only to variables that the host has no copy of: they get it, too.
//   @x = addrspace(4) constant i32 5            →  @x = addrspace(1) constant i32 5
//   addrspacecast (ptr addrspace(4) @x to ptr)  →  addrspacecast (ptr addrspace(1) @x to ptr)
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/MD5.h>
#include <llvm/TargetParser/Triple.h>

#include "toolkit/nvcc/plugin/passes.h"

using namespace llvm;

namespace {

constexpr unsigned kGlobal = 1, kConstant = 4;  // NVPTX's address spaces

// Before optimisation variables are used through generic pointers only.
bool onlyGenericUses(GlobalVariable &variable) {
  variable.removeDeadConstantUsers();  // clang leaves some
  return all_of(variable.users(), [](const User *user) {
    auto *cast = dyn_cast<AddrSpaceCastOperator>(user);
    return cast && cast->getDestAddressSpace() == 0;
  });
}

// What clang appends to names that tell files apart; empty if there is one file. nvcc hands over the -cuid=… of
// relocatable code as a command line to be recorded.
std::string unitSuffix(Module &module) {
  NamedMDNode *lines = module.getNamedMetadata("llvm.commandline");
  if (!lines || !lines->getNumOperands()) return "";
  StringRef id = cast<MDString>(lines->getOperand(0)->getOperand(0))->getString();
  const bool known = id.consume_front("-cuid=");
  lines->eraseFromParent();
  return known ? "__static__" + utohexstr(MD5Hash(id), /*LowerCase=*/true) : "";
}

void moveToGlobal(Module &module, GlobalVariable &variable) {
  auto *moved = new GlobalVariable(module, variable.getValueType(), variable.isConstant(), variable.getLinkage(),
                                   variable.getInitializer(), "", &variable, variable.getThreadLocalMode(), kGlobal,
                                   variable.isExternallyInitialized());
  moved->copyAttributesFrom(&variable);
  moved->setComdat(variable.getComdat());
  moved->copyMetadata(&variable, 0);
  moved->takeName(&variable);
  for (User *user : make_early_inc_range(variable.users())) {
    auto *cast = llvm::cast<AddrSpaceCastOperator>(user);
    cast->replaceAllUsesWith(ConstantExpr::getAddrSpaceCast(moved, cast->getType()));
    if (auto *instruction = dyn_cast<Instruction>(user)) instruction->eraseFromParent();
  }
  variable.removeDeadConstantUsers();  // the casts
  variable.eraseFromParent();
}

}  // namespace

void strata::plugin::placeConstants(Module &module) {
  const SmallVector<GlobalVariable *> annotated = takeAnnotated(module, "strata.constant");
  if (!Triple(module.getTargetTriple()).isNVPTX()) return;
  const SmallPtrSet<GlobalVariable *, 8> constants(annotated.begin(), annotated.end());
  const std::string suffix = unitSuffix(module);
  for (GlobalVariable &variable : make_early_inc_range(module.globals())) {
    if (variable.getAddressSpace() != kConstant || !variable.hasInitializer() || constants.contains(&variable) ||
        !onlyGenericUses(variable))
      continue;
    if (variable.hasLocalLinkage() && !variable.getName().starts_with("_ZZ"))
      variable.setName(variable.getName() + suffix);
    moveToGlobal(module, variable);
  }
}
