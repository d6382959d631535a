// SPDX-License-Identifier: Apache-2.0
// The vectoriser as a whole: each lane function that the kernel reaches is prepared, analysed and written
// as a vector function; then the entry point of simt/abi.h is put around the kernel.
//
//   define void @strata_entry(ptr %block, ptr %warp)     ; no barrier: all warps of the block in one call
//     for each warp: set warp->index, ->lanes, ->exited; the kernel's vector form
//   define void @strata_entry(ptr %warp)                 ; barriers: one call, and one fiber, per warp
#include "simt/passes/vectorize.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include <deque>
#include <optional>

#include "simt/passes/forward_progress.h"
#include "simt/passes/function_emitter.h"
#include "simt/passes/prepare.h"

namespace strata::simt {
namespace {

using llvm::Function;

class Vectorizer {
public:
  Vectorizer(llvm::Module &module, Function &kernel, const VectorizeOptions &options)
      : module_(module), kernel_(kernel), threads_(options.compile),
        context_{module, threads_, options.compile.simd, report_, [this](Function &f) { return vectorFunction(f); }, {}} {
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
    result.entryKind = waits(kernel_) ? EntryKind::warp : EntryKind::block;
    Function *body = vectorFunction(kernel_);
    while (!todo_.empty()) {
      auto [lane, vector] = todo_.front();
      todo_.pop_front();
      write(*lane, *vector);
    }
    if (!context_.unsupported.empty()) return unsupported(context_.unsupported);
    if (result.entryKind == EntryKind::block)
      writeBlockEntry(*body);
    else
      writeWarpEntry(*body);
    removeLaneFunctions();
    std::string broken;
    llvm::raw_string_ostream stream(broken);
    if (llvm::verifyModule(module_, &stream)) return internalError("vectoriser: bad IR for " + kernelName_ + ": " + broken);
    result.report = report_.text();
    return result;
  }

private:
  // Whether the kernel or a function it may call waits for other warps.
  bool waits(Function &kernel) {
    std::vector<Function *> reached = {&kernel};
    for (std::size_t i = 0; i < reached.size(); ++i)
      for (llvm::Instruction &instruction : llvm::instructions(*reached[i])) {
        auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        Function *callee = call ? call->getCalledFunction() : nullptr;
        if (!callee || callee->isIntrinsic()) continue;
        LaneIntrinsic id = laneIntrinsic(*callee);
        if (id >= LaneIntrinsic::barrier && id <= LaneIntrinsic::clusterWait) return true;
        if (id == LaneIntrinsic::yield || id == LaneIntrinsic::nanosleep) return true;
        if (id == LaneIntrinsic::laneFunction && std::find(reached.begin(), reached.end(), callee) == reached.end())
          reached.push_back(callee);
      }
    return false;
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
    llvm::DominatorTree dominators(lane);
    llvm::LoopInfo loops(dominators);
    BlockOrder order(lane, loops);
    Uniformity uniformity(lane, loops, order, threads_);
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

  Function *createEntry(llvm::ArrayRef<llvm::Type *> parameters, Function &body) {
    llvm::LLVMContext &context = module_.getContext();
    auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), parameters, false);
    Function *entry = Function::Create(type, llvm::GlobalValue::ExternalLinkage, "strata_entry", module_);
    entry->copyAttributesFrom(&body);
    entry->setLinkage(llvm::GlobalValue::ExternalLinkage);
    llvm::BasicBlock::Create(context, "start", entry);
    return entry;
  }

  void writeWarpEntry(Function &body) {
    llvm::Type *pointer = llvm::PointerType::get(module_.getContext(), 0);
    Function *entry = createEntry({pointer}, body);
    llvm::IRBuilder<> builder(&entry->getEntryBlock());
    llvm::CallInst *call = builder.CreateCall(&body, {entry->getArg(0)});
    builder.CreateRetVoid();
    inlineBody(*call, body);
  }

  // The body becomes part of the entry, with its place in the source: what is the same for all warps of the
  // block can then move out of the loop over them.
  void inlineBody(llvm::CallInst &call, Function &body) {
    Function *entry = call.getFunction();
    llvm::DISubprogram *source = body.getSubprogram();
    body.setSubprogram(nullptr);
    llvm::InlineFunctionInfo info;
    bool inlined = llvm::InlineFunction(call, info, /*MergeAttributes=*/false, nullptr, /*InsertLifetime=*/false).isSuccess();
    (inlined ? entry : &body)->setSubprogram(source);
    if (inlined) body.eraseFromParent();
  }

  void writeBlockEntry(Function &body) {
    llvm::Type *pointer = llvm::PointerType::get(module_.getContext(), 0);
    Function *entry = createEntry({pointer, pointer}, body);
    llvm::Argument *block = entry->getArg(0), *warp = entry->getArg(1);
    llvm::BasicBlock *start = &entry->getEntryBlock();
    auto *loop = llvm::BasicBlock::Create(module_.getContext(), "warp", entry);
    auto *done = llvm::BasicBlock::Create(module_.getContext(), "done", entry);
    llvm::IRBuilder<> builder(start);
    auto at = [&](llvm::Value *base, std::size_t offset) {
      return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
    };
    llvm::Value *threads = builder.CreateLoad(builder.getInt32Ty(), at(block, offsetof(Block, threads)));
    llvm::Value *warps = builder.CreateLoad(builder.getInt32Ty(), at(block, offsetof(Block, warps)));
    builder.CreateBr(loop);
    builder.SetInsertPoint(loop);
    llvm::PHINode *index = builder.CreatePHI(builder.getInt32Ty(), 2, "index");
    index->addIncoming(builder.getInt32(0), start);
    // lanes: the low min(threads - 32*index, 32) bits.
    llvm::Value *left = builder.CreateSub(threads, builder.CreateShl(index, builder.getInt32(5)));
    llvm::Value *full = builder.CreateICmpUGE(left, builder.getInt32(kLanes));
    llvm::Value *some = builder.CreateSub(
        builder.CreateShl(builder.getInt32(1), builder.CreateAnd(left, builder.getInt32(31))), builder.getInt32(1));
    builder.CreateStore(index, at(warp, offsetof(Warp, index)));
    builder.CreateStore(builder.CreateSelect(full, builder.getInt32(~0u), some), at(warp, offsetof(Warp, lanes)));
    builder.CreateStore(builder.getInt32(0), at(warp, offsetof(Warp, exited)));
    llvm::CallInst *call = builder.CreateCall(&body, {warp});
    llvm::Value *next = builder.CreateAdd(index, builder.getInt32(1));
    index->addIncoming(next, loop);
    builder.CreateCondBr(builder.CreateICmpULT(next, warps), loop, done);
    builder.SetInsertPoint(done);
    builder.CreateRetVoid();
    inlineBody(*call, body);
  }

  void removeLaneFunctions() {
    std::vector<Function *> dead;
    for (Function &function : module_)
      if (function.hasFnAttribute("strata.kernel") || function.hasFnAttribute("strata.function") || vectors_.count(&function) ||
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
