// SPDX-License-Identifier: Apache-2.0
// What nvcc's plugin does to a module before clang optimises it, and to a function after that.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>

namespace llvm {
class Function;
class GlobalVariable;
class Module;
}  // namespace llvm

namespace strata::plugin {

// annotations.cpp: the variables with that annotation, which is removed from them.
llvm::SmallVector<llvm::GlobalVariable *> takeAnnotated(llvm::Module &module, llvm::StringRef annotation);

// constants.cpp: constant memory has the __constant__ variables only, in the device pass.
void placeConstants(llvm::Module &module);

// initializer_rings.cpp: an error for each variable whose initialiser leads back to it, in the device pass.
void refuseInitializerRings(llvm::Module &module);

// managed.cpp: __managed__ variables, in both passes.
void makeManagedVariables(llvm::Module &module);

// kernel_names.cpp: a kernel's host function bears the kernel's name.
void nameKernels(llvm::Module &module);

// fuse_products.cpp: a product and a sum of another block become one instruction, in the device pass.
void fuseProducts(llvm::Function &function);

}  // namespace strata::plugin
