// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/machine/split_lanes.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallSet.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

#include "simt/abi.h"
#include "simt/analysis/masked_access.h"
#include "simt/passes/machine/order_parts.h"

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::dyn_cast;
using llvm::FixedVectorType;
using llvm::Instruction;
using llvm::IntrinsicInst;
using llvm::isa;
using llvm::Type;
using llvm::Value;
namespace ids = llvm::Intrinsic;

using Parts = llvm::SmallVector<Value *, 4>;

bool isWarpWide(const Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  return vector && vector->getNumElements() == kWarpSize;
}

// Narrow elements fill a register with more lanes, so that they are better left whole.
bool isCut(const Type *type) {
  if (!isWarpWide(type)) return false;
  const Type *element = type->getScalarType();
  return element->isIntegerTy(1) || element->isPointerTy() || element->getPrimitiveSizeInBits() >= 32;
}

bool isReduction(ids::ID id) {
  return id == ids::vector_reduce_and || id == ids::vector_reduce_or || id == ids::vector_reduce_xor ||
         id == ids::vector_reduce_add || id == ids::vector_reduce_mul || id == ids::vector_reduce_umin ||
         id == ids::vector_reduce_umax || id == ids::vector_reduce_smin || id == ids::vector_reduce_smax;
}

class LaneSplitter {
public:
  LaneSplitter(llvm::Function &function, unsigned lanes)
      : function_(function), lanes_(lanes), count_(kWarpSize / lanes), builder_(function.getContext()) {}

  // True if anything was split. `partOf` then says which part an instruction belongs to.
  bool run();
  const PartOf &partOf() const { return partOf_; }

private:
  bool splits(Instruction &i) const;
  bool splitsCall(const IntrinsicInst &call) const;
  bool splitsShuffle(const llvm::ShuffleVectorInst &shuffle) const;
  void split(Instruction &i);
  Value *splitPart(Instruction &i, unsigned part);
  Value *callPart(IntrinsicInst &call, unsigned part);
  Value *maskedPart(const MaskedAccess &access, unsigned part);
  Value *shufflePart(llvm::ShuffleVectorInst &shuffle, unsigned part);
  Value *bitsPart(llvm::BitCastInst &cast, unsigned part);
  void joinBits(llvm::BitCastInst &cast);
  bool compareBits(llvm::ICmpInst &compare, const Parts &bits);
  void reduce(IntrinsicInst &call);
  void extract(llvm::ExtractElementInst &extract);
  void fillPhis();

  Type *partType(Type *whole) const { return FixedVectorType::get(whole->getScalarType(), lanes_); }
  const Parts &parts(Value *value);
  Value *part(Value *value, unsigned index) { return isWarpWide(value->getType()) ? parts(value)[index] : value; }
  Value *cut(Value *value, unsigned index);
  Value *join(const Parts &parts);
  void useWhole();
  std::uint64_t partBytes(Type *type) const;  // in memory, of a whole value's type
  Value *partPointer(Value *pointer, Type *type, unsigned part);
  llvm::Align partAlign(llvm::Align align, Type *type) const;
  void replace(Instruction &i, Value *by);
  void afterDefinition(Value *value);

  llvm::Function &function_;
  const unsigned lanes_, count_;
  llvm::IRBuilder<> builder_;
  llvm::DenseMap<Value *, Parts> parts_;
  std::vector<Instruction *> done_;  // split, to be removed
  llvm::SmallPtrSet<const llvm::User *, 8> compared_;
  PartOf partOf_;
};

bool LaneSplitter::splitsCall(const IntrinsicInst &call) const {
  const ids::ID id = call.getIntrinsicID();
  if (isReduction(id)) return isCut(call.getArgOperand(0)->getType());
  if (auto access = maskedAccess(call)) return isCut(access->type);
  return llvm::isTriviallyVectorizable(id) && isCut(call.getType());
}

// What is taken from a whole warp must come from one or two parts.
bool LaneSplitter::splitsShuffle(const llvm::ShuffleVectorInst &shuffle) const {
  if (!isCut(shuffle.getType())) return false;
  if (!isCut(shuffle.getOperand(0)->getType())) return true;
  for (unsigned p = 0; p < count_; ++p) {
    llvm::SmallSet<int, 4> from;
    for (int lane : shuffle.getShuffleMask().slice(p * lanes_, lanes_))
      if (lane >= 0) from.insert(lane / static_cast<int>(lanes_));
    if (from.size() > 2) return false;
  }
  return true;
}

bool LaneSplitter::splits(Instruction &i) const {
  if (auto *call = dyn_cast<IntrinsicInst>(&i)) return splitsCall(*call);
  if (auto *shuffle = dyn_cast<llvm::ShuffleVectorInst>(&i)) return splitsShuffle(*shuffle);
  if (auto *load = dyn_cast<llvm::LoadInst>(&i)) return load->isSimple() && isCut(i.getType());
  if (auto *store = dyn_cast<llvm::StoreInst>(&i))
    return store->isSimple() && isCut(store->getValueOperand()->getType());
  if (auto *cast = dyn_cast<llvm::BitCastInst>(&i)) {
    Type *from = cast->getSrcTy(), *to = cast->getDestTy();
    if (isCut(from) && from->getScalarType()->isIntegerTy(1)) return to->isIntegerTy();
    return isCut(to) && (isWarpWide(from) || (from->isIntegerTy() && to->getScalarType()->isIntegerTy(1)));
  }
  if (auto *extract = dyn_cast<llvm::ExtractElementInst>(&i))
    return isCut(extract->getVectorOperandType()) && isa<llvm::ConstantInt>(extract->getIndexOperand());
  if (auto *insert = dyn_cast<llvm::InsertElementInst>(&i))
    return isCut(i.getType()) && isa<llvm::ConstantInt>(insert->getOperand(2));
  if (isa<llvm::CmpInst>(i)) return isCut(i.getOperand(0)->getType());
  return isCut(i.getType()) && isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst, llvm::SelectInst,
                                   llvm::PHINode, llvm::FreezeInst, llvm::GetElementPtrInst>(i);
}

// The builder stands where values made of `value` may be computed.
void LaneSplitter::afterDefinition(Value *value) {
  auto *i = dyn_cast<Instruction>(value);
  if (!i) builder_.SetInsertPoint(&*function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  else if (isa<llvm::PHINode>(i)) builder_.SetInsertPoint(&*i->getParent()->getFirstInsertionPt());
  else builder_.SetInsertPoint(i->getNextNode());
}

Value *LaneSplitter::cut(Value *value, unsigned index) {
  return builder_.CreateShuffleVector(value, llvm::createSequentialMask(index * lanes_, lanes_, 0));
}

const Parts &LaneSplitter::parts(Value *value) {
  if (auto known = parts_.find(value); known != parts_.end()) return known->second;
  llvm::IRBuilder<>::InsertPointGuard keep(builder_);
  afterDefinition(value);
  Parts made;
  for (unsigned p = 0; p < count_; ++p) made.push_back(cut(value, p));
  return parts_[value] = made;
}

Value *LaneSplitter::join(const Parts &parts) { return llvm::concatenateVectors(builder_, parts); }

std::uint64_t LaneSplitter::partBytes(Type *type) const {
  Type *element = type->getScalarType();
  const std::uint64_t bits =
      element->isIntegerTy(1) ? 1 : function_.getParent()->getDataLayout().getTypeSizeInBits(element);
  return lanes_ * bits / 8;
}

Value *LaneSplitter::partPointer(Value *pointer, Type *type, unsigned part) {
  return part ? builder_.CreateConstGEP1_64(builder_.getInt8Ty(), pointer, part * partBytes(type)) : pointer;
}

llvm::Align LaneSplitter::partAlign(llvm::Align align, Type *type) const {
  return llvm::commonAlignment(align, partBytes(type));
}

Value *LaneSplitter::maskedPart(const MaskedAccess &a, unsigned p) {
  Value *mask = part(a.mask, p);
  if (a.isContiguous()) {
    Value *pointer = partPointer(a.address, a.type, p);
    const llvm::Align align = partAlign(a.align, a.type);
    if (a.stored) return builder_.CreateMaskedStore(part(a.stored, p), pointer, align, mask);
    return builder_.CreateMaskedLoad(partType(a.type), pointer, align, mask, part(a.passThrough, p));
  }
  Value *pointers = part(a.address, p);
  if (a.stored) return builder_.CreateMaskedScatter(part(a.stored, p), pointers, a.align, mask);
  return builder_.CreateMaskedGather(partType(a.type), pointers, a.align, mask, part(a.passThrough, p));
}

Value *LaneSplitter::callPart(IntrinsicInst &call, unsigned p) {
  if (auto access = maskedAccess(call)) return maskedPart(*access, p);
  const ids::ID id = call.getIntrinsicID();
  llvm::SmallVector<Value *, 4> args;
  llvm::SmallVector<Type *, 2> types;
  if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1)) types.push_back(partType(call.getType()));
  for (unsigned a = 0; a < call.arg_size(); ++a) {
    args.push_back(llvm::isVectorIntrinsicWithScalarOpAtArg(id, a) ? call.getArgOperand(a)
                                                                   : part(call.getArgOperand(a), p));
    if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, a)) types.push_back(args.back()->getType());
  }
  return builder_.CreateIntrinsic(id, types, args);
}

Value *LaneSplitter::shufflePart(llvm::ShuffleVectorInst &shuffle, unsigned p) {
  const llvm::ArrayRef<int> mask = shuffle.getShuffleMask().slice(p * lanes_, lanes_);
  Value *a = shuffle.getOperand(0), *b = shuffle.getOperand(1);
  if (!isCut(a->getType())) {
    const bool same = llvm::cast<FixedVectorType>(a->getType())->getNumElements() == lanes_ &&
                      llvm::ShuffleVectorInst::isIdentityMask(mask, static_cast<int>(lanes_));
    return same && mask[0] == 0 ? a : builder_.CreateShuffleVector(a, b, mask);
  }
  llvm::SmallVector<int, 16> own;
  llvm::SmallVector<int, 2> from;
  for (int lane : mask) {
    if (lane < 0) {
      own.push_back(lane);
      continue;
    }
    const int source = lane / static_cast<int>(lanes_);
    auto *known = llvm::find(from, source);
    if (known == from.end()) from.push_back(source), known = from.end() - 1;
    own.push_back(static_cast<int>((known - from.begin()) * lanes_) + lane % static_cast<int>(lanes_));
  }
  const auto source = [&](unsigned i) -> Value * {
    if (i >= from.size()) return llvm::PoisonValue::get(partType(a->getType()));
    const unsigned whole = static_cast<unsigned>(from[i]);
    return part(whole < count_ ? a : b, whole % count_);
  };
  if (llvm::ShuffleVectorInst::isIdentityMask(own, static_cast<int>(lanes_)) && from.size() == 1) return source(0);
  return builder_.CreateShuffleVector(source(0), source(1), own);
}

// A part of the mask that a word's bits are.
Value *LaneSplitter::bitsPart(llvm::BitCastInst &cast, unsigned p) {
  Value *word = cast.getOperand(0);
  Value *bits = p ? builder_.CreateLShr(word, p * lanes_) : word;
  return builder_.CreateBitCast(builder_.CreateTrunc(bits, builder_.getIntNTy(lanes_)), partType(cast.getType()));
}

Value *LaneSplitter::splitPart(Instruction &i, unsigned p) {
  if (auto *call = dyn_cast<IntrinsicInst>(&i)) return callPart(*call, p);
  if (auto *shuffle = dyn_cast<llvm::ShuffleVectorInst>(&i)) return shufflePart(*shuffle, p);
  if (auto *load = dyn_cast<llvm::LoadInst>(&i))
    return builder_.CreateAlignedLoad(partType(i.getType()), partPointer(load->getPointerOperand(), i.getType(), p),
                                      partAlign(load->getAlign(), i.getType()));
  if (auto *store = dyn_cast<llvm::StoreInst>(&i)) {
    Type *type = store->getValueOperand()->getType();
    return builder_.CreateAlignedStore(part(store->getValueOperand(), p),
                                       partPointer(store->getPointerOperand(), type, p),
                                       partAlign(store->getAlign(), type));
  }
  if (auto *insert = dyn_cast<llvm::InsertElementInst>(&i)) {
    const auto lane = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(insert->getOperand(2))->getZExtValue());
    Value *into = part(insert->getOperand(0), p);
    return lane / lanes_ == p ? builder_.CreateInsertElement(into, insert->getOperand(1), lane % lanes_) : into;
  }
  if (isa<llvm::PHINode>(i)) return builder_.CreatePHI(partType(i.getType()), i.getNumOperands());
  if (auto *cast = dyn_cast<llvm::CastInst>(&i)) {
    if (!cast->getSrcTy()->isVectorTy()) return bitsPart(llvm::cast<llvm::BitCastInst>(i), p);
    return builder_.CreateCast(cast->getOpcode(), part(i.getOperand(0), p), partType(i.getType()));
  }
  Instruction *copy = i.clone();
  for (llvm::Use &operand : copy->operands()) operand = part(operand, p);
  copy->mutateType(i.getType()->isVectorTy() ? partType(i.getType()) : i.getType());
  return builder_.Insert(copy);
}

void LaneSplitter::replace(Instruction &i, Value *by) {
  i.replaceAllUsesWith(by);
  done_.push_back(&i);
}

// What is asked of a mask's word most is whether any lane is in it, or all are.
bool LaneSplitter::compareBits(llvm::ICmpInst &compare, const Parts &bits) {
  auto *constant = dyn_cast<llvm::ConstantInt>(compare.getOperand(1));
  if (!compare.isEquality() || !constant || !(constant->isZero() || constant->isMinusOne())) return false;
  llvm::IRBuilder<>::InsertPointGuard keep(builder_);
  builder_.SetInsertPoint(&compare);
  Value *all = bits[0];
  for (unsigned p = 1; p < count_; ++p)
    all = constant->isZero() ? builder_.CreateOr(all, bits[p]) : builder_.CreateAnd(all, bits[p]);
  Type *word = builder_.getIntNTy(lanes_);
  Value *wanted = constant->isZero() ? llvm::Constant::getNullValue(word) : llvm::Constant::getAllOnesValue(word);
  compare.replaceAllUsesWith(builder_.CreateICmp(compare.getPredicate(), builder_.CreateBitCast(all, word), wanted));
  return true;
}

void LaneSplitter::joinBits(llvm::BitCastInst &cast) {
  const Parts bits = parts(cast.getOperand(0));
  for (llvm::User *user : llvm::make_early_inc_range(cast.users()))
    if (auto *compare = dyn_cast<llvm::ICmpInst>(user))
      if (compareBits(*compare, bits)) {
        done_.push_back(compare);
        compared_.insert(compare);
      }
  done_.push_back(&cast);
  if (llvm::all_of(cast.users(), [&](const llvm::User *user) { return compared_.contains(user); })) return;
  Value *word = nullptr;
  for (unsigned p = 0; p < count_; ++p) {
    Value *own = builder_.CreateZExt(builder_.CreateBitCast(bits[p], builder_.getIntNTy(lanes_)), cast.getType());
    word = word ? builder_.CreateOr(word, builder_.CreateShl(own, p * lanes_)) : own;
  }
  cast.replaceAllUsesWith(word);
}

void LaneSplitter::reduce(IntrinsicInst &call) {
  Value *all = part(call.getArgOperand(0), 0);
  const auto combine = [&](Value *a, Value *b) -> Value * {
    switch (call.getIntrinsicID()) {
      case ids::vector_reduce_and: return builder_.CreateAnd(a, b);
      case ids::vector_reduce_or: return builder_.CreateOr(a, b);
      case ids::vector_reduce_xor: return builder_.CreateXor(a, b);
      case ids::vector_reduce_add: return builder_.CreateAdd(a, b);
      case ids::vector_reduce_mul: return builder_.CreateMul(a, b);
      case ids::vector_reduce_umin: return builder_.CreateBinaryIntrinsic(ids::umin, a, b);
      case ids::vector_reduce_umax: return builder_.CreateBinaryIntrinsic(ids::umax, a, b);
      case ids::vector_reduce_smin: return builder_.CreateBinaryIntrinsic(ids::smin, a, b);
      default: return builder_.CreateBinaryIntrinsic(ids::smax, a, b);
    }
  };
  for (unsigned p = 1; p < count_; ++p) all = combine(all, part(call.getArgOperand(0), p));
  replace(call, builder_.CreateIntrinsic(call.getIntrinsicID(), {all->getType()}, {all}));
}

void LaneSplitter::extract(llvm::ExtractElementInst &extract) {
  const auto lane = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(extract.getIndexOperand())->getZExtValue());
  replace(extract, builder_.CreateExtractElement(part(extract.getVectorOperand(), lane / lanes_), lane % lanes_));
}

void LaneSplitter::split(Instruction &i) {
  builder_.SetInsertPoint(&i);
  builder_.SetCurrentDebugLocation(i.getDebugLoc());
  if (auto *call = dyn_cast<IntrinsicInst>(&i); call && isReduction(call->getIntrinsicID())) return reduce(*call);
  if (auto *element = dyn_cast<llvm::ExtractElementInst>(&i)) return extract(*element);
  if (auto *cast = dyn_cast<llvm::BitCastInst>(&i); cast && !cast->getDestTy()->isVectorTy()) return joinBits(*cast);
  Parts made;
  for (unsigned p = 0; p < count_; ++p) {
    const Instruction *before = i.getPrevNode();
    Value *own = splitPart(i, p);
    made.push_back(own);
    auto *instruction = dyn_cast<Instruction>(own);
    if (!instruction || i.getPrevNode() == before) continue;  // nothing new
    if (isa<llvm::CastInst, IntrinsicInst>(i)) instruction->copyIRFlags(&i);
    if (i.mayReadOrWriteMemory()) instruction->copyMetadata(i);
    auto *first = dyn_cast<Instruction>(made[0]);
    if (p && first && !isa<llvm::PHINode>(i) && !i.mayReadOrWriteMemory() && instruction->isIdenticalTo(first)) {
      instruction->eraseFromParent();  // the same for all parts
      partOf_.erase(first);
      made[p] = first;
      continue;
    }
    partOf_[instruction] = p;
  }
  if (!i.getType()->isVoidTy()) parts_[&i] = made;
  done_.push_back(&i);
}

void LaneSplitter::fillPhis() {
  for (Instruction *i : done_) {
    auto *phi = dyn_cast<llvm::PHINode>(i);
    if (!phi) continue;
    for (unsigned p = 0; p < count_; ++p)
      for (unsigned k = 0; k < phi->getNumIncomingValues(); ++k)
        llvm::cast<llvm::PHINode>(parts_[phi][p])
            ->addIncoming(part(phi->getIncomingValue(k), p), phi->getIncomingBlock(k));
  }
}

// Where something that stays whole uses what was split.
void LaneSplitter::useWhole() {
  const llvm::SmallPtrSet<Instruction *, 32> removed(done_.begin(), done_.end());
  for (Instruction *i : done_) {
    const auto stays = [&](llvm::Use &use) { return !removed.contains(llvm::cast<Instruction>(use.getUser())); };
    if (llvm::none_of(i->uses(), stays)) continue;
    afterDefinition(i);
    i->replaceUsesWithIf(join(parts_[i]), stays);
  }
}

bool LaneSplitter::run() {
  for (BasicBlock *block : llvm::ReversePostOrderTraversal<llvm::Function *>(&function_))
    for (Instruction &i : llvm::make_early_inc_range(*block))
      if (splits(i)) split(i);
  if (done_.empty()) return false;
  fillPhis();
  useWhole();
  for (Instruction *i : done_) i->dropAllReferences();
  for (Instruction *i : done_) {
    i->replaceAllUsesWith(llvm::PoisonValue::get(i->getType()));
    i->eraseFromParent();
  }
  return true;
}

}  // namespace

void splitLanes(llvm::Function &function, unsigned lanes, unsigned registers) {
  if (function.isDeclaration()) return;
  LaneSplitter splitter(function, lanes);
  if (splitter.run()) orderParts(function, splitter.partOf(), 32 * lanes, registers);
}

}  // namespace strata::simt
