// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

#include "simt/lower/widen_extremes.h"

using namespace strata::simt;

namespace {

// The function that is called for the result %r, after the pass; `uses` ends with a return of a float.
std::string called(const std::string &type, const std::string &name, const std::string &uses) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString("declare " + type + " @" + name + "(" + type + ", " + type + ")\n"
                                          "define float @f(" + type + " %a, " + type + " %b, ptr %p) {\n"
                                          " %r = call " + type + " @" + name + "(" + type + " %a, " + type + " %b)\n" + uses + "}\n",
                                          diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  widenExtremes(*module->getFunction("f"));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  for (const llvm::Function &function : *module)
    if (function.isDeclaration() && function.getReturnType()->isFloatTy() && !function.use_empty()) return function.getName().str();
  return name;
}

std::string widened(const std::string &type) { return " %w = fpext " + type + " %r to float\n ret float %w\n"; }

TEST(WidenExtremes, OfHalvesUsedAsFloats) {
  EXPECT_EQ(called("half", "strata.fmax.f16", widened("half")), "strata.fmax.f32");
  EXPECT_EQ(called("bfloat", "strata.fmin.bf16", widened("bfloat")), "strata.fmin.f32");
}

TEST(WidenExtremes, NotWhereAHalfIsWanted) {
  EXPECT_EQ(called("half", "strata.fmax.f16", " store half %r, ptr %p\n" + widened("half")), "strata.fmax.f16");
  EXPECT_EQ(called("half", "strata.fmax.f16", " %w = fpext half %r to double\n %n = fptrunc double %w to float\n ret float %n\n"), "strata.fmax.f16");
  EXPECT_EQ(called("half", "strata.fadd.rz.f16", widened("half")), "strata.fadd.rz.f16");
}

}  // namespace
