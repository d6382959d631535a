// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/warp/sink_values.h"

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

// A round that ends by way of `fast`, or of one of `some` and `rest`, which may use %v, computed at its start.
std::string function(const std::string &fast, const std::string &some, const std::string &rest,
                     const std::string &meet = "") {
  return "define void @f(ptr %p, i32 %n) {\n"
         "start:\n br label %loop\n"
         "loop:\n %i = phi i32 [0, %start], [%next, %end]\n %u = mul i32 %i, 7\n %v = add i32 %u, %n\n"
         " %a = icmp ult i32 %i, 9\n br i1 %a, label %fast, label %test\n"
         "test:\n %b = icmp ult i32 %i, 99\n br i1 %b, label %some, label %rest\n"
         "fast:\n" +
         fast +
         " br label %end\n"
         "some:\n" +
         some +
         " br label %end\n"
         "rest:\n" +
         rest +
         " br label %end\n"
         "end:\n" +
         meet +
         " %next = add i32 %i, 1\n %c = icmp ult i32 %next, %n\n br i1 %c, label %loop, label %done\n"
         "done:\n ret void\n}\n";
}

// Where the product is computed after the pass, by the blocks' names.
std::string computedIn(const std::string &text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  if (!module) return "";
  llvm::Function &f = *module->getFunction("f");
  const bool changed = sinkValues(f);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string where;
  for (llvm::Instruction &i : llvm::instructions(f))
    if (i.getOpcode() == llvm::Instruction::Mul) where += i.getParent()->getName().str() + " ";
  EXPECT_EQ(changed, where != "loop ");
  return where;
}

const std::string kUse = " store volatile i32 %v, ptr %p\n";

TEST(SinkValues, OntoEachOfTheWaysThatNeedIt) { EXPECT_EQ(computedIn(function("", kUse, kUse)), "some rest "); }

TEST(SinkValues, OntoTheOnlyWay) { EXPECT_EQ(computedIn(function("", "", kUse)), "rest "); }

TEST(SinkValues, StaysWhereAllWaysNeedIt) { EXPECT_EQ(computedIn(function(kUse, kUse, kUse)), "loop "); }

TEST(SinkValues, IsNotComputedTwiceOnAnyWay) { EXPECT_EQ(computedIn(function("", kUse, "", kUse)), "loop "); }

TEST(SinkValues, OnEdges) {
  EXPECT_EQ(computedIn(function("", kUse, "",
                                " %m = phi i32 [0, %fast], [0, %some], [%v, %rest]\n store volatile i32 %m, ptr %p\n")),
            "some rest ");
}

TEST(SinkValues, NotIntoALoop) {
  const std::string again = " br label %again\nagain:\n %k = phi i32 [0, %rest], [%l, %again]\n %l = add i32 %k, 1\n" +
                            kUse + " %d = icmp ult i32 %l, 5\n br i1 %d, label %again, label %out\nout:\n";
  EXPECT_EQ(computedIn(function("", "", again)), "loop ");
}

TEST(SinkValues, ToWhereTheFunctionEnds) {
  const std::string fault =
      " %e = icmp eq i32 %i, 50\n br i1 %e, label %fault, label %on\nfault:\n" + kUse + " unreachable\non:\n";
  EXPECT_EQ(computedIn(function("", fault, "")), "fault ");
}

}  // namespace
