// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/choose_inlining.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace strata::simt {
namespace {

bool reaches(llvm::Function &from, const llvm::Function &to, llvm::SmallPtrSetImpl<llvm::Function *> &seen) {
  for (llvm::Instruction &i : llvm::instructions(from)) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(&i);
    llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
    if (!callee || callee->isDeclaration()) continue;
    if (callee == &to || (seen.insert(callee).second && reaches(*callee, to, seen))) return true;
  }
  return false;
}

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

}  // namespace

void chooseInlining(llvm::Module &module) { InliningChoice(module).make(); }

}  // namespace strata::simt
