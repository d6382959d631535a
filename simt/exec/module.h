// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "simt/simt.h"

// Calls into the code generator go to code without type information, which UBSan's vptr check cannot see.
#define STRATA_FOREIGN_VTABLE __attribute__((no_sanitize("vptr")))

namespace strata::simt {

// loadKernel in a given mode, whatever STRATA_MODE says: for the replay of a fault, lane by lane.
Result<std::shared_ptr<const Kernel>> loadKernelInMode(const std::shared_ptr<Module> &module, std::string_view name,
                                                       const std::uint32_t blockDim[3], Mode mode);

// The one PTX text that the source stands for: linked, where it is to be linked.
Result<std::string> wholePtx(const ModuleSource &source);

// Parses the source with the code generator, which is loaded at need.
Result<std::unique_ptr<CodegenModule>> openCodegen(const ModuleSource &source);

// What code may assume about blocks of this shape.
void specialiseFor(const std::uint32_t blockDim[3], CompileOptions &options);

}  // namespace strata::simt
