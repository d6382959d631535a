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

// From a function's result that IPSCCP gave a range, the inliner makes ranges of the function's calls of llvm.smin and
// its like. Where such a call is then made on both ways of a branch, LLVM 19 takes the range for true on both: s < 1 ?
// 1 : min(s, 9) becomes min(s, 9).
struct ForgetRanges : PassInfoMixin<ForgetRanges> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &) {
    function.removeRetAttr(Attribute::Range);
    return PreservedAnalyses::all();
  }
};

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "strata", STRATA_VERSION, [](PassBuilder &builder) {
            builder.registerPipelineStartEPCallback(
                [](ModulePassManager &passes, OptimizationLevel) { passes.addPass(StrataPasses()); });
            builder.registerPeepholeEPCallback(
                [](FunctionPassManager &passes, OptimizationLevel) { passes.addPass(ForgetRanges()); });
            builder.registerOptimizerLastEPCallback([](ModulePassManager &passes, OptimizationLevel level) {
              if (level != OptimizationLevel::O0) passes.addPass(createModuleToFunctionPassAdaptor(FuseProducts()));
            });
          }};
}
