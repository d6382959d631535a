// SPDX-License-Identifier: Apache-2.0
// What nvcc's plugin does to a module before clang optimises it, and to a function after that.
#pragma once

namespace llvm {
class Function;
class Module;
}

namespace strata::plugin {

// managed.cpp: __managed__ variables, in both passes.
void makeManagedVariables(llvm::Module &module);

// kernel_names.cpp: a kernel's host function bears the kernel's name.
void nameKernels(llvm::Module &module);

// fuse_products.cpp: a product and a sum of another block become one instruction, in the device pass.
void fuseProducts(llvm::Function &function);

}  // namespace strata::plugin
