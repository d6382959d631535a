// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/warp/prefetch_blocks.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

#include "simt/abi.h"

using namespace strata::simt;

namespace {

// A loop over warps in which `type` is loaded from the first parameter's memory at `index`: of %block.idx (the block's
// number), %warp.idx, and %far, which was loaded.
std::string kernel(const std::string &index, const std::string &type = "<32 x float>") {
  return "define void @strata_entry(ptr %block, ptr %warp) {\n"
         "start:\n %launch = load ptr, ptr %block, !invariant.load !0\n"
         " %params.at = getelementptr i8, ptr %launch, i64 " +
         std::to_string(offsetof(LaunchState, params)) +
         "\n"
         " %params = load ptr, ptr %params.at, !invariant.load !0\n %in = load ptr, ptr %params, !invariant.load !0\n"
         " %number.at = getelementptr i8, ptr %block, i64 " +
         std::to_string(offsetof(Block, blockIdx)) +
         "\n"
         " %block.idx = load i32, ptr %number.at, !invariant.load !0\n %far = load i32, ptr %in\n br label %loop\n"
         "loop:\n %warp.idx = phi i32 [0, %start], [%next, %loop]\n"
         " %first = shl i32 %block.idx, 8\n %i = add nsw i32 " +
         index +
         "\n %wide = sext i32 %i to i64\n"
         " %p = getelementptr float, ptr %in, i64 %wide\n %v = load " +
         type + ", ptr %p, align 4\n store " + type +
         " %v, ptr %warp\n"
         " %next = add i32 %warp.idx, 32\n %more = icmp ult i32 %next, 256\n br i1 %more, label %loop, label %done\n"
         "done:\n ret void\n}\n!0 = !{}\n";
}

// How many lines are prefetched.
unsigned prefetched(const std::string &text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  if (!module) return 0;
  llvm::Function &function = *module->getFunction("strata_entry");
  const bool changed = prefetchBlocks(function);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  unsigned lines = 0;
  for (llvm::Instruction &i : llvm::instructions(function)) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    lines += call && call->getIntrinsicID() == llvm::Intrinsic::prefetch;
    auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(&i);  // beyond the last block the index may wrap
    EXPECT_FALSE(sum && sum->hasNoSignedWrap() && sum->getName() != "i") << sum->getName().str();
  }
  EXPECT_EQ(changed, lines != 0);
  return lines;
}

TEST(PrefetchBlocks, LinesThatALaterBlockReads) {
  EXPECT_EQ(prefetched(kernel("%first, %warp.idx")), 2u);
  EXPECT_EQ(prefetched(kernel("%first, %warp.idx", "<32 x i64>")), 4u);
}

TEST(PrefetchBlocks, NotWhatAllBlocksRead) { EXPECT_EQ(prefetched(kernel("%warp.idx, 7")), 0u); }

TEST(PrefetchBlocks, NotWhereMemorySaysWhere) { EXPECT_EQ(prefetched(kernel("%first, %far")), 0u); }

TEST(PrefetchBlocks, NotManyLines) { EXPECT_EQ(prefetched(kernel("%first, %warp.idx", "<256 x i32>")), 0u); }

}  // namespace
