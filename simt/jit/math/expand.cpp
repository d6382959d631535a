// SPDX-License-Identifier: Apache-2.0
#include "simt/jit/math/expand.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "simt/jit/math/expansions.h"

namespace strata::simt::math {
namespace {

using llvm::Instruction;
using llvm::StringRef;
using llvm::Type;
using llvm::Intrinsic::ID;
namespace ids = llvm::Intrinsic;

using Args = llvm::SmallVector<Val, 3>;

std::optional<Direction> parseDirection(StringRef s) {
  if (s == "rn") return Direction::nearestEven;
  if (s == "rz") return Direction::zero;
  if (s == "rm") return Direction::down;
  if (s == "rp") return Direction::up;
  return std::nullopt;
}

class Expander {
public:
  Expander(llvm::LLVMContext &context, const CpuFeatures &cpu) : cpu_(cpu), ir_(context) {}
  // The value that replaces `i`, or null if it stays.
  llvm::Value *expand(Instruction &i);

private:
  llvm::Value *strataCall(llvm::CallInst &call);
  llvm::Value *llvmIntrinsic(llvm::IntrinsicInst &call);
  llvm::Value *narrowFloat(Instruction &i);  // an operation on half or bfloat without such an instruction
  llvm::Value *conversion(llvm::CastInst &cast);
  std::optional<Val> approximate(StringRef name, Val x);

  Val val(llvm::Value *v) { return Val(ir_, v); }
  bool lacks(Type *type) const {
    Type *element = type->getScalarType();
    return element->isBFloatTy() || (element->isHalfTy() && !cpu_.computesHalf);
  }
  Val wide(llvm::Value *v) { return widen(cpu_, val(v), ir_.getFloatTy()); }
  llvm::Value *back(Val v, Type *type) { return narrow(cpu_, v, type->getScalarType(), Direction::nearestEven); }
  llvm::Value *narrowFma(llvm::IntrinsicInst &call);

  const CpuFeatures &cpu_;
  llvm::IRBuilder<> ir_;
};

std::optional<Val> Expander::approximate(StringRef name, Val x) {
  if (x.bits() == 16) {  // PTX's f16 and bf16 functions: through float
    const auto r = approximate(name, widen(cpu_, x, ir_.getFloatTy()));
    return r ? std::optional(narrow(cpu_, *r, x.element(), Direction::nearestEven)) : r;
  }
  if (x.bits() == 64) {
    if (name == "rcp") return x.lit(1) / x;
    if (name == "rsqrt") return x.lit(1) / sqrt(x);
    if (name == "sqrt") return sqrt(x);
    return std::nullopt;
  }
  if (name == "rcp") return approxRcp(cpu_, x);
  if (name == "rsqrt") return approxRsqrt(cpu_, x);
  if (name == "sqrt") return sqrt(x);
  if (name == "sin") return approxSin(cpu_, x);
  if (name == "cos") return approxCos(cpu_, x);
  if (name == "ex2") return approxEx2(cpu_, x);
  if (name == "lg2") return approxLg2(cpu_, x);
  if (name == "tanh") return approxTanh(cpu_, x);
  return std::nullopt;
}

// strata.<operation>[.<direction or function>].<types…>[.v32]
llvm::Value *Expander::strataCall(llvm::CallInst &call) {
  llvm::SmallVector<StringRef, 6> name;
  call.getCalledFunction()->getName().split(name, '.');
  const StringRef op = name.size() > 1 ? name[1] : "", second = name.size() > 2 ? name[2] : "";
  Args args;
  for (llvm::Value *a : call.args()) args.push_back(val(a));
  Type *to = call.getType()->getScalarType();
  if (op == "approx" && second == "div") return args[0] / args[1];
  if (op == "approx") {
    const auto r = approximate(second, args[0]);
    return r ? static_cast<llvm::Value *>(*r) : nullptr;
  }
  if (op == "fmin") return minimumNumber(cpu_, args[0], args[1]);
  if (op == "fmax") return maximumNumber(cpu_, args[0], args[1]);
  if (op == "ftz") return flushSubnormal(cpu_, args[0]);
  const auto direction = parseDirection(second);
  if (!direction) return nullptr;
  if (op == "fptrunc") return narrow(cpu_, args[0], to, *direction);
  if (op == "sitofp" || op == "uitofp") return integerToFloat(cpu_, args[0], to, op == "sitofp", *direction);
  if (op == "fadd" || op == "fsub" || op == "fmul" || op == "fdiv" || op == "fma" || op == "fsqrt")
    return directed(cpu_, op, *direction, args);
  return nullptr;
}

llvm::Value *Expander::conversion(llvm::CastInst &cast) {
  Type *from = cast.getSrcTy()->getScalarType(), *to = cast.getDestTy()->getScalarType();
  const Val x = val(cast.getOperand(0));
  switch (cast.getOpcode()) {
    case Instruction::FPExt:
      if (from->isBFloatTy() || (from->isHalfTy() && (!cpu_.convertsHalf || (to->isDoubleTy() && !cpu_.computesHalf))))
        return widen(cpu_, x, to);
      return nullptr;
    case Instruction::FPTrunc:
      if (to->isBFloatTy() || (to->isHalfTy() && (!cpu_.convertsHalf || (from->isDoubleTy() && !cpu_.computesHalf))))
        return narrow(cpu_, x, to, Direction::nearestEven);
      return nullptr;
    case Instruction::SIToFP:
    case Instruction::UIToFP:
      if (!lacks(to)) return nullptr;
      return integerToFloat(cpu_, x, to, cast.getOpcode() == Instruction::SIToFP, Direction::nearestEven);
    case Instruction::FPToSI:
    case Instruction::FPToUI:
      if (!lacks(from)) return nullptr;
      return ir_.CreateCast(cast.getOpcode(), wide(x), cast.getDestTy());
    default: return nullptr;
  }
}

// fma in double: the product of two halfs is exact and the sum of 22 and 11 bits within half's range loses
// nothing that matters; bfloat's wider exponents do, so the sum is made odd there (as in softFma32).
llvm::Value *Expander::narrowFma(llvm::IntrinsicInst &call) {
  Type *f64 = ir_.getDoubleTy();
  const Val p = widen(cpu_, val(call.getArgOperand(0)), f64) * widen(cpu_, val(call.getArgOperand(1)), f64);
  const Val c = widen(cpu_, val(call.getArgOperand(2)), f64);
  const Val sum = p + c, part = sum - p;
  const Val residual = (p - (sum - part)) + (c - part);
  const Val towardsZero = adjust(sum, residual, Direction::zero).asInt();
  const Val odd = select(ne(residual, residual.lit(0)), towardsZero | towardsZero.lit(1), sum.asInt()).as(f64);
  return back(odd, call.getType());
}

llvm::Value *Expander::narrowFloat(Instruction &i) {
  Type *type = i.getType();
  const auto bitsOf = [&](llvm::Value *v) { return val(v).asInt(); };
  const auto signBit = [&](llvm::Value *v) { return bitsOf(v).pattern(0x8000); };
  switch (i.getOpcode()) {
    case Instruction::FAdd: return back(wide(i.getOperand(0)) + wide(i.getOperand(1)), type);
    case Instruction::FSub: return back(wide(i.getOperand(0)) - wide(i.getOperand(1)), type);
    case Instruction::FMul: return back(wide(i.getOperand(0)) * wide(i.getOperand(1)), type);
    case Instruction::FDiv: return back(wide(i.getOperand(0)) / wide(i.getOperand(1)), type);
    case Instruction::FNeg: return (bitsOf(i.getOperand(0)) ^ signBit(i.getOperand(0))).as(type->getScalarType());
    case Instruction::FCmp:
      return ir_.CreateFCmp(llvm::cast<llvm::FCmpInst>(i).getPredicate(), wide(i.getOperand(0)), wide(i.getOperand(1)));
    default: break;
  }
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
  if (!call) return nullptr;
  llvm::Value *x = call->getArgOperand(0);
  switch (call->getIntrinsicID()) {
    case ids::fma: return narrowFma(*call);
    case ids::fabs: return (bitsOf(x) & ~signBit(x)).as(type->getScalarType());
    case ids::copysign: {
      llvm::Value *sign = call->getArgOperand(1);
      return ((bitsOf(x) & ~signBit(x)) | (bitsOf(sign) & signBit(sign))).as(type->getScalarType());
    }
    case ids::sqrt:
    case ids::floor:
    case ids::ceil:
    case ids::trunc:
    case ids::rint:
    case ids::roundeven:
    case ids::round: {
      const Val w = wide(x);
      return back(w.made(ir_.CreateUnaryIntrinsic(call->getIntrinsicID(), w)), type);
    }
    case ids::fptosi_sat:
    case ids::fptoui_sat: {
      const Val w = wide(x);
      return ir_.CreateIntrinsic(call->getIntrinsicID(), {type, static_cast<llvm::Value *>(w)->getType()}, {w});
    }
    default: return nullptr;
  }
}

llvm::Value *Expander::llvmIntrinsic(llvm::IntrinsicInst &call) {
  const ID id = call.getIntrinsicID();
  Type *element = call.getType()->getScalarType();
  const auto direction = [&]() -> std::optional<Direction> {
    if (id == ids::round) return Direction::nearestAway;  // no instruction anywhere
    if (cpu_.roundsToIntegral) return std::nullopt;
    if (id == ids::roundeven || id == ids::rint || id == ids::nearbyint) return Direction::nearestEven;
    if (id == ids::trunc) return Direction::zero;
    if (id == ids::floor) return Direction::down;
    if (id == ids::ceil) return Direction::up;
    return std::nullopt;
  }();
  if (direction) {
    if (!element->isFloatTy() && !element->isDoubleTy()) return nullptr;
    return roundIntegral(val(call.getArgOperand(0)), *direction);
  }
  if (id == ids::fma && !cpu_.fusesMultiplyAdd)
    return softFma(val(call.getArgOperand(0)), val(call.getArgOperand(1)), val(call.getArgOperand(2)),
                   Direction::nearestEven);
  return nullptr;
}

llvm::Value *Expander::expand(Instruction &i) {
  ir_.SetInsertPoint(&i);
  const auto op = i.getOpcode();
  const bool isDivision =
      op == Instruction::UDiv || op == Instruction::SDiv || op == Instruction::URem || op == Instruction::SRem;
  if (isDivision) {
    if (!i.getType()->isVectorTy() || llvm::isa<llvm::Constant>(i.getOperand(1))) return nullptr;
    return divideVector(val(i.getOperand(0)), val(i.getOperand(1)), op == Instruction::SDiv || op == Instruction::SRem,
                        op == Instruction::URem || op == Instruction::SRem);
  }
  if (auto *cast = llvm::dyn_cast<llvm::CastInst>(&i)) return conversion(*cast);
  auto *call = llvm::dyn_cast<llvm::CallInst>(&i);
  if (call && !call->getCalledFunction()) return nullptr;
  if (call && call->getCalledFunction()->hasFnAttribute("strata.elementwise")) return strataCall(*call);
  if (i.getNumOperands() && lacks(i.getOperand(0)->getType()))
    if (llvm::Value *v = narrowFloat(i)) return v;
  if (auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&i)) return llvmIntrinsic(*intrinsic);
  return nullptr;
}

// Expansions may contain operations that need expanding again (fma inside ex2 on plain x86-64), so new
// instructions are visited, too: each step goes on behind the last instruction before the expansion.
void expandFunction(llvm::Function &f, const CpuFeatures &cpu) {
  Expander expander(f.getContext(), cpu);
  for (llvm::BasicBlock &block : f) {
    for (auto it = block.begin(); it != block.end();) {
      Instruction &i = *it;
      const bool first = it == block.begin();
      const auto before = first ? it : std::prev(it);
      llvm::Value *v = expander.expand(i);
      if (!v) {
        ++it;
        continue;
      }
      const llvm::DebugLoc where = i.getDebugLoc();
      it = first ? block.begin() : std::next(before);
      if (auto *named = llvm::dyn_cast<Instruction>(v); named && !named->hasName()) named->takeName(&i);
      i.replaceAllUsesWith(v);
      const bool atSelf = &*it == &i;
      if (atSelf) ++it;
      i.eraseFromParent();
    }
  }
}

}  // namespace
}  // namespace strata::simt::math

namespace strata::simt {

Result<void> expandMath(llvm::Module &module, const CpuFeatures &cpu) {
  for (llvm::Function &f : llvm::make_early_inc_range(module))
    if (!f.isDeclaration()) math::expandFunction(f, cpu);
  for (llvm::Function &f : llvm::make_early_inc_range(module)) {
    if (!f.hasFnAttribute("strata.elementwise")) continue;
    if (!f.use_empty()) return internalError("no expansion of " + f.getName().str());
    f.eraseFromParent();
  }
  return {};
}

}  // namespace strata::simt
