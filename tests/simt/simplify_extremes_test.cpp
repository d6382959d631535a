// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/simplify_extremes.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

using namespace strata::simt;

namespace {

// The function that is called for the result %r, after the pass; `uses` ends with a return of a float.
std::string called(const std::string &type, const std::string &name, const std::string &uses) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module =
      llvm::parseAssemblyString("declare " + type + " @" + name + "(" + type + ", " + type +
                                    ")\n"
                                    "define float @f(" +
                                    type + " %a, " + type +
                                    " %b, ptr %p) {\n"
                                    " %r = call " +
                                    type + " @" + name + "(" + type + " %a, " + type + " %b)\n" + uses + "}\n",
                                diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  simplifyExtremes(*module->getFunction("f"));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  for (const llvm::Function &function : *module)
    if (function.isDeclaration() && function.getReturnType()->isFloatTy() && !function.use_empty())
      return function.getName().str();
  return name;
}

std::string widened(const std::string &type) { return " %w = fpext " + type + " %r to float\n ret float %w\n"; }

TEST(SimplifyExtremes, OfHalvesUsedAsFloats) {
  EXPECT_EQ(called("half", "strata.fmax.f16", widened("half")), "strata.fmax.f32");
  EXPECT_EQ(called("bfloat", "strata.fmin.bf16", widened("bfloat")), "strata.fmin.f32");
}

TEST(SimplifyExtremes, NotWhereAHalfIsWanted) {
  EXPECT_EQ(called("half", "strata.fmax.f16", " store half %r, ptr %p\n" + widened("half")), "strata.fmax.f16");
  EXPECT_EQ(called("half", "strata.fmax.f16",
                   " %w = fpext half %r to double\n %n = fptrunc double %w to float\n ret float %n\n"),
            "strata.fmax.f16");
  EXPECT_EQ(called("half", "strata.fadd.rz.f16", widened("half")), "strata.fadd.rz.f16");
}

// How many comparisons choose the NaN of the greater of %a and %b; `x` is what is compared with it.
unsigned comparisons(const std::string &x, const std::string &predicate) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(
      "declare float @strata.fmax.f32(float, float)\n"
      "define float @f(float %a, float %b, float %c, i1 %go) {\n"
      "entry:\n br label %loop\n"
      "loop:\n %phi = phi float [%c, %entry], [%s, %loop]\n"
      " %r = call float @strata.fmax.f32(float " +
          x +
          ", float %b)\n"
          " %m = fcmp " +
          predicate + " float " + x +
          ", 0.0\n %n = fcmp uno float %b, 0.0\n %both = and i1 %m, %n\n"
          " %s = select i1 %both, float 0x7FFFFFFFE0000000, float %r\n br i1 %go, label %loop, label %done\n"
          "done:\n ret float %s\n}\n",
      diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  llvm::Function &f = *module->getFunction("f");
  simplifyExtremes(f);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  for (llvm::Instruction &i : llvm::instructions(f))
    if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&i))
      return llvm::isa<llvm::FCmpInst>(select->getCondition()) ? 1 : 2;
  return 0;
}

TEST(SimplifyExtremes, OneComparisonFindsTheNan) { EXPECT_EQ(comparisons("%a", "uno"), 1u); }

TEST(SimplifyExtremes, TwoWhereItGoesAround) { EXPECT_EQ(comparisons("%phi", "uno"), 2u); }

TEST(SimplifyExtremes, NotOfAnotherQuestion) { EXPECT_EQ(comparisons("%a", "ueq"), 2u); }

}  // namespace
