// SPDX-License-Identifier: Apache-2.0
// Variables whose initialisers lead back to themselves: `__device__ Node n = {&n};`. PTX names only what was declared
// before, so that no order of a file's variables will do; nvcc refuses them, and LLVM's backend ends in a crash.
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

#include "toolkit/nvcc/plugin/passes.h"

using namespace llvm;

namespace {

// The variables that a variable's initialiser names.
SmallVector<GlobalVariable *> namedBy(const GlobalVariable &variable) {
  SmallSetVector<Constant *, 16> parts;
  SmallVector<GlobalVariable *> named;
  if (variable.hasInitializer()) parts.insert(const_cast<Constant *>(variable.getInitializer()));
  for (unsigned i = 0; i < parts.size(); ++i) {
    if (auto *other = dyn_cast<GlobalVariable>(parts[i])) {
      named.push_back(other);
      continue;
    }
    if (isa<GlobalValue>(parts[i])) continue;
    for (Use &operand : parts[i]->operands()) parts.insert(cast<Constant>(operand));
  }
  return named;
}

struct Visit {
  GlobalVariable *variable;
  SmallVector<GlobalVariable *> left;  // still to be followed
};

}  // namespace

void strata::plugin::refuseInitializerRings(Module &module) {
  if (!Triple(module.getTargetTriple()).isNVPTX()) return;
  enum State { fresh, open, done };
  DenseMap<GlobalVariable *, State> states;
  for (GlobalVariable &root : module.globals()) {
    if (states[&root] != fresh) continue;
    SmallVector<Visit> way = {{&root, namedBy(root)}};
    states[&root] = open;
    while (!way.empty()) {
      if (way.back().left.empty()) {
        states[way.pop_back_val().variable] = done;
        continue;
      }
      GlobalVariable *next = way.back().left.pop_back_val();
      if (states[next] == open) {
        module.getContext().emitError("the initialiser of '" + demangle(next->getName()) +
                                      "' leads back to the variable itself, which PTX cannot express; set the pointer "
                                      "in a kernel or by cudaMemcpyToSymbol");
        next->setInitializer(Constant::getNullValue(next->getValueType()));  // for the backend
      }
      if (states[next] != fresh) continue;
      states[next] = open;
      way.push_back({next, namedBy(*next)});
    }
  }
}
