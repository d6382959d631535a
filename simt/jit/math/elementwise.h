// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic as IR. A Val is a scalar or a vector of any width, and code written with Vals serves
// both: operators emit the instruction for the element type (float or integer), literals take the shape of
// the value they are made from.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <functional>

namespace strata::simt::math {

class Val {
public:
  Val(llvm::IRBuilder<> &builder, llvm::Value *value) : builder_(&builder), value_(value) {}
  operator llvm::Value *() const { return value_; }
  llvm::IRBuilder<> &builder() const { return *builder_; }
  llvm::Type *element() const { return value_->getType()->getScalarType(); }
  bool isFloat() const { return element()->isFloatingPointTy(); }
  unsigned lanes() const;  // 0: scalar
  unsigned bits() const { return element()->getScalarSizeInBits(); }

  llvm::Type *shaped(llvm::Type *element) const;  // element in this value's shape
  Val lit(double x) const;                        // x as this type
  Val pattern(std::uint64_t bits) const;          // the constant with this bit pattern
  Val in(llvm::Type *element, double x) const;    // x as another element type, in this shape
  Val made(llvm::Value *value) const { return Val(*builder_, value); }

  Val asInt() const;                        // same bits
  Val asFloat() const;                      // same bits: i16 half, i32 float, i64 double
  Val as(llvm::Type *element) const;        // same bits
  Val extended(llvm::Type *element) const;  // fpext, or zext of integers
  Val rounded(llvm::Type *element) const;   // fptrunc (nearest even)
  Val truncated(llvm::Type *element) const;

private:
  llvm::IRBuilder<> *builder_;
  llvm::Value *value_;
};

Val operator+(Val a, Val b);
Val operator-(Val a, Val b);
Val operator*(Val a, Val b);
Val operator/(Val a, Val b);  // floats
Val operator-(Val a);
Val operator&(Val a, Val b);  // integers and i1
Val operator|(Val a, Val b);
Val operator^(Val a, Val b);
Val operator~(Val a);
Val shl(Val a, unsigned n);
Val lshr(Val a, unsigned n);
Val ashr(Val a, unsigned n);
Val shl(Val a, Val n);
Val lshr(Val a, Val n);
Val select(Val condition, Val a, Val b);
// Ordered for floats, signed for integers.
Val lt(Val a, Val b);
Val le(Val a, Val b);
Val gt(Val a, Val b);
Val ge(Val a, Val b);
Val eq(Val a, Val b);
Val ne(Val a, Val b);  // floats: ordered and different
Val isNan(Val a);
Val fma(Val a, Val b, Val c);
Val abs(Val a);
Val sqrt(Val a);
Val copysign(Val magnitude, Val sign);
Val roundeven(Val a);
Val toSigned(Val a, llvm::Type *element);    // fptosi
Val fromSigned(Val a, llvm::Type *element);  // sitofp

// c[0] + c[1] x + … by Horner's rule.
Val polynomial(Val x, std::initializer_list<double> c);

// Calls `emit` on pieces of `args` (all of the same shape) of so many bits, the size of a register, and joins the
// results. Scalars and short vectors ride in one register.
Val inPieces(unsigned bits, std::initializer_list<Val> args,
             const std::function<llvm::Value *(llvm::ArrayRef<llvm::Value *>)> &emit);
// Calls `emit` once for each lane.
Val perLane(llvm::ArrayRef<Val> args, const std::function<llvm::Value *(llvm::ArrayRef<llvm::Value *>)> &emit);

}  // namespace strata::simt::math
