// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/llvm_passes.h"

#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopDeletion.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

namespace strata::simt {

using llvm::Function;

Analyses::Analyses(llvm::TargetMachine *target) {
  llvm::PassBuilder builder(target);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
}

void Analyses::clear() {
  modules.clear();
  sccs.clear();
  functions.clear();
  loops.clear();
}

template <class... Passes>
static void run(Function &function, Analyses &analyses, Passes &&...passes) {
  llvm::FunctionPassManager manager;
  (manager.addPass(std::forward<Passes>(passes)), ...);
  manager.run(function, analyses.functions);
}

template <class... Passes>
static void run(llvm::Module &module, Analyses &analyses, Passes &&...passes) {
  llvm::ModulePassManager manager;
  (manager.addPass(std::forward<Passes>(passes)), ...);
  manager.run(module, analyses.modules);
}

template <class... Passes>
static auto loops(Passes &&...passes) {
  llvm::LoopPassManager manager;
  (manager.addPass(std::forward<Passes>(passes)), ...);
  return manager;
}

static llvm::SimplifyCFGPass simplifyBranches() {
  llvm::SimplifyCFGOptions options;
  options.needCanonicalLoops(true).hoistCommonInsts(true).sinkCommonInsts(false);
  return llvm::SimplifyCFGPass(options);
}

static llvm::SROAPass promote() { return llvm::SROAPass(llvm::SROAOptions::PreserveCFG); }
static llvm::GVNPass numbering() { return llvm::GVNPass(llvm::GVNOptions().setPRE(false).setLoadPRE(false)); }

void promoteRegisters(Function &function, Analyses &analyses) {
  run(function, analyses, promote(), llvm::EarlyCSEPass(), simplifyBranches());
}

void inlineFunctions(llvm::Module &module, Analyses &analyses) {
  run(module, analyses, llvm::AlwaysInlinerPass(/*InsertLifetime=*/false), llvm::GlobalDCEPass());
}

void combine(Function &function, Analyses &analyses) { run(function, analyses, llvm::InstCombinePass()); }

void simplify(Function &function, Analyses &analyses) {
  run(function, analyses, promote(), llvm::EarlyCSEPass(/*UseMemorySSA=*/true), simplifyBranches());
}

void rotateLoops(Function &function, Analyses &analyses) {
  run(function, analyses,
      llvm::createFunctionToLoopPassAdaptor(
          loops(llvm::LoopRotatePass(/*EnableHeaderDuplication=*/true), llvm::LICMPass(llvm::LICMOptions())),
          /*UseMemorySSA=*/true));
}

void unrollLoops(Function &function, Analyses &analyses) {
  run(function, analyses,
      llvm::createFunctionToLoopPassAdaptor(loops(llvm::IndVarSimplifyPass(/*WidenIndVars=*/false),
                                                  llvm::LoopDeletionPass(), llvm::LoopFullUnrollPass(/*OptLevel=*/2))));
}

void numberValues(Function &function, Analyses &analyses) {
  run(function, analyses, promote(), numbering(), llvm::InstCombinePass());
}

void dropDeadCode(Function &function, Analyses &analyses) {
  run(function, analyses, llvm::DSEPass(), llvm::ADCEPass(), simplifyBranches());
}

void promoteSlots(Function &function, Analyses &analyses) {
  run(function, analyses, llvm::PromotePass(), llvm::EarlyCSEPass(), llvm::InstCombinePass(), llvm::SimplifyCFGPass(),
      llvm::ADCEPass());
}

void cleanUp(Function &function, Analyses &analyses) {
  run(function, analyses, llvm::EarlyCSEPass(/*UseMemorySSA=*/true), llvm::InstCombinePass(), simplifyBranches(),
      llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true), numbering());
}

void dropUnused(llvm::Module &module, Analyses &analyses) {
  for (Function &function : module)
    if (!function.isDeclaration()) run(function, analyses, llvm::ADCEPass());
  run(module, analyses, llvm::GlobalDCEPass());
}

}  // namespace strata::simt
