// SPDX-License-Identifier: Apache-2.0
// What clang loads (-fpass-plugin).
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

#include "toolkit/nvcc/plugin/passes.h"

using namespace llvm;

namespace {

struct StrataPasses : PassInfoMixin<StrataPasses> {
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
    strata::plugin::refuseInitializerRings(module);
    strata::plugin::placeConstants(module);
    strata::plugin::makeManagedVariables(module);
    strata::plugin::nameKernels(module);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }  // also without optimisation
};

struct FuseProducts : PassInfoMixin<FuseProducts> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &) {
    strata::plugin::fuseProducts(function);
    return PreservedAnalyses::none();
  }
};

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "strata", STRATA_VERSION, [](PassBuilder &builder) {
            builder.registerPipelineStartEPCallback(
                [](ModulePassManager &passes, OptimizationLevel) { passes.addPass(StrataPasses()); });
            builder.registerOptimizerLastEPCallback([](ModulePassManager &passes, OptimizationLevel level) {
              if (level != OptimizationLevel::O0) passes.addPass(createModuleToFunctionPassAdaptor(FuseProducts()));
            });
          }};
}
