// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

#include "simt/abi.h"
#include "simt/passes/warp/stream_stores.h"

using namespace strata::simt;

namespace {

// One row a warp: three loads from the second parameter's memory, then `store` to the first's at %p.
struct Kernel {
  std::string index = "%row", between, store = "store <32 x float> %c, ptr %p, align 4, !strata.once !0";
  unsigned loads = 3;

  std::string text() const {
    std::string all =
        "declare void @llvm.masked.store.v32f32.p0(<32 x float>, ptr, i32, <32 x i1>)\n"
        "define void @strata_entry(ptr %block, ptr %warp) {\n"
        "start:\n %launch = load ptr, ptr %block\n"
        " %params.at = getelementptr i8, ptr %launch, i64 " +
        std::to_string(offsetof(LaunchState, params)) +
        "\n"
        " %params = load ptr, ptr %params.at\n %in.at = getelementptr i8, ptr %params, i64 8\n %pitch = load i32, ptr "
        "%launch\n br label %loop\n"
        "loop:\n %row = phi i32 [0, %start], [%next, %end], !strata.row !0\n %other = phi i32 [0, %start], [%next, "
        "%end]\n"
        " %out = load i64, ptr %params\n %in = load ptr, ptr %in.at\n";
    for (unsigned i = 0; i < loads; ++i) all += " %v" + std::to_string(i) + " = load volatile <32 x float>, ptr %in\n";
    all += " %c = load <32 x float>, ptr %in\n %at = mul nsw i32 " + index +
           ", %pitch\n %wide = sext i32 %at to i64\n" + between +
           " %sum = add i64 %wide, %out\n %p = inttoptr i64 %sum to ptr\n " + store +
           "\n br label %end\n"
           "end:\n %next = add i32 %row, 1\n %more = icmp ult i32 %next, 8\n br i1 %more, label %loop, label %done\n"
           "done:\n ret void\n}\n!0 = !{}\n";
    return all;
  }

  // The prefetches for writing that the kernel gets.
  unsigned announced() const {
    llvm::LLVMContext context;
    llvm::SMDiagnostic diagnostic;
    auto module = llvm::parseAssemblyString(text(), diagnostic, context);
    EXPECT_TRUE(module) << diagnostic.getMessage().str();
    if (!module) return 0;
    llvm::Function &function = *module->getFunction("strata_entry");
    EXPECT_TRUE(streamStores(function));
    EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
    unsigned count = 0;
    bool loaded = false;
    for (llvm::Instruction &i : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
      if (llvm::isa<llvm::LoadInst>(i) && i.getType()->isVectorTy()) loaded = true;
      if (!call || call->getIntrinsicID() != llvm::Intrinsic::prefetch) continue;
      EXPECT_FALSE(loaded) << "after a load";
      EXPECT_TRUE(llvm::cast<llvm::ConstantInt>(call->getArgOperand(1))->isOne());
      auto *before = i.getParent()->getSinglePredecessor();  // not of lines that go past the caches
      EXPECT_TRUE(before && llvm::cast<llvm::BranchInst>(before->getTerminator())->isConditional());
      ++count;
    }
    return count;
  }
};

TEST(AnnounceStores, LinesOfALaterRowAheadOfTheLoads) { EXPECT_EQ(Kernel{}.announced(), 2u); }

TEST(AnnounceStores, NotWhereStoresFollowEachOther) { EXPECT_EQ(Kernel{.index = "%other"}.announced(), 0u); }

TEST(AnnounceStores, NotBehindFewLoads) { EXPECT_EQ(Kernel{.loads = 1}.announced(), 0u); }

TEST(AnnounceStores, NotWhereABranchMayLeaveItOut) {
  EXPECT_EQ(Kernel{.between = " %no = icmp eq i32 %row, 3\n br i1 %no, label %end, label %yes\nyes:\n"}.announced(),
            0u);
}

TEST(AnnounceStores, BehindBranchesThatMeetAgain) {
  EXPECT_EQ(
      Kernel{.between =
                 " %no = icmp eq i32 %row, 3\n br i1 %no, label %yes, label %perhaps\nperhaps:\n br label %yes\nyes:\n"}
          .announced(),
      2u);
  EXPECT_EQ(Kernel{.between =
                       " %no = icmp eq i32 %row, 3\n br i1 %no, label %fault, label %yes\nfault:\n unreachable\nyes:\n"}
                .announced(),
            2u);
}

TEST(AnnounceStores, NotAheadOfALoop) {
  EXPECT_EQ(Kernel{.between = " br label %again\nagain:\n %k = phi i32 [0, %loop], [%l, %again]\n %l = add i32 %k, 1\n"
                              " %b = icmp ult i32 %l, %row\n br i1 %b, label %again, label %yes\nyes:\n"}
                .announced(),
            0u);
}

TEST(AnnounceStores, PartsOfLinesAlsoWhereStoresGoPastTheCaches) {
  const std::string store =
      "call void @llvm.masked.store.v32f32.p0(<32 x float> %c, ptr %p, i32 4, <32 x i1> splat (i1 true)), !strata.once "
      "!0";
  EXPECT_EQ(Kernel{.store = store}.announced(), 2u);
}

}  // namespace
