// SPDX-License-Identifier: Apache-2.0
#include "simt/emit/vectorize.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>

#include <deque>
#include <optional>

#include "simt/emit/function_emitter.h"
#include "simt/passes/lane/specialize_full_rounds.h"

namespace strata::simt {
namespace {

using llvm::Function;

constexpr std::uint64_t kMostLocalBytes = 512;  // of a lane, for barriers without fibers

class Vectorizer {
public:
  Vectorizer(llvm::Module &module, Function &kernel, const ThreadIndex &threads, Simd simd, Report &report)
      : module_(module),
        kernel_(kernel),
        threads_(threads),
        report_(report),
        context_{module, threads, simd, report, [this](Function &f) { return vectorFunction(f); }, false, false, {}} {}

  Result<WarpCode> run() {
    const Waits waits = waitsOf(kernel_);
    context_.splitsAtBarriers = waits == Waits::blockBarriers;
    context_.countsThreads = waits == Waits::no && threads_.warpsAreRows() && !threads_.exact();
    const WarpCode code = {vectorFunction(kernel_), waits, kernel_.hasFnAttribute(kSideBySide), onlyTurns_};
    while (!todo_.empty()) {
      auto [lane, vector] = todo_.front();
      todo_.pop_front();
      write(*lane, *vector);
    }
    if (!context_.unsupported.empty()) return unsupported(context_.unsupported);
    removeLaneFunctions();
    return code;
  }

private:
  Waits waitsOf(Function &kernel) {
    Waits waits = Waits::no;
    bool calls = false, turns = false;
    std::vector<Function *> reached = {&kernel};
    for (std::size_t i = 0; i < reached.size(); ++i)
      for (llvm::Instruction &instruction : llvm::instructions(*reached[i])) {
        auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        Function *callee = call ? call->getCalledFunction() : nullptr;
        if (!callee || callee->isIntrinsic()) continue;
        LaneIntrinsic id = laneIntrinsic(*callee);
        turns |= id == LaneIntrinsic::turn;
        if (id == LaneIntrinsic::barrier && isWholeBlock(*call)) waits = Waits::blockBarriers;
        else if (isBarrier(id)) return Waits::anyhow;
        if (const IntrinsicRow *row = rowOf(id); row && row->waits == IntrinsicRow::Waits::others) return Waits::anyhow;
        if (id != LaneIntrinsic::laneFunction) continue;
        calls = true;
        if (std::find(reached.begin(), reached.end(), callee) == reached.end()) reached.push_back(callee);
      }
    // A part of a warp ends in the kernel itself, and its lanes exit there only; its variables must fit on one stack.
    const bool splittable = !calls && localBytes(kernel) <= kMostLocalBytes;
    if (waits == Waits::blockBarriers && !splittable) return Waits::anyhow;
    // A kernel that does not wait is split where its warps take turns.
    onlyTurns_ = waits == Waits::no && turns && splittable;
    return onlyTurns_ ? Waits::blockBarriers : waits;
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
    llvm::DominatorTree dominators(lane);
    llvm::LoopInfo loops(dominators);
    BlockOrder order(lane, loops);
    Uniformity uniformity(lane, loops, order, threads_);
    report_.noteVersions(lane);
    FunctionEmitter(context_, lane, vector, loops, order, uniformity, dominators).run(&lane == &kernel_);
    vector.setSubprogram(lane.getSubprogram());
    lane.setSubprogram(nullptr);
    llvm::removeUnreachableBlocks(vector);
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
  const ThreadIndex &threads_;
  Report &report_;
  EmitContext context_;
  bool onlyTurns_ = false;
  std::unordered_map<Function *, Function *> vectors_;
  std::deque<std::pair<Function *, Function *>> todo_;
};

}  // namespace

Result<WarpCode> vectorize(llvm::Module &module, Function &kernel, const ThreadIndex &threads, Simd simd,
                           Report &report) {
  return Vectorizer(module, kernel, threads, simd, report).run();
}

}  // namespace strata::simt
