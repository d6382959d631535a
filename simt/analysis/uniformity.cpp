// SPDX-License-Identifier: Apache-2.0
#include "simt/analysis/uniformity.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <bit>

#include "simt/analysis/lane_intrinsics.h"
#include "simt/analysis/launch_fields.h"

namespace strata::simt {
namespace {

using llvm::dyn_cast;
using llvm::Instruction;
using llvm::isa;
using llvm::Value;

unsigned widthOf(const Value *value) {
  llvm::Type *type = value->getType();
  if (type->isPointerTy()) return 64;
  return type->isIntegerTy() ? type->getIntegerBitWidth() : 0;
}

// The transfer functions: shape of an instruction from those of its operands.
class Transfer {
public:
  Transfer(const Uniformity &state, const llvm::LoopInfo &loops, const ThreadIndex &threads)
      : state_(state), loops_(loops), threads_(threads) {}

  Shape operator()(const Instruction &i) const {
    Shape shape = anyShape(i);
    const unsigned width = widthOf(&i);
    return shape.isSegmented() && width != 8 && width != 16 && width != 32 && width != 64 ? Shape::varying() : shape;
  }

private:
  Shape anyShape(const Instruction &i) const {
    if (auto *phi = dyn_cast<llvm::PHINode>(&i)) return phiShape(*phi);
    for (const Value *operand : i.operands())
      if (!isa<llvm::BasicBlock>(operand) && operandShape(operand).kind == Shape::Kind::undefined) return {};
    if (auto *call = dyn_cast<llvm::CallBase>(&i)) return callShape(*call);
    if (auto *load = dyn_cast<llvm::LoadInst>(&i)) return loadShape(*load);
    if (isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(i)) return Shape::varying();
    if (isa<llvm::AllocaInst>(i)) return allocaShape(i);
    if (auto *gep = dyn_cast<llvm::GEPOperator>(&i)) return gepShape(*gep);
    if (auto *select = dyn_cast<llvm::SelectInst>(&i)) return selectShape(*select);
    if (auto *compare = dyn_cast<llvm::ICmpInst>(&i)) return compareShape(*compare);
    if (auto *cast = dyn_cast<llvm::CastInst>(&i)) return castShape(*cast);
    if (i.isBinaryOp() && i.getType()->isIntegerTy()) {
      Shape shape = integerShape(i);
      return shape.isVarying() ? segmentedShape(i) : shape;
    }
    if (isa<llvm::FreezeInst>(i) && widthOf(&i)) return operandShape(i.getOperand(0));
    return allUniform(i) ? Shape::uniform() : Shape::varying();
  }

  Shape operandShape(const Value *value) const { return state_.shape(value); }

  bool allUniform(const llvm::User &user) const {
    return std::all_of(user.op_begin(), user.op_end(), [&](const llvm::Use &use) {
      return isa<llvm::BasicBlock>(use.get()) || operandShape(use.get()).isUniform();
    });
  }

  // A value that leaves a divergent loop was made in a different round for each lane.
  bool leavesDivergentLoop(const Value *value, const llvm::BasicBlock *to) const {
    auto *instruction = dyn_cast<Instruction>(value);
    if (!instruction) return false;
    for (const llvm::Loop *loop = loops_.getLoopFor(instruction->getParent()); loop && !loop->contains(to);
         loop = loop->getParentLoop())
      if (state_.control().isDivergent(loop)) return true;
    return false;
  }

  Shape phiShape(const llvm::PHINode &phi) const {
    const llvm::BasicBlock *block = phi.getParent();
    if (state_.control().isJoin(block)) {
      const Value *common = phi.hasConstantValue();
      if (!common || common == &phi || leavesDivergentLoop(common, block)) return Shape::varying();
      return operandShape(common);
    }
    Shape result;
    for (const Value *incoming : phi.incoming_values()) {
      if (leavesDivergentLoop(incoming, block)) return Shape::varying();
      result = meetShapes(result, operandShape(incoming), threads_.segmentLanes());
    }
    return termsDominate(result, block) ? result : Shape::varying();
  }

  // Terms name the extension's latest run: a phi may carry them only if the extension does not run again
  // while the phi's value lives, that is, if the phi lies in every loop that the extension lies in.
  bool termsDominate(const Shape &shape, const llvm::BasicBlock *block) const {
    return std::all_of(shape.terms.begin(), shape.terms.end(), [&](const ExtensionTerm &term) {
      const llvm::Loop *home = loops_.getLoopFor(term.extension->getParent());
      return term.extension->getParent() != block && (!home || (home->contains(block) && block != home->getHeader()));
    });
  }

  Shape callShape(const llvm::CallBase &call) const {
    const llvm::Function *callee = call.getCalledFunction();
    if (!callee) return Shape::varying();
    if (callee->isIntrinsic())
      return allUniform(call) && !call.mayWriteToMemory() ? Shape::uniform() : Shape::varying();
    LaneIntrinsic id = laneIntrinsic(*callee);
    switch (id) {
      case LaneIntrinsic::lane: {
        LaneOffsets offsets;
        for (unsigned l = 0; l < kLanes; ++l) offsets[l] = l;
        return Shape::affine(offsets, 64);
      }
      case LaneIntrinsic::tidX: return threads_.shape(0);
      case LaneIntrinsic::tidY: return threads_.shape(1);
      case LaneIntrinsic::tidZ: return threads_.shape(2);
      case LaneIntrinsic::elementwise: return allUniform(call) ? Shape::uniform() : Shape::varying();
      default: break;
    }
    // A vote of all members is the same for all of them if they agree on the members.
    if (isVote(id)) return operandShape(call.getArgOperand(0)).isUniform() ? Shape::uniform() : Shape::varying();
    return isWarpWide(id) ? Shape::uniform() : Shape::varying();
  }

  // One load serves all lanes that read the same address.
  Shape loadShape(const llvm::LoadInst &load) const {
    if (!operandShape(load.getPointerOperand()).isUniform()) return Shape::varying();
    std::optional<std::uint64_t> field = launchField(load);
    if (field == offsetof(LaunchState, blockDim)) return Shape::uniform(threads_.blockDimAlignment());
    return Shape::uniform();
  }

  static Shape allocaShape(const Instruction &alloca) {
    LaneOffsets offsets;
    std::int64_t stride = laneStride(alloca);
    for (unsigned l = 0; l < kLanes; ++l) offsets[l] = l * stride;
    return Shape::affine(offsets);
  }

  Shape gepShape(const llvm::GEPOperator &gep) const {
    const llvm::DataLayout &layout = llvm::cast<Instruction>(gep).getModule()->getDataLayout();
    llvm::MapVector<Value *, llvm::APInt> variables;
    llvm::APInt constant(64, 0);
    if (!gep.getType()->isPointerTy() || !gep.collectOffset(layout, 64, variables, constant)) return Shape::varying();
    Shape result = operandShape(gep.getPointerOperand());
    std::uint64_t fixed = constant.getZExtValue();
    result = addShapes(result, Shape::uniform(fixed ? std::countr_zero(fixed) : 64), 64);
    for (auto &[index, scale] : variables) {
      Shape shape = operandShape(index);
      // A narrow index is sign-extended: prepare has made that explicit unless the index is uniform.
      if (widthOf(index) != 64 && !shape.isUniform()) return Shape::varying();
      result = addShapes(result, scaleShape(shape, scale.getSExtValue(), 64), 64);
    }
    return result;
  }

  Shape selectShape(const llvm::SelectInst &select) const {
    Shape a = operandShape(select.getTrueValue()), b = operandShape(select.getFalseValue());
    if (select.getTrueValue() == select.getFalseValue()) return a;
    if (!operandShape(select.getCondition()).isUniform()) return Shape::varying();
    Shape met = meetShapes(a, b, threads_.segmentLanes());
    return met.terms.empty() ? met : Shape::varying();
  }

  // Equality of values with the same offsets; comparison of a carry-free value with a multiple of its
  // granule, e.g. tid.x < 64 in warps that are rows.
  Shape compareShape(const llvm::ICmpInst &compare) const {
    Shape a = operandShape(compare.getOperand(0)), b = operandShape(compare.getOperand(1));
    if (a.isUniform() && b.isUniform()) return Shape::uniform();
    if (compare.isEquality() && a.isAffine() && b.isAffine() && a.offsets == b.offsets && a.terms == b.terms)
      return Shape::uniform();
    return comparesGranules(compare, a) ? Shape::uniform() : Shape::varying();
  }

  static bool comparesGranules(const llvm::ICmpInst &compare, const Shape &a) {
    auto *bound = dyn_cast<llvm::ConstantInt>(compare.getOperand(1));
    if (!bound || bound->getBitWidth() > 64 || !a.isAffine() || !a.carryFree() || a.alignment >= 64) return false;
    std::uint64_t value = bound->getZExtValue();
    std::uint64_t granule = std::uint64_t{1} << a.alignment;
    switch (compare.getPredicate()) {
      case llvm::ICmpInst::ICMP_ULT:
      case llvm::ICmpInst::ICMP_UGE:
      case llvm::ICmpInst::ICMP_SLT:
      case llvm::ICmpInst::ICMP_SGE: return value % granule == 0;
      case llvm::ICmpInst::ICMP_UGT:
      case llvm::ICmpInst::ICMP_ULE:
      case llvm::ICmpInst::ICMP_SGT:
      case llvm::ICmpInst::ICMP_SLE: return (value + 1) % granule == 0;
      default: return false;
    }
  }

  Shape castShape(const llvm::CastInst &cast) const {
    Shape shape = operandShape(cast.getOperand(0));
    if (isa<llvm::IntToPtrInst, llvm::PtrToIntInst>(cast)) {
      bool sameWidth = widthOf(cast.getOperand(0)) == widthOf(&cast);
      return sameWidth || shape.isUniform() ? shape : Shape::varying();
    }
    if (isa<llvm::TruncInst>(cast) && widthOf(&cast)) return truncShape(shape, widthOf(&cast));
    if (isa<llvm::SExtInst, llvm::ZExtInst>(cast) && widthOf(&cast)) return extensionShape(cast, shape);
    return shape.isUniform() ? Shape::uniform() : Shape::varying();
  }

  Shape extensionShape(const llvm::CastInst &cast, const Shape &shape) const {
    if (!shape.isExact() || widthOf(&cast) > 64) return shape.isUniform() ? Shape::uniform() : Shape::varying();
    if (shape.isUniform()) return shape;
    unsigned width = widthOf(cast.getOperand(0));
    if (shape.carryFree() || addsBelowGranule(cast) || extendsSmallValue(cast, shape)) return shape;
    if (width < 32) return Shape::varying();
    Shape result = shape;
    result.terms.push_back({&cast, 1});
    return result;
  }

  // The extended value is a carry-free one and a constant that does not carry either.
  bool addsBelowGranule(const llvm::CastInst &cast) const {
    auto *add = dyn_cast<llvm::BinaryOperator>(cast.getOperand(0));
    auto *constant =
        add && add->getOpcode() == Instruction::Add ? dyn_cast<llvm::ConstantInt>(add->getOperand(1)) : nullptr;
    return constant && operandShape(add->getOperand(0)).carryFreeWith(constant->getZExtValue(), widthOf(add));
  }

  Shape integerShape(const Instruction &i) const {
    const Value *left = i.getOperand(0), *right = i.getOperand(1);
    Shape a = operandShape(left), b = operandShape(right);
    unsigned width = widthOf(&i);
    if (width > 64) return allUniform(i) ? Shape::uniform() : Shape::varying();
    auto *constant = dyn_cast<llvm::ConstantInt>(right);
    std::uint64_t bits = constant ? constant->getZExtValue() : 0;
    Shape general = a.isUniform() && b.isUniform() ? Shape::uniform() : Shape::varying();
    switch (i.getOpcode()) {
      case Instruction::Add: return addShapes(a, b, width);
      case Instruction::Sub: return subShapes(a, b, width);
      case Instruction::Mul:
        if (constant) return scaleShape(a, constant->getSExtValue(), width);
        return mulUniform(a, b);
      case Instruction::Shl:
        if (constant && bits < width) return scaleShape(a, static_cast<std::int64_t>(std::uint64_t{1} << bits), width);
        return a.isUniform() && b.isUniform() ? Shape::uniform(a.alignment) : Shape::varying();
      case Instruction::LShr:
      case Instruction::AShr:
        return constant && bits < width ? shiftRightShape(a, static_cast<unsigned>(bits)) : general;
      case Instruction::And:
        return constant ? andShape(a, bits, width) : b.isUniform() ? andUniform(a, b) : andUniform(b, a);
      case Instruction::Or:
        if (llvm::cast<llvm::PossiblyDisjointInst>(i).isDisjoint()) return addShapes(a, b, width);
        return goesIntoOffsets(i, a) ? orShape(a, bits, width) : b.isUniform() ? orUniform(a, b) : orUniform(b, a);
      case Instruction::Xor:
        return goesIntoOffsets(i, a) ? xorShape(a, bits, width) : b.isUniform() ? orUniform(a, b) : orUniform(b, a);
      case Instruction::UDiv: return divideUniform(a, b);
      case Instruction::URem: return remainderUniform(a, b);
      default: return general;
    }
  }

  // Operands that are the same within each segment give such a result. A segment may have no active lane, so that
  // its scalars may be anything: divisions are by constants only.
  Shape segmentedShape(const Instruction &i) const {
    const unsigned lanes = threads_.segmentLanes();
    if (!lanes || widthOf(&i) > 64) return Shape::varying();
    auto *constant = dyn_cast<llvm::ConstantInt>(i.getOperand(1));
    if (i.isIntDivRem() && (!constant || constant->isZero() || constant->isMinusOne())) return Shape::varying();
    for (const Value *operand : i.operands())
      if (!segmented(operandShape(operand), lanes).isSame()) return Shape::varying();
    return segmented(Shape::uniform(), lanes);
  }

  const Uniformity &state_;
  const llvm::LoopInfo &loops_;
  const ThreadIndex &threads_;
};

}  // namespace

bool extendsSmallValue(const llvm::CastInst &cast, const Shape &shape) {
  const Value *value = cast.getOperand(0);
  unsigned width = widthOf(value);
  const llvm::DataLayout &layout = cast.getModule()->getDataLayout();
  llvm::KnownBits known = llvm::computeKnownBits(value, layout);
  std::uint64_t span = static_cast<std::uint64_t>(shape.maxOffset() - shape.minOffset());
  std::uint64_t limit = (std::uint64_t{1} << (width - 1)) - 1;
  return span <= limit && known.getMaxValue().ule(llvm::APInt(width, limit - span));
}

bool extendsAsSigned(const llvm::CastInst &cast, const Shape &shape) {
  return isa<llvm::SExtInst>(cast) || (!shape.carryFree() && extendsSmallValue(cast, shape));
}

bool goesIntoOffsets(const Instruction &i, const Shape &first) {
  auto *constant = dyn_cast<llvm::ConstantInt>(i.getOperand(1));
  return constant && constant->getBitWidth() <= 64 && !first.isUniform() && !first.isVarying() &&
         (first.alignment >= 64 || constant->getZExtValue() < std::uint64_t{1} << first.alignment);
}

std::int64_t laneStride(const Instruction &instruction) {
  auto &alloca = llvm::cast<llvm::AllocaInst>(instruction);
  if (llvm::MDNode *node = alloca.getMetadata(kInterleavedMetadata)) {
    auto *size = llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(0));
    return size->getSExtValue();
  }
  const llvm::DataLayout &layout = alloca.getModule()->getDataLayout();
  std::uint64_t size = alloca.getAllocationSize(layout)->getFixedValue();
  return static_cast<std::int64_t>(llvm::alignTo(size, alloca.getAlign()));
}

Uniformity::Uniformity(llvm::Function &function, const llvm::LoopInfo &loops, const BlockOrder &order,
                       const ThreadIndex &threads)
    : loops_(loops), order_(order), threads_(threads), control_(loops, order) {
  for (llvm::Argument &argument : function.args())
    shapes_[&argument] = argument.getArgNo() == 0 ? Shape::uniform() : Shape::varying();
  solve();
}

Shape Uniformity::shape(const Value *value) const {
  if (auto at = shapes_.find(value); at != shapes_.end()) return at->second;
  if (auto *constant = dyn_cast<llvm::ConstantInt>(value); constant && constant->getBitWidth() <= 64) {
    std::uint64_t bits = constant->getZExtValue();
    return Shape::uniform(bits ? std::countr_zero(bits) : 64);
  }
  return isa<Instruction>(value) ? Shape{} : Shape::uniform();
}

bool Uniformity::evaluate(const Instruction &i) {
  if (shapes_.contains(&i)) return false;
  shapes_[&i] = Transfer(*this, loops_, threads_)(i);
  return true;
}

void Uniformity::solve() {
  Transfer transfer(*this, loops_, threads_);
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::BasicBlock *block : order_.blocks()) {
      for (Instruction &instruction : *block) {
        if (instruction.getType()->isVoidTy()) continue;
        Shape &old = shapes_[&instruction];
        Shape now = transfer(instruction);
        if (old.isVarying() || now == old) continue;
        // Falling only: an affine value that would get other offsets varies. What an extension gives may come to need a
        // guard, once its operand's alignment has fallen.
        const bool needsGuard = old.isExact() && now.isAffine() && !now.isExact();
        Shape exact = now;
        if (needsGuard) exact.terms.clear();
        Shape met = meetShapes(old, exact, threads_.segmentLanes());
        if (needsGuard && met.isAffine()) met.terms = now.terms;
        if (met == old) continue;
        old = met;
        changed = true;
      }
      auto *branch = dyn_cast<llvm::BranchInst>(block->getTerminator());
      if (!branch || !branch->isConditional()) continue;
      Shape condition = shape(branch->getCondition());
      if (condition.kind == Shape::Kind::undefined || condition.isUniform()) continue;
      changed |= control_.markDivergent(block);
    }
  }
}

}  // namespace strata::simt
