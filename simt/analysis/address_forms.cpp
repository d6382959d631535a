// SPDX-License-Identifier: Apache-2.0
#include "simt/analysis/address_forms.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <bit>

namespace strata::simt {
namespace {

using llvm::cast;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::Instruction;
using llvm::isa;
using llvm::Value;

constexpr unsigned kMostDepth = 16;

// Modulo 2^64; a sum of narrower values is taken as signed.
std::int64_t wrapMul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

template <class Form>
Form sum(Form a, const Form &b, std::int64_t factor) {
  for (auto [leaf, scale] : b.terms)
    if (!(a.terms[leaf] += wrapMul(scale, factor))) a.terms.erase(leaf);
  a.constant += wrapMul(b.constant, factor);
  return a;
}

}  // namespace

std::optional<std::int64_t> AddressForms::distance(const Value *a, const Value *b) {
  const Form from = form(a, 0), to = form(b, 0);
  if (from.terms != to.terms) return std::nullopt;
  return to.constant - from.constant;
}

AddressForms::Form AddressForms::leaf(const Leaf &leaf) {
  auto at = std::find(leaves_.begin(), leaves_.end(), leaf);
  if (at == leaves_.end()) at = leaves_.insert(leaves_.end(), leaf);
  return {{{static_cast<unsigned>(at - leaves_.begin()), 1}}, 0};
}

AddressForms::Form AddressForms::leaf(const Value *value) {
  return leaf(Leaf{value, false, {}, uniformity_.shape(value).alignment});
}

// The sum is a multiple of 2^this.
unsigned AddressForms::alignment(const Terms &terms) const {
  unsigned least = 64;
  for (auto [leaf, factor] : terms)
    least = std::min(
        least, leaves_[leaf].alignment + static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(factor))));
  return least;
}

// The sum is in [0, 2^(width-1)): either extension gives the same.
bool AddressForms::isSmall(const Terms &terms, unsigned width) const {
  const std::uint64_t limit = std::uint64_t{1} << (width - 1);
  std::uint64_t most = 0;
  for (auto [number, factor] : terms) {
    auto *leaf = dyn_cast_or_null<Instruction>(leaves_[number].value);
    if (!leaf || factor < 0 || !uniformity_.shape(leaf).carryFree()) return false;
    const llvm::APInt value = llvm::computeKnownBits(leaf, leaf->getModule()->getDataLayout()).getMaxValue();
    if (value.uge(limit) || static_cast<std::uint64_t>(factor) > limit / (value.getZExtValue() + 1)) return false;
    most += value.getZExtValue() * static_cast<std::uint64_t>(factor);
    if (most >= limit) return false;
  }
  return true;
}

AddressForms::Form AddressForms::form(const Value *value, unsigned depth) {
  if (auto *constant = dyn_cast<llvm::ConstantInt>(value); constant && constant->getBitWidth() <= 64)
    return {{}, constant->getSExtValue()};
  const Shape shape = uniformity_.shape(value);
  if (shape.isAffine() && shape.alignment >= 64) return {};
  if (auto known = known_.find(value); known != known_.end()) return known->second;
  auto *i = dyn_cast<Instruction>(value);
  return known_[value] = i && depth < kMostDepth ? instructionForm(*i, depth + 1) : leaf(value);
}

AddressForms::Form AddressForms::instructionForm(const Instruction &i, unsigned depth) {
  auto *constant = i.getNumOperands() == 2 ? dyn_cast<llvm::ConstantInt>(i.getOperand(1)) : nullptr;
  const auto operand = [&](unsigned n) { return form(i.getOperand(n), depth); };
  switch (i.getOpcode()) {
    case Instruction::Add: return sum(operand(0), operand(1), 1);
    case Instruction::Sub: return sum(operand(0), operand(1), -1);
    case Instruction::Mul: return constant ? sum(Form{}, operand(0), constant->getSExtValue()) : leaf(&i);
    case Instruction::Shl:
      if (!constant || constant->getValue().uge(63)) return leaf(&i);
      return sum(Form{}, operand(0), std::int64_t{1} << constant->getZExtValue());
    case Instruction::Or:
      if (cast<llvm::PossiblyDisjointInst>(i).isDisjoint()) return sum(operand(0), operand(1), 1);
      [[fallthrough]];
    case Instruction::Xor: return goesIntoOffsets(i, uniformity_.shape(i.getOperand(0))) ? operand(0) : leaf(&i);
    case Instruction::SExt:
    case Instruction::ZExt: return extensionForm(cast<llvm::CastInst>(i), depth);
    case Instruction::IntToPtr:
    case Instruction::PtrToInt:
      return i.getOperand(0)->getType()->isIntegerTy(64) || i.getType()->isIntegerTy(64) ? operand(0) : leaf(&i);
    case Instruction::GetElementPtr: {
      llvm::MapVector<Value *, llvm::APInt> variables;
      llvm::APInt fixed(64, 0);
      auto &gep = cast<llvm::GEPOperator>(i);
      if (!gep.collectOffset(i.getModule()->getDataLayout(), 64, variables, fixed)) return leaf(&i);
      Form result = form(gep.getPointerOperand(), depth);
      for (auto &[index, scale] : variables) {
        if (!index->getType()->isIntegerTy(64)) return leaf(&i);
        result = sum(result, form(index, depth), scale.getSExtValue());
      }
      result.constant += fixed.getSExtValue();
      return result;
    }
    default: return leaf(&i);
  }
}

// The extension of a sum is that of its multiple of a granule, and what is less than the granule.
AddressForms::Form AddressForms::extensionForm(const llvm::CastInst &ext, unsigned depth) {
  const Value *narrow = ext.getOperand(0);
  const unsigned width = narrow->getType()->getIntegerBitWidth();
  if (!ext.getType()->isIntegerTy(64) || width > 64) return leaf(&ext);
  Form inner = form(narrow, depth);
  const bool isSigned = extendsAsSigned(ext, uniformity_.shape(narrow));
  const llvm::APInt constant = llvm::APInt(64, static_cast<std::uint64_t>(inner.constant)).trunc(width);
  for (auto &[number, factor] : inner.terms)
    factor = llvm::APInt(64, static_cast<std::uint64_t>(factor)).trunc(width).getSExtValue();
  std::erase_if(inner.terms, [](const auto &term) { return term.second == 0; });
  if (inner.terms.empty())
    return {{}, isSigned ? constant.getSExtValue() : static_cast<std::int64_t>(constant.getZExtValue())};
  const unsigned granule = std::min(alignment(inner.terms), width - 1);
  if (constant.getActiveBits() > granule) return leaf(&ext);
  Form result =
      leaf(Leaf{nullptr, isSigned && !isSmall(inner.terms, width), inner.terms, static_cast<std::uint8_t>(granule)});
  result.constant = static_cast<std::int64_t>(constant.getZExtValue());
  return result;
}

}  // namespace strata::simt
