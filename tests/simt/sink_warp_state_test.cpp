// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/warp/sink_warp_state.h"

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

// A loop over warps that writes index (offset 8) and lanes (12); `rest` is what a warp does after its check.
std::string kernel(const std::string &rest) {
  return "declare void @fault(ptr) noreturn\n declare void @print(ptr)\n"
         "define void @strata_entry(ptr %block, ptr %warp) {\n"
         "start:\n br label %loop\n"
         "loop:\n %i = phi i32 [0, %start], [%n, %rest]\n"
         " %index = getelementptr i8, ptr %warp, i64 8\n store i32 %i, ptr %index\n"
         " %lanes = getelementptr i8, ptr %warp, i64 12\n store i32 -1, ptr %lanes\n"
         " %bad = icmp eq i32 %i, 77\n br i1 %bad, label %stop, label %rest\n"
         "stop:\n call void @fault(ptr %warp)\n unreachable\n"
         "rest:\n" +
         rest +
         " %n = add i32 %i, 1\n %more = icmp ult i32 %n, 99\n br i1 %more, label %loop, label %done\n"
         "done:\n ret void\n}\n";
}

struct Sunk {
  bool changed = false;
  unsigned inLoop = 0, inStop = 0;  // stores
};

Sunk sink(const std::string &rest) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(kernel(rest), diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  llvm::Function &function = *module->getFunction("strata_entry");
  Sunk sunk{sinkWarpState(function)};
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  for (llvm::Instruction &i : llvm::instructions(function))
    if (llvm::isa<llvm::StoreInst>(i)) ++(i.getParent()->getName() == "stop" ? sunk.inStop : sunk.inLoop);
  return sunk;
}

TEST(SinkWarpState, StoresMoveToTheFault) {
  Sunk sunk = sink("");
  EXPECT_TRUE(sunk.changed);
  EXPECT_EQ(sunk.inLoop, 0u);
  EXPECT_EQ(sunk.inStop, 2u);
}

TEST(SinkWarpState, StoresStayWhereACallReturns) {
  Sunk sunk = sink(" call void @print(ptr %warp)\n");
  EXPECT_FALSE(sunk.changed);
  EXPECT_EQ(sunk.inLoop, 2u);
}

TEST(SinkWarpState, StoresStayWhereTheStateIsRead) {
  EXPECT_FALSE(sink(" %l = load i32, ptr %lanes\n store i32 %l, ptr %block\n").changed);
}

}  // namespace
