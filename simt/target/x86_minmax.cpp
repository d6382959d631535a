// SPDX-License-Identifier: Apache-2.0
// IEEE minimumNumber and maximumNumber: a NaN loses against a number, -0 < +0. x86's minps gives its second
// operand for NaNs and equal zeros; AVX-512's vrangeps knows zeros and quiet NaNs but lets a signaling NaN win.
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>

#include "simt/analysis/extremes.h"
#include "simt/jit/math/expansions.h"

namespace strata::simt::math {

using llvm::Value;

// A result of these functions: their operands are quieted.
static bool isExtreme(const llvm::Instruction &i) {
  auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
  const llvm::Function *callee = call && call->getType()->isVectorTy() ? call->getCalledFunction() : nullptr;
  return callee && (extremeOf(call) != Extreme::none || callee->getName().starts_with("llvm.x86.avx512.mask.range."));
}

// Results of arithmetic are never signaling; what comes from memory or through a bitcast may be. What goes around in a
// loop is not, if nothing that comes in is: `seen` are the phis that this is asked about.
static bool neverSignaling(Value *v, llvm::SmallPtrSetImpl<llvm::PHINode *> &seen) {
  if (llvm::isa<llvm::PoisonValue>(v)) return true;
  if (auto *c = llvm::dyn_cast<llvm::Constant>(v)) {
    const auto *splat = llvm::dyn_cast_or_null<llvm::ConstantFP>(c->getType()->isVectorTy() ? c->getSplatValue() : c);
    return splat && !splat->getValue().isSignaling();
  }
  const auto never = [&](Value *from) { return neverSignaling(from, seen); };
  auto *i = llvm::dyn_cast<llvm::Instruction>(v);
  if (!i) return false;
  if (auto *phi = llvm::dyn_cast<llvm::PHINode>(i))
    return !seen.insert(phi).second || llvm::all_of(phi->incoming_values(), never);
  if (auto *select = llvm::dyn_cast<llvm::SelectInst>(i))
    return never(select->getTrueValue()) && never(select->getFalseValue());
  if (auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(i))
    return never(shuffle->getOperand(0)) && never(shuffle->getOperand(1));
  switch (i->getOpcode()) {
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FSub:
    case llvm::Instruction::FMul:
    case llvm::Instruction::FDiv:
    case llvm::Instruction::FPExt:
    case llvm::Instruction::FPTrunc:
    case llvm::Instruction::SIToFP:
    case llvm::Instruction::UIToFP: return true;
    default: break;
  }
  auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(i);
  return isExtreme(*i) || (intrinsic && (intrinsic->getIntrinsicID() == llvm::Intrinsic::fma ||
                                         intrinsic->getIntrinsicID() == llvm::Intrinsic::sqrt));
}

static bool neverSignaling(Value *v) {
  llvm::SmallPtrSet<llvm::PHINode *, 8> seen;
  return neverSignaling(v, seen);
}

static llvm::Intrinsic::ID byWidth(Val x, llvm::Intrinsic::ID f32, llvm::Intrinsic::ID f64) {
  return x.bits() == 32 ? f32 : f64;
}

// x * 1 with rounding given in the instruction, which LLVM does not fold away: quiets a signaling NaN.
static Val quieted(Val x) {
  if (neverSignaling(x)) return x;
  llvm::IRBuilder<> &b = x.builder();
  return inPieces(512, {x}, [&](llvm::ArrayRef<Value *> v) -> Value * {
    Value *one = llvm::ConstantFP::get(v[0]->getType(), 1.0);
    const auto id = byWidth(x, llvm::Intrinsic::x86_avx512_mul_ps_512, llvm::Intrinsic::x86_avx512_mul_pd_512);
    return b.CreateIntrinsic(id, {}, {v[0], one, b.getInt32(8)});
  });
}

static Val range(Val a, Val b, unsigned selector) {
  llvm::IRBuilder<> &ir = a.builder();
  return inPieces(512, {quieted(a), quieted(b)}, [&](llvm::ArrayRef<Value *> v) -> Value * {
    const auto id =
        byWidth(a, llvm::Intrinsic::x86_avx512_mask_range_ps_512, llvm::Intrinsic::x86_avx512_mask_range_pd_512);
    Value *all = llvm::Constant::getAllOnesValue(ir.getIntNTy(512 / a.bits()));
    return ir.CreateIntrinsic(
        id, {}, {v[0], v[1], ir.getInt32(selector), llvm::PoisonValue::get(v[0]->getType()), all, ir.getInt32(4)});
  });
}

// A constant that is not NaN and, if zero, has the sign that wins: minps/maxps with it second is exact.
static bool constantWinner(Value *v, bool minimum) {
  const llvm::APFloat *c = nullptr;
  if (!llvm::PatternMatch::match(v, llvm::PatternMatch::m_APFloat(c)) || c->isNaN()) return false;
  return !c->isZero() || c->isNegative() == minimum;
}

static Val choose(Val a, Val b, bool minimum) { return select(minimum ? lt(a, b) : gt(a, b), a, b); }

// half and bfloat on their bits: with the magnitude of negatives inverted they order like signed integers,
// -0 below +0. (Through float, LLVM would make an fmaxnum of half of it, and a library call of that.)
static Val numberOfHalves(Val a, Val b, bool minimum) {
  const auto isNan = [](Val x) {
    const Val bits = x.asInt();
    return gt(bits & bits.lit(0x7fff), bits.lit(x.element()->isHalfTy() ? 0x7c00 : 0x7f80));
  };
  const auto key = [](Val x) {
    const Val bits = x.asInt();
    return bits ^ (ashr(bits, 15) & bits.lit(0x7fff));
  };
  const Val r = select(minimum ? lt(key(a), key(b)) : gt(key(a), key(b)), a.asInt(), b.asInt());
  return select(isNan(a), b.asInt(), select(isNan(b), a.asInt(), r)).as(a.element());
}

static Val number(const CpuFeatures &cpu, Val a, Val b, bool minimum) {
  if (a.bits() == 16) return numberOfHalves(a, b, minimum);
  if (constantWinner(b, minimum)) return choose(a, b, minimum);
  if (constantWinner(a, minimum)) return choose(b, a, minimum);
  if (cpu.avx512 && a.lanes()) return range(a, b, minimum ? 4 : 5);
  const Val zeros = (minimum ? a.asInt() | b.asInt() : a.asInt() & b.asInt()).as(a.element());
  return select(eq(a, b), zeros, select(isNan(b), a, choose(a, b, minimum)));
}

Val minimumNumber(const CpuFeatures &cpu, Val a, Val b) { return number(cpu, a, b, true); }
Val maximumNumber(const CpuFeatures &cpu, Val a, Val b) { return number(cpu, a, b, false); }

Val flushSubnormal(const CpuFeatures &cpu, Val x) {
  const Val sign = (x.asInt() & x.pattern(1u << 31).asInt()).as(x.element());
  if (cpu.avx512 && x.lanes()) {
    llvm::IRBuilder<> &b = x.builder();
    const Val subnormal = inPieces(512, {x}, [&](llvm::ArrayRef<Value *> v) -> Value * {
      return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_fpclass_ps_512, {}, {v[0], b.getInt32(0x20)});
    });
    return select(subnormal, sign, x);
  }
  return select(lt(abs(x), x.lit(0x1p-126)), sign, x);
}

}  // namespace strata::simt::math
