// SPDX-License-Identifier: Apache-2.0
// What nvcc's plugin does to a module before clang optimises it.
#pragma once

namespace llvm {
class Module;
}

namespace strata::plugin {

// managed.cpp: __managed__ variables, in both passes.
void makeManagedVariables(llvm::Module &module);

// kernel_names.cpp: a kernel's host function bears the kernel's name.
void nameKernels(llvm::Module &module);

}  // namespace strata::plugin
