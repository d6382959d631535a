// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/warp/sink_loads.h"

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

// A block that loads a vector, does `rest`, and goes on to `fill` or, as another block does, to `done`; `used` is what
// `fill` does.
std::string function(const std::string &rest, const std::string &used) {
  return "declare void @llvm.assume(i1)\n"
         "define <16 x float> @f(ptr %frame, ptr %p, i1 %first, i1 %more) {\n"
         "start:\n br i1 %first, label %resume, label %other\n"
         "other:\n br label %done\n"
         "resume:\n %v = load <16 x float>, ptr %frame\n" +
         rest +
         " br i1 %more, label %fill, label %done\n"
         "fill:\n" +
         used +
         " ret <16 x float> zeroinitializer\n"
         "done:\n %r = phi <16 x float> [zeroinitializer, %other], [%v, %resume]\n ret <16 x float> %r\n}\n";
}

// Whether the load has left its block, and whether a block of its own was made for it.
std::pair<bool, bool> sunk(const std::string &text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  llvm::Function &f = *module->getFunction("f");
  const std::size_t blocks = f.size();
  const bool changed = sinkLoads(f);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  bool stays = false;
  for (llvm::Instruction &i : llvm::instructions(f))
    if (llvm::isa<llvm::LoadInst>(i)) stays |= i.getParent()->getName() == "resume";
  EXPECT_EQ(changed, !stays);
  return {!stays, f.size() > blocks};
}

const std::string kUse = " store <16 x float> %v, ptr %p\n";

TEST(SinkLoads, OntoTheEdgeThatUsesIt) { EXPECT_EQ(sunk(function("", "")), std::pair(true, true)); }

TEST(SinkLoads, StaysWhereBothWaysUseIt) { EXPECT_EQ(sunk(function("", kUse)), std::pair(false, false)); }

TEST(SinkLoads, StaysBeforeAWrite) { EXPECT_EQ(sunk(function(" store i32 1, ptr %p\n", "")), std::pair(false, false)); }

}  // namespace
