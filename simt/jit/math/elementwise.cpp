// SPDX-License-Identifier: Apache-2.0
#include "simt/jit/math/elementwise.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>

#include <numeric>

namespace strata::simt::math {

using llvm::Type;
using llvm::Value;

unsigned Val::lanes() const {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(value_->getType());
  return vector ? vector->getNumElements() : 0;
}

Type *Val::shaped(Type *element) const { return lanes() ? llvm::FixedVectorType::get(element, lanes()) : element; }

Val Val::lit(double x) const { return in(element(), x); }

Val Val::in(Type *element, double x) const {
  Type *type = shaped(element);
  if (element->isFloatingPointTy()) return made(llvm::ConstantFP::get(type, x));
  return made(llvm::ConstantInt::get(type, static_cast<std::uint64_t>(static_cast<std::int64_t>(x)), true));
}

Val Val::pattern(std::uint64_t bits) const {
  llvm::Constant *c = llvm::ConstantInt::get(shaped(builder_->getIntNTy(this->bits())), bits);
  return isFloat() ? made(c).as(element()) : made(c);
}

Val Val::as(Type *element) const { return made(builder_->CreateBitCast(value_, shaped(element))); }
Val Val::asInt() const { return as(builder_->getIntNTy(bits())); }
Val Val::asFloat() const {
  return as(bits() == 16 ? builder_->getHalfTy() : bits() == 32 ? builder_->getFloatTy() : builder_->getDoubleTy());
}
Val Val::extended(Type *element) const {
  return made(isFloat() ? builder_->CreateFPExt(value_, shaped(element))
                        : builder_->CreateZExt(value_, shaped(element)));
}
Val Val::rounded(Type *element) const { return made(builder_->CreateFPTrunc(value_, shaped(element))); }
Val Val::truncated(Type *element) const { return made(builder_->CreateTrunc(value_, shaped(element))); }

Val operator+(Val a, Val b) { return a.made(a.isFloat() ? a.builder().CreateFAdd(a, b) : a.builder().CreateAdd(a, b)); }
Val operator-(Val a, Val b) { return a.made(a.isFloat() ? a.builder().CreateFSub(a, b) : a.builder().CreateSub(a, b)); }
Val operator*(Val a, Val b) { return a.made(a.isFloat() ? a.builder().CreateFMul(a, b) : a.builder().CreateMul(a, b)); }
Val operator/(Val a, Val b) { return a.made(a.builder().CreateFDiv(a, b)); }
Val operator-(Val a) { return a.made(a.isFloat() ? a.builder().CreateFNeg(a) : a.builder().CreateNeg(a)); }
Val operator&(Val a, Val b) { return a.made(a.builder().CreateAnd(a, b)); }
Val operator|(Val a, Val b) { return a.made(a.builder().CreateOr(a, b)); }
Val operator^(Val a, Val b) { return a.made(a.builder().CreateXor(a, b)); }
Val operator~(Val a) { return a.made(a.builder().CreateNot(a)); }
Val shl(Val a, unsigned n) { return a.made(a.builder().CreateShl(a, n)); }
Val lshr(Val a, unsigned n) { return a.made(a.builder().CreateLShr(a, n)); }
Val ashr(Val a, unsigned n) { return a.made(a.builder().CreateAShr(a, n)); }
Val shl(Val a, Val n) { return a.made(a.builder().CreateShl(a, n)); }
Val lshr(Val a, Val n) { return a.made(a.builder().CreateLShr(a, n)); }
Val select(Val condition, Val a, Val b) { return a.made(a.builder().CreateSelect(condition, a, b)); }
Val lt(Val a, Val b) { return a.made(a.isFloat() ? a.builder().CreateFCmpOLT(a, b) : a.builder().CreateICmpSLT(a, b)); }
Val le(Val a, Val b) { return a.made(a.isFloat() ? a.builder().CreateFCmpOLE(a, b) : a.builder().CreateICmpSLE(a, b)); }
Val gt(Val a, Val b) { return lt(b, a); }
Val ge(Val a, Val b) { return le(b, a); }
Val eq(Val a, Val b) { return a.made(a.isFloat() ? a.builder().CreateFCmpOEQ(a, b) : a.builder().CreateICmpEQ(a, b)); }
Val ne(Val a, Val b) { return a.made(a.isFloat() ? a.builder().CreateFCmpONE(a, b) : a.builder().CreateICmpNE(a, b)); }
Val isNan(Val a) { return a.made(a.builder().CreateFCmpUNO(a, a)); }

static Val call(llvm::Intrinsic::ID id, Val type, llvm::ArrayRef<Value *> args) {
  return type.made(type.builder().CreateIntrinsic(id, {static_cast<Value *>(type)->getType()}, args));
}
Val fma(Val a, Val b, Val c) { return call(llvm::Intrinsic::fma, a, {a, b, c}); }
Val abs(Val a) { return call(llvm::Intrinsic::fabs, a, {a}); }
Val sqrt(Val a) { return call(llvm::Intrinsic::sqrt, a, {a}); }
Val copysign(Val magnitude, Val sign) { return call(llvm::Intrinsic::copysign, magnitude, {magnitude, sign}); }
Val roundeven(Val a) { return call(llvm::Intrinsic::roundeven, a, {a}); }
Val toSigned(Val a, Type *element) { return a.made(a.builder().CreateFPToSI(a, a.shaped(element))); }
Val fromSigned(Val a, Type *element) { return a.made(a.builder().CreateSIToFP(a, a.shaped(element))); }

Val polynomial(Val x, std::initializer_list<double> c) {
  auto term = std::rbegin(c);
  Val sum = x.lit(*term);
  for (++term; term != std::rend(c); ++term) sum = fma(sum, x, x.lit(*term));
  return sum;
}

using Emit = std::function<Value *(llvm::ArrayRef<Value *>)>;

Val inPieces(unsigned bits, std::initializer_list<Val> args, const Emit &emit) {
  const Val &first = *args.begin();
  llvm::IRBuilder<> &b = first.builder();
  const unsigned piece = bits / first.bits(), lanes = first.lanes();
  if (lanes <= piece) {  // one register; scalars and short vectors leave the rest undefined
    llvm::SmallVector<Value *, 4> wide;
    llvm::SmallVector<int, 32> pad(piece, -1);
    std::iota(pad.begin(), pad.begin() + lanes, 0);
    for (Val a : args) {
      Value *poison = llvm::PoisonValue::get(llvm::FixedVectorType::get(a.element(), piece));
      wide.push_back(lanes ? b.CreateShuffleVector(a, pad) : b.CreateInsertElement(poison, a, b.getInt32(0)));
    }
    Value *result = emit(wide);
    if (!lanes) return first.made(b.CreateExtractElement(result, b.getInt32(0)));
    return first.made(b.CreateShuffleVector(result, llvm::ArrayRef(pad).take_front(lanes)));
  }
  // Vectors whose length LLVM trimmed (63 lanes of 64, say) leave the end of the last piece undefined.
  llvm::SmallVector<int, 64> all(llvm::alignTo(lanes, piece), -1);
  std::iota(all.begin(), all.begin() + lanes, 0);
  llvm::SmallVector<Value *, 8> parts;
  for (unsigned at = 0; at < lanes; at += piece) {
    llvm::SmallVector<Value *, 4> slice;
    for (Val a : args) slice.push_back(b.CreateShuffleVector(a, llvm::ArrayRef(all).slice(at, piece)));
    parts.push_back(emit(slice));
  }
  Value *joined = llvm::concatenateVectors(b, parts);
  return first.made(lanes % piece ? b.CreateShuffleVector(joined, llvm::ArrayRef(all).take_front(lanes)) : joined);
}

Val perLane(llvm::ArrayRef<Val> args, const Emit &emit) {
  const Val &first = args.front();
  llvm::IRBuilder<> &b = first.builder();
  llvm::SmallVector<Value *, 4> one;
  if (!first.lanes()) {
    for (Val a : args) one.push_back(a);
    return first.made(emit(one));
  }
  Value *result = nullptr;
  for (unsigned lane = 0; lane < first.lanes(); ++lane) {
    one.clear();
    for (Val a : args) one.push_back(b.CreateExtractElement(a, lane));
    Value *r = emit(one);
    if (!result) result = llvm::PoisonValue::get(llvm::FixedVectorType::get(r->getType(), first.lanes()));
    result = b.CreateInsertElement(result, r, lane);
  }
  return first.made(result);
}

}  // namespace strata::simt::math
