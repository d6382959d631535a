// SPDX-License-Identifier: Apache-2.0
// Which loads of a loop are prefetched, and how far ahead.
#include "simt/passes/warp/prefetch_strides.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

namespace strata::simt {
namespace {

// A loop over %i that loads `type` from `base` + 4 * %i and advances by `stride`.
std::string loopOver(const std::string &base, const std::string &type, const std::string &stride,
                     const std::string &body = "") {
  return "define void @strata_entry(ptr %block, ptr %warp, ptr %x, i32 %n, i32 %step) {\n"
         "entry:\n  %at = getelementptr i8, ptr %block, i64 8\n  %shared = load ptr, ptr %at\n  %stack = alloca [4096 "
         "x i8]\n  br label %loop\n"
         "loop:\n  %i = phi i32 [ 0, %entry ], [ %next, %loop ]\n  %wide = sext i32 %i to i64\n"
         "  %p = getelementptr float, ptr " +
         base + ", i64 %wide\n  %v = load " + type +
         ", ptr %p, align 4\n"
         "  store " +
         type + " %v, ptr %warp, align 4\n" + body + "  %next = add nsw i32 %i, " + stride +
         "\n"
         "  %on = icmp slt i32 %next, %n\n  br i1 %on, label %loop, label %done\n"
         "done:\n  ret void\n}\ndeclare void @strata.suspend()\n";
}

class PrefetchStrides : public ::testing::Test {
protected:
  // The prefetches of the function after the pass.
  std::vector<llvm::IntrinsicInst *> prefetches(const std::string &text,
                                                void (*pass)(llvm::Function &) = prefetchPlainLoops) {
    llvm::SMDiagnostic problem;
    module_ = llvm::parseAssemblyString(text, problem, context_);
    if (!module_) {
      ADD_FAILURE() << problem.getMessage().str();
      return {};
    }
    llvm::Function &function = *module_->getFunction("strata_entry");
    pass(function);
    EXPECT_FALSE(llvm::verifyModule(*module_, &llvm::errs()));
    std::vector<llvm::IntrinsicInst *> found;
    for (llvm::Instruction &i : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
          call && call->getIntrinsicID() == llvm::Intrinsic::prefetch)
        found.push_back(call);
    return found;
  }

  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

TEST_F(PrefetchStrides, eachLineOfALoadAheadByAnUnknownStride) {
  EXPECT_EQ(prefetches(loopOver("%x", "<32 x float>", "%step")).size(), 2u);
  EXPECT_EQ(prefetches(loopOver("%x", "<16 x float>", "%step")).size(), 1u);
  // The index that is read ahead: i + 8 * step, extended as the loop's own is.
  auto found = prefetches(loopOver("%x", "<16 x float>", "%step"));
  ASSERT_EQ(found.size(), 1u);
  auto *address = llvm::cast<llvm::GetElementPtrInst>(found[0]->getArgOperand(0)->stripPointerCasts());
  auto *index = llvm::cast<llvm::SExtInst>(address->getOperand(1));
  auto *sum = llvm::cast<llvm::BinaryOperator>(index->getOperand(0));
  auto *far = llvm::cast<llvm::BinaryOperator>(sum->getOperand(1));
  EXPECT_EQ(sum->getOpcode(), llvm::Instruction::Add);
  EXPECT_FALSE(sum->hasNoSignedWrap()) << "ahead of the loop's end the index may wrap";
  EXPECT_EQ(far->getOperand(0)->getName(), "step");
}

TEST_F(PrefetchStrides, largeFixedStridesOnly) {
  EXPECT_EQ(prefetches(loopOver("%x", "<32 x float>", "65536")).size(), 2u);
  EXPECT_EQ(prefetches(loopOver("%x", "<32 x float>", "-65536")).size(), 2u);
  EXPECT_EQ(prefetches(loopOver("%x", "<32 x float>", "32")).size(), 0u);
}

TEST_F(PrefetchStrides, smallStridesToWhereLanesGatherFromOtherMemory) {
  auto gathering = [](const std::string &base) {
    return loopOver("%x", "<16 x i32>", "16",
                    "  %far = getelementptr float, ptr " + base +
                        ", <16 x i32> %v\n"
                        "  %g = call <16 x float> @llvm.masked.gather.v16f32.v16p0(<16 x ptr> %far, i32 4, <16 x i1> "
                        "splat (i1 true), <16 x float> poison)\n"
                        "  store <16 x float> %g, ptr %warp, align 4\n") +
           "declare <16 x float> @llvm.masked.gather.v16f32.v16p0(<16 x ptr>, i32, <16 x i1>, <16 x float>)\n";
  };
  EXPECT_EQ(prefetches(gathering("%warp")).size(), 1u);
  EXPECT_EQ(prefetches(gathering("%shared")).size(), 0u);
  EXPECT_EQ(prefetches(gathering("%stack")).size(), 0u);
}

TEST_F(PrefetchStrides, longTurnsIntoTheSecondLevel) {
  auto turn = [&](const std::string &rounds) {
    std::string text = loopOver("%x", "<16 x float>", "65536");
    text.replace(text.find("%next, %n"), 9, "%next, " + rounds);
    text.replace(text.find("  %next ="), 0,
                 "  %stay = icmp slt i32 %i, %n\n  br i1 %stay, label %rest, label %done\nrest:\n");
    text.replace(text.find("[ %next, %loop ]"), 16, "[ %next, %rest ]");
    auto found = prefetches(text);
    return found.size() == 1 ? llvm::cast<llvm::ConstantInt>(found[0]->getArgOperand(2))->getZExtValue() : 0;
  };
  EXPECT_EQ(turn("524288"), 3u);   // 8 rounds
  EXPECT_EQ(turn("2097152"), 2u);  // 32
}

TEST_F(PrefetchStrides, notBeyondAFewRounds) {
  std::string text = loopOver("%x", "<32 x float>", "65536");
  text.replace(text.find("%next, %n"), 9, "%next, 262144");
  EXPECT_EQ(prefetches(text).size(), 0u);
  // Unless they are a turn of a longer loop, which ends elsewhere too.
  text.replace(text.find("  %next ="), 0,
               "  %stay = icmp slt i32 %i, %n\n  br i1 %stay, label %rest, label %done\nrest:\n");
  text.replace(text.find("[ %next, %loop ]"), 16, "[ %next, %rest ]");
  EXPECT_EQ(prefetches(text).size(), 2u);
}

TEST_F(PrefetchStrides, twoRoundsAheadWhereTheLoopHasABarrier) {
  std::string text = loopOver("%x", "<16 x float>", "%step", "  call void @strata.suspend()\n");
  auto found = prefetches(text, prefetchBarrierLoops);
  ASSERT_EQ(found.size(), 1u);
  bool twice = false;
  for (llvm::Instruction &i : llvm::instructions(*found[0]->getFunction()))
    if (i.getOpcode() == llvm::Instruction::Mul) twice = llvm::cast<llvm::ConstantInt>(i.getOperand(1))->equalsInt(2);
  EXPECT_TRUE(twice);
  EXPECT_EQ(prefetches(loopOver("%x", "<16 x float>", "%step"), prefetchBarrierLoops).size(), 0u) << "a loop without";
}

TEST_F(PrefetchStrides, neitherSharedMemoryNorTheStackNorScalars) {
  EXPECT_EQ(prefetches(loopOver("%shared", "<32 x float>", "%step")).size(), 0u);
  EXPECT_EQ(prefetches(loopOver("%stack", "<32 x float>", "%step")).size(), 0u);
  EXPECT_EQ(prefetches(loopOver("%x", "float", "%step")).size(), 0u);
}

}  // namespace
}  // namespace strata::simt
