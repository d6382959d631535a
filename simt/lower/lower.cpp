// SPDX-License-Identifier: Apache-2.0
#include "simt/lower/lower.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "simt/analysis/array_names.h"
#include "simt/lower/debug_info.h"
#include "simt/lower/function_lowering.h"
#include "simt/target/instructions.h"

namespace strata::simt {

// Clang's and NVIDIA's compilers keep no parameter names: k_param_0.
static std::string parameterName(const ptx::Function &kernel, std::size_t index) {
  const std::string &name = kernel.params[index].name;
  return name == kernel.name + "_param_" + std::to_string(index) ? "parameter " + std::to_string(index + 1)
                                                                 : "parameter " + name;
}

// As the source has it, without the function that it is local to, and without what tells internal names apart.
static std::string variableName(const std::string &fullName) {
  const std::string name = fullName.substr(0, fullName.find("__static__"));
  std::string plain = llvm::demangle(name);
  if (plain == name && name.starts_with("_Z"))
    plain = llvm::demangle(name.substr(0, name.find_last_not_of("_$0123456789") + 1));
  return name.starts_with("_ZZ") ? plain.substr(plain.rfind(':') + 1) : plain;
}

static void nameArrays(const LaneModule &lane, const ptx::Function &kernel) {
  std::uint64_t size = 0;
  const std::vector<std::uint64_t> offsets = layoutParams(kernel.params, size);
  for (std::size_t i = 0; i < offsets.size(); ++i)
    nameArray(lane.ir, ArraySpace::parameters, offsets[i], kernel.params[i].size, parameterName(kernel, i));
  for (const auto &[key, offset] : lane.shared.offset) {
    const ptx::Variable &v = key.first < 0
                                 ? lane.ptx.variables[key.second]
                                 : lane.ptx.functions[static_cast<std::size_t>(key.first)].variables[key.second];
    nameArray(lane.ir, ArraySpace::shared, offset, v.size, "shared " + variableName(v.name));
  }
  for (std::size_t i = 0; i < lane.globals.offset.size(); ++i)
    if (lane.globals.offset[i] != GlobalsLayout::kNone)
      nameArray(lane.ir, ArraySpace::globals, lane.globals.offset[i], lane.ptx.variables[i].size,
                variableName(lane.ptx.variables[i].name));
}

Result<std::unique_ptr<llvm::Module>> lower(llvm::LLVMContext &context, const llvm::DataLayout &dataLayout,
                                            const ptx::Module &module, std::string_view kernel,
                                            const CompileOptions &options) {
  std::uint32_t index = 0;
  while (index < module.functions.size() && module.functions[index].name != kernel) ++index;
  if (index == module.functions.size() || !module.functions[index].isKernel || !module.functions[index].hasBody)
    return userError("no kernel '" + std::string(kernel) + "' in the module");
  auto ir = std::make_unique<llvm::Module>(kernel, context);
  ir->setDataLayout(dataLayout);
  ir->setTargetTriple(targetTriple());
  const Reach reached = reach(module, index);
  LaneModule lane(*ir, module, reached, options);
  for (std::uint32_t f : reached.functions)
    if (auto done = lowerFunction(lane, f); !done) return done.error();
  if (lane.debug) {
    lane.debug->finish();
    nameArrays(lane, module.functions[index]);
  }
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(*ir, &stream))
    return internalError("invalid lane IR for " + std::string(kernel) + ": " + broken);
  return ir;
}

}  // namespace strata::simt
