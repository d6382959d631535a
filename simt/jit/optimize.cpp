// SPDX-License-Identifier: Apache-2.0
#include "simt/jit/optimize.h"

#include <llvm/IR/InstIterator.h>
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
#include <llvm/Transforms/Scalar/Reassociate.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "simt/jit/machine_calls.h"
#include "simt/passes/lane/alignment_checks.h"
#include "simt/passes/lane/count_rounds.h"
#include "simt/passes/lane/recover_pointers.h"
#include "simt/passes/lane/register_zeros.h"
#include "simt/passes/lane/simplify_extremes.h"
#include "simt/passes/warp/prefetch_blocks.h"
#include "simt/passes/warp/prefetch_strides.h"
#include "simt/passes/warp/raise_operations.h"
#include "simt/passes/warp/sink_loads.h"
#include "simt/passes/warp/sink_values.h"
#include "simt/passes/warp/sink_warp_state.h"
#include "simt/passes/warp/stream_stores.h"

namespace strata::simt {
namespace {

// A pass made from a function on a function.
template <auto fn>
struct FunctionStep : llvm::PassInfoMixin<FunctionStep<fn>> {
  llvm::PreservedAnalyses run(llvm::Function &f, llvm::FunctionAnalysisManager &) {
    fn(f);
    return llvm::PreservedAnalyses::none();
  }
};

// New-style pass manager's analyses for one run over a module.
struct Analyses {
  explicit Analyses(llvm::TargetMachine &target) {
    llvm::PassBuilder builder(&target);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(sccs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, sccs, modules);
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
};

bool reaches(llvm::Function &from, const llvm::Function &to, llvm::SmallPtrSetImpl<llvm::Function *> &seen) {
  for (llvm::Instruction &i : llvm::instructions(from)) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(&i);
    llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
    if (!callee || callee->isDeclaration()) continue;
    if (callee == &to || (seen.insert(callee).second && reaches(*callee, to, seen))) return true;
  }
  return false;
}

// Functions are inlined, except recursive ones, and where that would make far too much code: there the calls that
// cost most of it stay.
class InliningChoice {
public:
  explicit InliningChoice(llvm::Module &module) : module_(module) {}

  void make() {
    for (llvm::Function &f : module_) {
      if (f.isDeclaration() || f.hasFnAttribute("strata.kernel")) continue;
      llvm::SmallPtrSet<llvm::Function *, 8> seen;
      f.addFnAttr(reaches(f, f, seen) ? llvm::Attribute::NoInline : llvm::Attribute::AlwaysInline);
    }
    while (tooLarge()) {
      llvm::Function *worst = costliest();
      if (!worst) return;
      worst->removeFnAttr(llvm::Attribute::AlwaysInline);
      worst->addFnAttr(llvm::Attribute::NoInline);
    }
  }

private:
  static constexpr std::uint64_t kMost = 20'000;  // instructions of a function, with what is inlined
  static constexpr std::uint64_t kWorthACall = 1'000;

  static bool isInlined(const llvm::Function &f) { return f.hasFnAttribute(llvm::Attribute::AlwaysInline); }

  bool tooLarge() {
    sizes_.clear();
    return llvm::any_of(module_,
                        [&](llvm::Function &f) { return !f.isDeclaration() && !isInlined(f) && sizeOf(f) > kMost; });
  }

  // With what is inlined, of which nothing is recursive.
  std::uint64_t sizeOf(llvm::Function &f) {
    if (auto known = sizes_.find(&f); known != sizes_.end()) return known->second;
    std::uint64_t size = 0;
    for (llvm::Instruction &i : llvm::instructions(f)) {
      auto *call = llvm::dyn_cast<llvm::CallInst>(&i);
      llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
      size += callee && isInlined(*callee) ? sizeOf(*callee) : 1;
    }
    return sizes_[&f] = size;
  }

  // The function whose copies beyond the first are most code, or null.
  llvm::Function *costliest() {
    llvm::Function *worst = nullptr;
    std::uint64_t most = 0;
    for (llvm::Function &f : module_) {
      if (f.isDeclaration() || !isInlined(f) || sizeOf(f) <= kWorthACall) continue;
      const std::uint64_t cost = (f.getNumUses() - 1) * sizeOf(f);
      if (f.getNumUses() > 1 && cost > most) most = cost, worst = &f;
    }
    return worst;
  }

  llvm::Module &module_;
  llvm::DenseMap<const llvm::Function *, std::uint64_t> sizes_;
};

llvm::SimplifyCFGOptions branches() {
  llvm::SimplifyCFGOptions options;
  options.needCanonicalLoops(true).hoistCommonInsts(true).sinkCommonInsts(false);
  return options;
}

void addLoopPasses(llvm::FunctionPassManager &f) {
  llvm::LoopPassManager first;
  first.addPass(llvm::LoopRotatePass(/*EnableHeaderDuplication=*/true));
  first.addPass(llvm::LICMPass(llvm::LICMOptions()));
  f.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(first), /*UseMemorySSA=*/true));
  f.addPass(FunctionStep<countRounds>());
  llvm::LoopPassManager second;
  second.addPass(llvm::IndVarSimplifyPass(/*WidenIndVars=*/false));
  second.addPass(llvm::LoopDeletionPass());
  second.addPass(llvm::LoopFullUnrollPass(/*OptLevel=*/2));
  f.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(second)));
}

}  // namespace

void optimizeLane(llvm::Module &module, llvm::TargetMachine &target) {
  Analyses analyses(target);
  InliningChoice(module).make();
  llvm::FunctionPassManager early;
  early.addPass(FunctionStep<dropUnreadZeros>());
  early.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  early.addPass(llvm::EarlyCSEPass());
  early.addPass(llvm::SimplifyCFGPass(branches()));
  llvm::ModulePassManager inlining;
  inlining.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(early)));
  inlining.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  inlining.addPass(llvm::GlobalDCEPass());
  inlining.run(module, analyses.modules);
  lowerKernelExits(module);

  llvm::FunctionPassManager main;
  main.addPass(llvm::InstCombinePass());
  main.addPass(FunctionStep<recoverPointers>());
  main.addPass(FunctionStep<simplifyAlignmentChecks>());  // SROA needs arrays whose addresses go nowhere
  main.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  main.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  main.addPass(llvm::SimplifyCFGPass(branches()));
  addLoopPasses(main);
  main.addPass(FunctionStep<recoverPointers>());
  main.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));  // arrays that unrolling gave constant indices
  main.addPass(llvm::GVNPass(llvm::GVNOptions().setPRE(false).setLoadPRE(false)));
  main.addPass(llvm::InstCombinePass());
  main.addPass(FunctionStep<simplifyAlignmentChecks>());
  main.addPass(FunctionStep<simplifyExtremes>());
  main.addPass(llvm::DSEPass());
  main.addPass(llvm::ADCEPass());
  main.addPass(llvm::SimplifyCFGPass(branches()));
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(main)));
  analyses.functions.clear();
  passes.run(module, analyses.modules);
}

void optimizeMachine(llvm::Module &module, llvm::TargetMachine &target) {
  Analyses analyses(target);
  llvm::FunctionPassManager f;
  f.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  f.addPass(llvm::InstCombinePass());
  f.addPass(llvm::SimplifyCFGPass(branches()));
  f.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  f.addPass(llvm::GVNPass(llvm::GVNOptions().setPRE(false).setLoadPRE(false)));
  f.addPass(FunctionStep<sinkLoads>());
  f.addPass(FunctionStep<sinkWarpState>());
  f.addPass(FunctionStep<sinkValues>());
  f.addPass(FunctionStep<prefetchPlainLoops>());
  f.addPass(FunctionStep<streamStores>());
  f.addPass(FunctionStep<prefetchBlocks>());
  f.addPass(FunctionStep<raiseOperations>());
  f.addPass(llvm::ADCEPass());
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(f)));
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, analyses.modules);
}

}  // namespace strata::simt
