// SPDX-License-Identifier: Apache-2.0
#include "simt/lower/lower.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "simt/lower/debug_info.h"
#include "simt/lower/function_lowering.h"

namespace strata::simt {

Result<std::unique_ptr<llvm::Module>> lower(llvm::LLVMContext &context, const llvm::DataLayout &dataLayout,
                                            const ptx::Module &module, std::string_view kernel,
                                            const CompileOptions &options) {
  std::uint32_t index = 0;
  while (index < module.functions.size() && module.functions[index].name != kernel) ++index;
  if (index == module.functions.size() || !module.functions[index].isKernel || !module.functions[index].hasBody)
    return userError("no kernel '" + std::string(kernel) + "' in the module");
  auto ir = std::make_unique<llvm::Module>(kernel, context);
  ir->setDataLayout(dataLayout);
  ir->setTargetTriple("x86_64-unknown-linux-gnu");
  const Reach reached = reach(module, index);
  LaneModule lane(*ir, module, reached, options);
  for (std::uint32_t f : reached.functions)
    if (auto done = lowerFunction(lane, f); !done) return done.error();
  if (lane.debug) lane.debug->finish();
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(*ir, &stream)) return internalError("invalid lane IR for " + std::string(kernel) + ": " + broken);
  return ir;
}

}  // namespace strata::simt
