// SPDX-License-Identifier: Apache-2.0
// Specifiers that LLVM does not know reach the plugin as annotations, which host_defines.h adds.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

#include "toolkit/nvcc/plugin/passes.h"

using namespace llvm;

SmallVector<GlobalVariable *> strata::plugin::takeAnnotated(Module &module, StringRef annotation) {
  SmallVector<GlobalVariable *> found;
  GlobalVariable *all = module.getGlobalVariable("llvm.global.annotations");
  if (!all) return found;
  SmallVector<Constant *> kept;
  for (Use &use : cast<ConstantArray>(all->getInitializer())->operands()) {
    auto *row = cast<ConstantStruct>(use);
    auto *text = dyn_cast<GlobalVariable>(row->getOperand(1)->stripPointerCasts());
    auto *data = text && text->hasInitializer() ? dyn_cast<ConstantDataArray>(text->getInitializer()) : nullptr;
    auto *variable = dyn_cast<GlobalVariable>(row->getOperand(0)->stripPointerCasts());
    if (variable && data && data->isCString() && data->getAsCString() == annotation) found.push_back(variable);
    else kept.push_back(row);
  }
  if (found.empty()) return found;
  if (!kept.empty()) {
    auto *type = ArrayType::get(kept[0]->getType(), kept.size());
    auto *rest = new GlobalVariable(module, type, false, GlobalValue::AppendingLinkage, ConstantArray::get(type, kept));
    rest->setSection("llvm.metadata");
    rest->takeName(all);
  }
  all->eraseFromParent();
  return found;
}
