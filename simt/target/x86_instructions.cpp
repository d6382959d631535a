// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>

#include "simt/target/instructions.h"

namespace strata::simt {

using llvm::Value;

const char *targetTriple() { return "x86_64-unknown-linux-gnu"; }

void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();  // inline assembly
  });
}

Value *permuteWords(llvm::IRBuilder<> &b, Simd simd, Value *values, Value *sources) {
  if (simd != Simd::avx512) return nullptr;
  std::vector<int> low, high, both;
  for (int l = 0; l < 32; ++l) {
    (l < 16 ? low : high).push_back(l);
    both.push_back(l);
  }
  Value *valuesLow = b.CreateShuffleVector(values, low), *valuesHigh = b.CreateShuffleVector(values, high);
  auto half = [&](const std::vector<int> &which) {
    return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                             {valuesLow, b.CreateShuffleVector(sources, which), valuesHigh});
  };
  Value *first = half(low), *second = half(high);
  return b.CreateShuffleVector(first, second, both);
}

void storeMaskedNonTemporal(llvm::IRBuilder<> &b, Value *piece, Value *mask, Value *address) {
  b.CreateIntrinsic(llvm::Intrinsic::x86_sse2_maskmov_dqu, {}, {piece, mask, address});
}

}  // namespace strata::simt
