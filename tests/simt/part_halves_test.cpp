// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/machine/part_halves.h"

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

// How often words' elements are permuted in a function that takes the low halves of `n` words and, shifted by `shift`,
// others; and how many truncations are left.
std::pair<int, int> parted(int n, int shift, bool low = true) {
  const std::string words = "<" + std::to_string(n) + " x i32>", halves = "<" + std::to_string(n) + " x i16>";
  std::string splat;
  for (int i = 0; i < n; ++i) splat += (i ? ", i32 " : "i32 ") + std::to_string(shift);
  const std::string text =
      "define void @f(ptr %p, ptr %q, ptr %r) {\n %x = load " + words + ", ptr %p\n" +
      (low ? " %l = trunc " + words + " %x to " + halves + "\n store " + halves + " %l, ptr %q\n" : std::string()) +
      " %s = lshr " + words + " %x, <" + splat + ">\n %h = trunc " + words + " %s to " + halves + "\n store " + halves +
      " %h, ptr %r\n ret void\n}\n";
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  llvm::Function &f = *module->getFunction("f");
  partHalves(f);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  int permutations = 0, truncations = 0;
  for (llvm::Instruction &i : llvm::instructions(f)) {
    auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&i);
    permutations += shuffle && shuffle->getShuffleMask()[1] == 2;
    truncations += llvm::isa<llvm::TruncInst>(i);
  }
  return {permutations, truncations};
}

TEST(PartHalves, OnePermutationARegister) {
  EXPECT_EQ(parted(16, 16), std::pair(1, 0));
  EXPECT_EQ(parted(32, 16), std::pair(2, 0));
}

TEST(PartHalves, OnlyBothHalvesOfWholeRegisters) {
  EXPECT_EQ(parted(16, 8), std::pair(0, 2));
  EXPECT_EQ(parted(8, 16), std::pair(0, 2));
  EXPECT_EQ(parted(16, 16, /*low=*/false), std::pair(0, 1));
}

}  // namespace
