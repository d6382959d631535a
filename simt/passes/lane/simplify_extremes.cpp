// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/simplify_extremes.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include "simt/analysis/extremes.h"

namespace strata::simt {
namespace {

bool widen(llvm::CallInst &call) {
  const Extreme extreme = extremeOf(&call);
  if (extreme == Extreme::none || call.use_empty() || !call.getType()->is16bitFPTy()) return false;
  const auto widens = [](const llvm::User *user) {
    return llvm::isa<llvm::FPExtInst>(user) && user->getType()->isFloatTy();
  };
  if (!llvm::all_of(call.users(), widens)) return false;
  llvm::IRBuilder<> builder(&call);
  llvm::Type *f32 = builder.getFloatTy();
  llvm::FunctionCallee wide = call.getModule()->getOrInsertFunction(
      "strata." + extremeName(extreme, "f32"), call.getCalledFunction()->getAttributes(), f32, f32, f32);
  llvm::Value *result = builder.CreateCall(
      wide, {builder.CreateFPExt(call.getArgOperand(0), f32), builder.CreateFPExt(call.getArgOperand(1), f32)});
  for (llvm::User *user : llvm::make_early_inc_range(call.users())) user->replaceAllUsesWith(result);
  return true;  // what is dead now goes with the passes that follow
}

// A number, be it as a wider one.
llvm::Value *narrow(llvm::Value *value) {
  auto *wide = llvm::dyn_cast<llvm::FPExtInst>(value);
  return wide ? wide->getOperand(0) : value;
}

bool compareOnce(llvm::SelectInst &select) {
  using namespace llvm::PatternMatch;
  auto *result = llvm::dyn_cast<llvm::CallInst>(select.getFalseValue());
  if (!result || extremeOf(result) == Extreme::none) return false;
  llvm::CmpInst::Predicate first, second;
  llvm::Value *a, *b;
  if (!match(select.getCondition(),
             m_And(m_FCmp(first, m_Value(a), m_AnyZeroFP()), m_FCmp(second, m_Value(b), m_AnyZeroFP()))))
    return false;
  if (first != llvm::CmpInst::FCMP_UNO || second != first) return false;
  const llvm::Value *x = narrow(result->getArgOperand(0)), *y = narrow(result->getArgOperand(1));
  a = narrow(a), b = narrow(b);
  if (!((a == x && b == y) || (a == y && b == x)) || llvm::isa<llvm::PHINode>(x) || llvm::isa<llvm::PHINode>(y))
    return false;
  llvm::IRBuilder<> builder(&select);
  select.setCondition(builder.CreateFCmpUNO(result, llvm::ConstantFP::getZero(result->getType())));
  return true;
}

}  // namespace

bool simplifyExtremes(llvm::Function &function) {
  bool changed = false;
  for (llvm::Instruction &i : llvm::make_early_inc_range(llvm::instructions(function)))
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&i)) changed |= widen(*call);
    else if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&i)) changed |= compareOnce(*select);
  return changed;
}

}  // namespace strata::simt
