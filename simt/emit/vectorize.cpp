// SPDX-License-Identifier: Apache-2.0
// The vectoriser as a whole: each lane function that the kernel reaches is prepared, analysed and written
// as a vector function; then the entry point of simt/abi.h is put around the kernel (kernel_entry.h).
#include "simt/emit/vectorize.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include <deque>
#include <optional>

#include "simt/emit/function_emitter.h"
#include "simt/emit/kernel_entry.h"
#include "simt/passes/lane/forward_progress.h"
#include "simt/passes/lane/idle_blocks.h"
#include "simt/passes/lane/prepare.h"
#include "simt/passes/lane/specialize_full_rounds.h"
#include "simt/passes/warp/prefetch_strides.h"
#include "simt/passes/warp/split_at_barriers.h"

namespace strata::simt {
namespace {

using llvm::Function;

constexpr std::uint64_t kMostLocalBytes = 512;  // of a lane, for barriers without fibers

class Vectorizer {
public:
  Vectorizer(llvm::Module &module, Function &kernel, const VectorizeOptions &options)
      : module_(module),
        kernel_(kernel),
        threads_(options.compile),
        context_{
            module, threads_, options.compile.simd, report_, [this](Function &f) { return vectorFunction(f); }, false,
            false,  {}} {
    passBuilder_.registerModuleAnalyses(moduleAnalyses_);
    passBuilder_.registerCGSCCAnalyses(cgsccAnalyses_);
    passBuilder_.registerFunctionAnalyses(analyses_);
    passBuilder_.registerLoopAnalyses(loopAnalyses_);
    passBuilder_.crossRegisterProxies(loopAnalyses_, analyses_, cgsccAnalyses_, moduleAnalyses_);
  }

  Result<VectorizeResult> run() {
    VectorizeResult result;
    if (std::optional<std::string> reason = needsLaneMode(kernel_, threads_, analyses_)) {
      result.needsLaneMode = true;
      result.laneModeReason = *reason;
      return result;
    }
    for (Function &function : module_)
      if (!function.isDeclaration()) insertYields(function);
    waits_ = waitsOf(kernel_);
    context_.splitsAtBarriers = waits_ == Waits::blockBarriers;
    Function *idle = waits_ == Waits::anyhow ? nullptr : writeIdleTest(kernel_);
    Function *body = vectorFunction(kernel_);
    while (!todo_.empty()) {
      auto [lane, vector] = todo_.front();
      todo_.pop_front();
      write(*lane, *vector);
    }
    if (!context_.unsupported.empty()) return unsupported(context_.unsupported);
    result.entryKind = waits_ == Waits::anyhow ? EntryKind::warp : EntryKind::block;
    if (waits_ == Waits::no) writeBlockEntry(*body, idle);
    if (waits_ == Waits::anyhow) writeWarpEntry(*body);
    if (waits_ == Waits::blockBarriers) {
      prefetchBarrierLoops(*body);
      const SplitWarp split = splitAtBarriers(*body);
      result.takesTurns = split.takesTurns && kernel_.hasFnAttribute(kSideBySide);
      writeBarrierEntry(split, threads_, result.takesTurns, idle);
    }
    removeLaneFunctions();
    std::string broken;
    llvm::raw_string_ostream stream(broken);
    if (llvm::verifyModule(module_, &stream))
      return internalError("vectoriser: bad IR for " + kernelName_ + ": " + broken);
    result.report = report_.text();
    return result;
  }

private:
  // How the kernel and the functions that it may call wait for other warps.
  enum class Waits { no, blockBarriers, anyhow };

  Waits waitsOf(Function &kernel) {
    Waits waits = Waits::no;
    bool calls = false;
    std::vector<Function *> reached = {&kernel};
    for (std::size_t i = 0; i < reached.size(); ++i)
      for (llvm::Instruction &instruction : llvm::instructions(*reached[i])) {
        auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        Function *callee = call ? call->getCalledFunction() : nullptr;
        if (!callee || callee->isIntrinsic()) continue;
        LaneIntrinsic id = laneIntrinsic(*callee);
        if (id == LaneIntrinsic::barrier && isWholeBlock(*call)) waits = Waits::blockBarriers;
        else if (isBarrier(id)) return Waits::anyhow;
        if (id == LaneIntrinsic::yield || id == LaneIntrinsic::nanosleep) return Waits::anyhow;
        if (id != LaneIntrinsic::laneFunction) continue;
        calls = true;
        if (std::find(reached.begin(), reached.end(), callee) == reached.end()) reached.push_back(callee);
      }
    // A part of a warp ends in the kernel itself, and its lanes exit there only; its variables must fit on one stack.
    splittable_ = !calls && localBytes(kernel) <= kMostLocalBytes;
    return waits == Waits::blockBarriers && !splittable_ ? Waits::anyhow : waits;
  }

  // A kernel that does not wait is split where its warps take turns, which `prepare` has found.
  void splitAtTurns(Function &kernel) {
    if (waits_ != Waits::no || !splittable_) return;
    for (llvm::Instruction &i : llvm::instructions(kernel)) {
      if (calledIntrinsic(i) != LaneIntrinsic::turn) continue;
      waits_ = Waits::blockBarriers;
      context_.splitsAtBarriers = true;
      return;
    }
  }

  static bool isWholeBlock(const llvm::CallBase &barrier) {
    return llvm::all_of(barrier.args(), [](const llvm::Use &operand) {
      auto *constant = llvm::dyn_cast<llvm::ConstantInt>(operand);
      return constant && constant->isZero();
    });
  }

  static std::uint64_t localBytes(Function &kernel) {
    const llvm::DataLayout &layout = kernel.getParent()->getDataLayout();
    std::uint64_t sum = 0;
    for (llvm::Instruction &i : llvm::instructions(kernel))
      if (auto *alloca = llvm::dyn_cast<llvm::AllocaInst>(&i))
        if (auto size = alloca->getAllocationSize(layout)) sum += size->getFixedValue();
    return sum;
  }

  Function *vectorFunction(Function &lane) {
    Function *&vector = vectors_[&lane];
    if (vector) return vector;
    llvm::LLVMContext &context = module_.getContext();
    std::vector<llvm::Type *> parameters = {llvm::PointerType::get(context, 0)};
    if (&lane != &kernel_) {
      parameters.push_back(llvm::Type::getInt32Ty(context));
      for (llvm::Argument &argument : llvm::drop_begin(lane.args()))
        parameters.push_back(FunctionEmitter::widen(argument.getType()));
    }
    auto *type = llvm::FunctionType::get(FunctionEmitter::widen(lane.getReturnType()), parameters, false);
    vector = Function::Create(type, llvm::GlobalValue::InternalLinkage, lane.getName() + ".warp", module_);
    for (llvm::StringRef name : {"target-cpu", "target-features", "prefer-vector-width", "min-legal-vector-width"})
      if (lane.hasFnAttribute(name)) vector->addFnAttr(lane.getFnAttribute(name));
    vector->addFnAttr(llvm::Attribute::NoUnwind);
    todo_.push_back({&lane, vector});
    return vector;
  }

  void write(Function &lane, Function &vector) {
    prepare(lane, threads_, analyses_);
    if (&lane == &kernel_) splitAtTurns(lane);
    context_.countsThreads = &lane == &kernel_ && waits_ == Waits::no && threads_.warpsAreRows() && !threads_.exact();
    llvm::DominatorTree dominators(lane);
    llvm::LoopInfo loops(dominators);
    BlockOrder order(lane, loops);
    Uniformity uniformity(lane, loops, order, threads_);
    report_.noteVersions(lane);
    FunctionEmitter(context_, lane, vector, loops, order, uniformity, dominators).run(&lane == &kernel_);
    vector.setSubprogram(lane.getSubprogram());
    lane.setSubprogram(nullptr);
    if (!context_.unsupported.empty()) return;
    llvm::removeUnreachableBlocks(vector);
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::PromotePass());
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::ADCEPass());
    passes.run(vector, analyses_);
    analyses_.clear();
  }

  void removeLaneFunctions() {
    std::vector<Function *> dead;
    for (Function &function : module_)
      if (function.hasFnAttribute("strata.kernel") || function.hasFnAttribute("strata.function") ||
          vectors_.count(&function) ||
          (function.isDeclaration() && function.getName().starts_with("strata.") && function.use_empty()))
        dead.push_back(&function);
    for (Function *function : dead) {
      function->dropAllReferences();
      function->setSubprogram(nullptr);
    }
    for (Function *function : dead) {
      function->replaceAllUsesWith(llvm::PoisonValue::get(function->getType()));
      function->eraseFromParent();
    }
    for (Function &function : llvm::make_early_inc_range(module_))
      if (function.isDeclaration() && function.use_empty()) function.eraseFromParent();
  }

  llvm::Module &module_;
  Function &kernel_;
  const std::string kernelName_ = kernel_.getName().str();
  ThreadIndex threads_;
  Report report_;
  EmitContext context_;
  Waits waits_ = Waits::no;
  bool splittable_ = false;  // at barriers and turns
  std::unordered_map<Function *, Function *> vectors_;
  std::deque<std::pair<Function *, Function *>> todo_;

  llvm::PassBuilder passBuilder_;
  llvm::LoopAnalysisManager loopAnalyses_;
  llvm::FunctionAnalysisManager analyses_;
  llvm::CGSCCAnalysisManager cgsccAnalyses_;
  llvm::ModuleAnalysisManager moduleAnalyses_;
};

}  // namespace

Result<VectorizeResult> vectorize(llvm::Module &module, Function &kernel, const VectorizeOptions &options) {
  return Vectorizer(module, kernel, options).run();
}

}  // namespace strata::simt
