// SPDX-License-Identifier: Apache-2.0
// Integer division of vectors. x86 has no such instruction; LLVM would divide lane by lane. Up to 32 bits a
// double (24 bits would do for 16) holds the operands exactly, and the truncated quotient of two doubles
// below 2^32 is exact: the true quotient, if no integer, is at least 1/b below the next one, far more than
// half an ulp. 64 bits go lane by lane. Inactive lanes may hold any divisor, so zero and MIN/-1 must not trap;
// what they give does not matter.
#include "simt/jit/math/expansions.h"

namespace strata::simt::math {

static Val through(Val a, Val b, bool isSigned, bool remainder) {
  llvm::IRBuilder<> &ir = a.builder();
  llvm::Type *f64 = ir.getDoubleTy();
  const auto toDouble = [&](Val v) {
    return v.made(isSigned ? ir.CreateSIToFP(v, v.shaped(f64)) : ir.CreateUIToFP(v, v.shaped(f64)));
  };
  // In i64 every finite quotient fits; 2^63 and NaN of x/0 are kept out by dividing by 1 there.
  const Val safe = select(eq(b, b.lit(0)), b.lit(1), b);
  const Val quotient = toSigned(toDouble(a) / toDouble(safe), ir.getInt64Ty()).truncated(a.element());
  return remainder ? a - quotient * b : quotient;
}

Val divideVector(Val a, Val b, bool isSigned, bool remainder) {
  if (a.bits() <= 32) return through(a, b, isSigned, remainder);
  llvm::IRBuilder<> &ir = a.builder();
  Val unsafe = eq(b, b.lit(0));
  if (isSigned) unsafe = unsafe | eq(b, b.lit(-1));  // MIN / -1
  const Val safe = select(unsafe, b.lit(1), b);
  const auto opcode = remainder ? (isSigned ? llvm::Instruction::SRem : llvm::Instruction::URem)
                                : (isSigned ? llvm::Instruction::SDiv : llvm::Instruction::UDiv);
  const Val r = perLane({a, safe}, [&](llvm::ArrayRef<llvm::Value *> v) { return ir.CreateBinOp(opcode, v[0], v[1]); });
  return isSigned ? select(eq(b, b.lit(-1)), remainder ? a.lit(0) : -a, r) : r;
}

}  // namespace strata::simt::math
