// SPDX-License-Identifier: Apache-2.0
// Changes to the PTX that clang 19 wrote, and a look at it.
#pragma once

#include <string>

namespace strata::nvcc {

// -maxrregcount, for which clang has no option: `.maxnreg count` on each kernel without launch bounds of its own.
std::string limitRegisters(const std::string &ptx, const std::string &count);

// Relocatable code, as clang intends it. A static variable that the host uses is defined as x__static__<id>, but
// code before that use refers to an external x: all references get the full name. And __clang_gpu_used_external, a
// list that only clang's own linker reads, goes, with the declarations that only it needed: it declares kernels of
// other files as functions.
std::string repairRelocatable(const std::string &ptx);

// The first function or variable of another file that this PTX needs; empty if there is none.
std::string unresolvedSymbol(const std::string &ptx);

}  // namespace strata::nvcc
