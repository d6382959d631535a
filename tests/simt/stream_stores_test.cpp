// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/warp/stream_stores.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

#include "simt/abi.h"

using namespace strata::simt;

namespace {

// A store of a vector to the first parameter's memory, in the loop over warps; `before` comes ahead of it.
std::string kernel(const std::string &before, const std::string &type = "<32 x float>",
                   const std::string &mark = ", !strata.once !0") {
  return "declare void @other()\ndeclare <32 x float> @llvm.masked.gather(<32 x ptr>, i32, <32 x i1>, <32 x float>)\n"
         "define void @strata_entry(ptr %block, ptr %warp) {\n"
         "start:\n %launch = load ptr, ptr %block\n"
         " %params.at = getelementptr i8, ptr %launch, i64 " +
         std::to_string(offsetof(LaunchState, params)) +
         "\n"
         " %params = load ptr, ptr %params.at\n br label %loop\n"
         "loop:\n %i = phi i64 [0, %start], [%n, %loop]\n"
         " %out = load i64, ptr %params\n %at = add i64 %i, %out\n %p = inttoptr i64 %at to ptr\n" +
         before + " store " + type + " zeroinitializer, ptr %p, align 4" + mark +
         "\n"
         " %n = add i64 %i, 128\n %more = icmp ult i64 %n, 9999\n br i1 %more, label %loop, label %done\n"
         "done:\n ret void\n}\n!0 = !{}\n";
}

unsigned streaming(const std::string &text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  if (!module) return 0;
  llvm::Function &function = *module->getFunction("strata_entry");
  unsigned before = 0, past = 0, plain = 0;
  for (llvm::Instruction &i : llvm::instructions(function)) before += llvm::isa<llvm::StoreInst>(i);
  const bool changed = streamStores(function);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  for (llvm::Instruction &i : llvm::instructions(function))
    if (llvm::isa<llvm::StoreInst>(i)) ++(i.hasMetadata(llvm::LLVMContext::MD_nontemporal) ? past : plain);
  EXPECT_EQ(plain, before);  // each store still has its plain form
  EXPECT_EQ(changed, past != 0);
  return past;
}

TEST(StreamStores, WholeLinesToAParametersMemory) { EXPECT_EQ(streaming(kernel("")), 1u); }

TEST(StreamStores, OtherMemoryMayBeRead) {
  EXPECT_EQ(
      streaming(kernel(
          " %q = getelementptr i8, ptr %params, i64 8\n %in = load ptr, ptr %q\n %v = load <32 x float>, ptr %in\n")),
      1u);
}

TEST(StreamStores, NotWhereTheMemoryIsRead) { EXPECT_EQ(streaming(kernel(" %v = load <32 x float>, ptr %p\n")), 0u); }

TEST(StreamStores, NotPartsOfLines) { EXPECT_EQ(streaming(kernel("", "<8 x float>")), 0u); }

TEST(StreamStores, NotWhatALoopOfTheKernelStores) { EXPECT_EQ(streaming(kernel("", "<32 x float>", "")), 0u); }

TEST(StreamStores, GathersFromElsewhere) {
  const std::string all = " <32 x i1> splat (i1 true), <32 x float> poison)\n";
  const std::string gather = " %g = call <32 x float> @llvm.masked.gather(<32 x ptr> %a, i32 4," + all;
  auto field = [](std::size_t offset) {
    return " %f = getelementptr i8, ptr %block, i64 " + std::to_string(offset) + "\n %base = load ptr, ptr %f\n";
  };
  const std::string other = " %q = getelementptr i8, ptr %params, i64 8\n %base = load ptr, ptr %q\n";
  const std::string strided = " %a = getelementptr float, ptr %base, <32 x i64> splat (i64 33)\n";
  EXPECT_EQ(streaming(kernel(field(offsetof(Block, shared)) + strided + gather)), 1u);
  EXPECT_EQ(streaming(kernel(other + strided + gather)), 1u);
  EXPECT_EQ(streaming(kernel(" %base = inttoptr i64 %out to ptr\n" + strided + gather)), 0u);
  const std::string splat =
      " %one = insertelement <32 x i64> poison, i64 %out, i64 0\n %outs = shufflevector <32 x i64> %one, <32 x i64> "
      "poison, <32 x i32> zeroinitializer\n";
  EXPECT_EQ(streaming(kernel(
                splat + " %sum = add <32 x i64> %outs, splat (i64 4)\n %a = inttoptr <32 x i64> %sum to <32 x ptr>\n" +
                gather)),
            0u);
  EXPECT_EQ(streaming(kernel(" %a = load <32 x ptr>, ptr %block\n" + gather)), 0u);  // from anywhere
}

TEST(StreamStores, MaskedStoresLineByLine) {
  const std::string text = kernel(
      " %mask = icmp eq <32 x i32> zeroinitializer, splat (i32 1)\n call void @llvm.masked.store(<32 x float> "
      "zeroinitializer, ptr %p, i32 4, <32 x i1> %mask), !strata.once !0\n",
      "<8 x float>");
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const std::string complete = "declare void @llvm.masked.store(<32 x float>, ptr, i32, <32 x i1>)\n" + text;
  auto module = llvm::parseAssemblyString(complete, diagnostic, context);
  ASSERT_TRUE(module) << diagnostic.getMessage().str();
  llvm::Function &function = *module->getFunction("strata_entry");
  EXPECT_TRUE(streamStores(function));
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  unsigned past = 0, pieces = 0, parts = 0, whole = 0, lines = 0;
  for (llvm::Instruction &i : llvm::instructions(function)) {
    if (i.hasMetadata(llvm::LLVMContext::MD_nontemporal))
      ++(llvm::cast<llvm::StoreInst>(i).getAlign() == 64 ? past : pieces);
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    parts += call && call->getIntrinsicID() == llvm::Intrinsic::x86_sse2_maskmov_dqu;
    if (!call || call->getIntrinsicID() != llvm::Intrinsic::masked_store) continue;
    ++(llvm::cast<llvm::FixedVectorType>(call->getArgOperand(0)->getType())->getNumElements() == 32 ? whole : lines);
  }
  EXPECT_EQ(past, 2u);
  EXPECT_EQ(pieces, 8u);
  EXPECT_EQ(parts, 8u);
  EXPECT_EQ(lines, 2u);
  EXPECT_EQ(whole, 1u);
}

TEST(StreamStores, NotBesideWhatOrdersMemory) {
  EXPECT_EQ(streaming(kernel(" fence seq_cst\n")), 0u);
  EXPECT_EQ(streaming(kernel(" call void @other()\n")), 0u);
  EXPECT_EQ(streaming(kernel(" %old = atomicrmw add ptr %warp, i32 1 monotonic\n")), 0u);
}

}  // namespace
