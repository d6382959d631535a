// SPDX-License-Identifier: Apache-2.0
// PTX to lane IR (simt/lane_ir.md): one kernel and the functions it reaches.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "ptx/ptx.h"
#include "simt/simt.h"

namespace llvm {
class DataLayout;
class LLVMContext;
class Module;
}  // namespace llvm

namespace strata::simt {

// The kernel's llvm::Function has the kernel's name. Errors: user (no such kernel), unsupported (an
// instruction without a meaning, an undefined function; with its place), internal.
Result<std::unique_ptr<llvm::Module>> lower(llvm::LLVMContext &context, const llvm::DataLayout &dataLayout,
                                            const ptx::Module &module, std::string_view kernel,
                                            const CompileOptions &options);

}  // namespace strata::simt
