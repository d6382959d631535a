// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/count_rounds.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

using namespace strata::simt;

namespace {

// What the loop "for (i = tid; i < end; i += 256)" compares with when it has a counter; 0 without one. tid is 16 * y +
// x, below `threads`.
std::uint64_t rounds(unsigned threads, const std::string &end) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const std::string text =
      "declare i32 @tid.x()\n declare i32 @tid.y()\n declare void @g(i32)\n"
      "define void @f(i32 %n) {\n"
      "start:\n %x = call i32 @tid.x(), !range !0\n %y = call i32 @tid.y(), !range !1\n"
      " %row = shl nuw nsw i32 %y, 4\n %t = add nuw nsw i32 %row, %x\n br label %loop\n"
      "loop:\n %i = phi i32 [%t, %start], [%next, %loop]\n call void @g(i32 %i)\n"
      " %next = add nuw nsw i32 %i, 256\n %more = icmp ult i32 %next, " +
      end +
      "\n br i1 %more, label %loop, label %done\n"
      "done:\n ret void\n}\n!0 = !{i32 0, i32 16}\n!1 = !{i32 0, i32 " +
      std::to_string(threads / 16) + "}\n";
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  llvm::Function &f = *module->getFunction("f");
  countRounds(f);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  for (llvm::BasicBlock &block : f)
    if (auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator()); branch && branch->isConditional()) {
      auto *compare = llvm::cast<llvm::ICmpInst>(branch->getCondition());
      if (compare->isEquality()) return llvm::cast<llvm::ConstantInt>(compare->getOperand(1))->getZExtValue();
    }
  return 0;
}

TEST(CountRounds, TheSameForAllThreads) {
  EXPECT_EQ(rounds(256, "1024"), 4u);
  EXPECT_EQ(rounds(64, "832"), 4u);  // 63 + 3 * 256 = 831
}

TEST(CountRounds, NotWhereThreadsDiffer) {
  EXPECT_EQ(rounds(512, "1024"), 0u);
  EXPECT_EQ(rounds(64, "831"), 0u);
  EXPECT_EQ(rounds(256, "1000"), 0u);
}

TEST(CountRounds, NotWhereTheEndIsUnknown) { EXPECT_EQ(rounds(256, "%n"), 0u); }

TEST(CountRounds, NotWhereThereAreMany) { EXPECT_EQ(rounds(256, "65536"), 0u); }

}  // namespace
