// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/lane/register_zeros.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>

using namespace strata::simt;

namespace {

// Whether the zero of register %r stays in a function with this body.
bool zeroStays(const std::string &body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(
      "define void @f(i1 %c, ptr %out, i32 %x) {\nentry:\n %r = alloca i32\n"
      " store i32 0, ptr %r\n br label %body\nbody:\n" +
          body + "}\n",
      diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  llvm::Function &f = *module->getFunction("f");
  dropUnreadZeros(f);
  return llvm::any_of(f.getEntryBlock(), [](const llvm::Instruction &i) { return llvm::isa<llvm::StoreInst>(i); });
}

const std::string kWrite = " store i32 %x, ptr %r\n";

std::string read(const std::string &name) {
  return " %" + name + " = load i32, ptr %r\n store i32 %" + name + ", ptr %out\n";
}

}  // namespace

TEST(RegisterZeros, GoesIfTheOneWriteIsBeforeAllReads) {
  EXPECT_FALSE(zeroStays(kWrite + read("a") + " ret void\n"));
  EXPECT_FALSE(zeroStays(kWrite + " br i1 %c, label %one, label %two\none:\n" + read("a") + " br label %two\ntwo:\n" +
                         read("b") + " ret void\n"));
  EXPECT_FALSE(zeroStays(" br label %loop\nloop:\n" + kWrite + read("a") +
                         " br i1 %c, label %loop, label %end\nend:\n ret void\n"));
}

TEST(RegisterZeros, StaysWhereAReadMaySeeIt) {
  EXPECT_TRUE(zeroStays(read("a") + kWrite + " ret void\n"));
  EXPECT_TRUE(zeroStays(" br i1 %c, label %one, label %two\none:\n" + kWrite + " br label %two\ntwo:\n" + read("a") +
                        " ret void\n"));
  EXPECT_TRUE(zeroStays(" br label %loop\nloop:\n" + read("a") + kWrite +
                        " br i1 %c, label %loop, label %end\nend:\n ret void\n"));
  EXPECT_TRUE(zeroStays(read("a") + " ret void\n"));
}

TEST(RegisterZeros, StaysWithSeveralWritesOrOtherUses) {
  EXPECT_TRUE(zeroStays(kWrite + read("a") + kWrite + " ret void\n"));
  EXPECT_TRUE(zeroStays(kWrite + " store ptr %r, ptr %out\n ret void\n"));
}
