// SPDX-License-Identifier: Apache-2.0
// FunctionEmitter: loads and stores, from cheapest to dearest:
//
//   uniform address       one scalar load; a scalar store of the lane that wins
//   contiguous            vector load or store, masked unless the mask is full
//   contiguous segments   one such load or store a segment (emit_segments.cpp)
//   constant pattern      wide loads or stores of what the lanes cover, and shuffles (emit_patterns.cpp)
//   anything else         gather, scatter
//
// Lanes that are not active never touch memory.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>

#include "simt/abi.h"
#include "simt/emit/function_emitter.h"
#include "simt/emit/vectorize.h"

namespace strata::simt {

using llvm::BasicBlock;
using llvm::cast;
using llvm::dyn_cast;

namespace {

llvm::Type *elementOf(llvm::Type *type) {
  auto *vector = dyn_cast<llvm::FixedVectorType>(type);
  return vector ? vector->getElementType() : type;
}
unsigned countOf(llvm::Type *type) {
  auto *vector = dyn_cast<llvm::FixedVectorType>(type);
  return vector ? vector->getNumElements() : 1;
}

std::vector<int> iota(unsigned first, unsigned count, unsigned step) {
  std::vector<int> result;
  for (unsigned i = 0; i < count; ++i) result.push_back(static_cast<int>(first + i * step));
  return result;
}

}  // namespace

void FunctionEmitter::emitAlloca(llvm::AllocaInst &alloca) {
  const llvm::DataLayout &layout = context_.module.getDataLayout();
  std::optional<llvm::TypeSize> size = alloca.getAllocationSize(layout);
  if (!size || current_ != &lane_.getEntryBlock()) return fail(alloca, "local variable of variable size");
  std::uint64_t bytes = llvm::alignTo(size->getFixedValue(), alloca.getAlign()) * kLanes;
  llvm::AllocaInst *array =
      entryBuilder_.CreateAlloca(llvm::ArrayType::get(builder_.getInt8Ty(), bytes), nullptr, alloca.getName());
  array->setAlignment(std::max(alloca.getAlign(), llvm::Align(64)));
  allocas_[&alloca] = array;
}

// --- the run-time guard -----------------------------------------------------------------------------

llvm::Value *FunctionEmitter::guard(const Shape &of) {
  Value *holds = nullptr;
  for (const ExtensionTerm &term : of.terms) {
    auto &ext = cast<llvm::CastInst>(*term.extension);
    const Shape inner = shape(ext.getOperand(0));
    unsigned width = ext.getOperand(0)->getType()->getIntegerBitWidth();
    // lowest <= u <= highest, as one unsigned comparison.
    bool isSigned = ext.getOpcode() == llvm::Instruction::SExt;
    llvm::APInt lowest = isSigned ? llvm::APInt::getSignedMinValue(width) : llvm::APInt::getMinValue(width);
    llvm::APInt highest = isSigned ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width);
    lowest += static_cast<std::uint64_t>(-inner.minOffset());
    highest -= static_cast<std::uint64_t>(inner.maxOffset());
    Segments all = inner.isSegmented() ? segments(ext.getOperand(0)) : Segments{scalar(ext.getOperand(0))};
    for (Value *u : all) {
      if (inner.isSegmented()) u = builder_.CreateFreeze(u);  // a segment without active lanes may hold anything
      Value *from = builder_.CreateSub(u, builder_.getInt(lowest));
      Value *inside = builder_.CreateICmpULE(from, builder_.getInt(highest - lowest), "no.wrap");
      holds = holds ? builder_.CreateAnd(holds, inside) : inside;
    }
  }
  return holds;
}

llvm::Value *FunctionEmitter::guarded(const Shape &of, const std::function<Value *()> &fast,
                                      const std::function<Value *()> &slow) {
  Value *holds = guard(of);
  return holds ? branchOn(holds, /*likely=*/true, fast, slow) : fast();
}

llvm::Value *FunctionEmitter::branchOn(Value *holds, bool likely, const std::function<Value *()> &fast,
                                       const std::function<Value *()> &slow) {
  BasicBlock *fastBlock = newBlock("contiguous"), *slowBlock = newBlock("wrapped"), *merge = newBlock("accessed");
  llvm::MDNode *weights =
      llvm::MDNode::get(lane_.getContext(), {llvm::MDString::get(lane_.getContext(), "branch_weights"),
                                             llvm::ConstantAsMetadata::get(builder_.getInt32(1 << 20)),
                                             llvm::ConstantAsMetadata::get(builder_.getInt32(1))});
  builder_.CreateCondBr(holds, fastBlock, slowBlock, likely ? weights : nullptr);
  // What the sides materialise is not visible after them.
  auto keepScalars = now_, keepVectors = vectorsNow_;
  auto keepSegments = segmentsNow_;
  auto side = [&](BasicBlock *block, const std::function<Value *()> &access) {
    builder_.SetInsertPoint(block);
    Value *value = access();
    now_ = keepScalars;
    vectorsNow_ = keepVectors;
    segmentsNow_ = keepSegments;
    BasicBlock *end = builder_.GetInsertBlock();
    builder_.CreateBr(merge);
    return std::make_pair(value, end);
  };
  auto [fastValue, fastEnd] = side(fastBlock, fast);
  auto [slowValue, slowEnd] = side(slowBlock, slow);
  builder_.SetInsertPoint(merge);
  if (!fastValue) return nullptr;
  llvm::PHINode *phi = builder_.CreatePHI(fastValue->getType(), 2);
  phi->addIncoming(fastValue, fastEnd);
  phi->addIncoming(slowValue, slowEnd);
  return phi;
}

// All lanes' addresses; where they are a base and offsets, as such: gathers and scatters scale and add by themselves.
//
//   inttoptr (%u + (%i << 2))     →     getelementptr i32, ptr %u, <32 x i64> %i
llvm::Value *FunctionEmitter::addresses(Value *pointer) {
  using namespace llvm::PatternMatch;
  Value *base = nullptr, *offset = nullptr, *index = nullptr;
  Value *sum = nullptr;
  if (!isMadeHere(*pointer) || !match(pointer, m_IntToPtr(m_Value(sum))) || !isMadeHere(*sum) ||
      !match(sum, m_Add(m_Value(base), m_Value(offset))))
    return vector(pointer);
  if (shape(offset).isUniform()) std::swap(base, offset);
  if (!shape(base).isUniform() || !base->getType()->isIntegerTy(64) || !shape(pointer).isVarying())
    return vector(pointer);
  std::uint64_t shift = 0;
  if (!isMadeHere(*offset) || !match(offset, m_Shl(m_Value(index), m_ConstantInt(shift))) || shift > 3)
    index = offset, shift = 0;
  return builder_.CreateGEP(builder_.getIntNTy(8u << shift), builder_.CreateIntToPtr(scalar(base), builder_.getPtrTy()),
                            vector(index));
}

// --- loads --------------------------------------------------------------------------------------------

void FunctionEmitter::emitLoad(llvm::LoadInst &load) {
  Shape address = shape(load.getPointerOperand());
  if (auto ahead = loadedAhead_.find(&load); ahead != loadedAhead_.end()) return define(load, ahead->second);
  if (address.isUniform()) {
    llvm::Instruction *copy = load.clone();
    copy->setOperand(0, scalar(load.getPointerOperand()));
    return define(load, builder_.Insert(copy, load.getName()));
  }
  bool once = load.isVolatile() && address.isExact() && maskIsFull() &&
              address.isStrided(context_.module.getDataLayout().getTypeStoreSize(load.getType()));
  if (load.isAtomic() || (load.isVolatile() && !once)) return loadEachLane(load);
  define(load, loadLanes(load, elementOf(load.getType()), countOf(load.getType())));
}

// The mask of `count` consecutive elements a lane.
llvm::Value *FunctionEmitter::wideMask(unsigned count) {
  if (count == 1) return mask();
  std::vector<int> lanes;
  for (unsigned i = 0; i < kLanes * count; ++i) lanes.push_back(static_cast<int>(i / count));
  return builder_.CreateShuffleVector(mask(), lanes);
}

// Element vectors (an array of them for lane vectors) of all lanes.
llvm::Value *FunctionEmitter::loadLanes(llvm::LoadInst &load, llvm::Type *element, unsigned count) {
  Value *pointer = load.getPointerOperand();
  Shape address = shape(pointer);
  std::int64_t size = static_cast<std::int64_t>(context_.module.getDataLayout().getTypeStoreSize(element));
  auto slow = [&] { return gather(addresses(pointer), element, count, load.getAlign()); };
  if (address.isVarying()) {
    context_.report.note(load, "gather", "the address varies");
    auto now = count == 1 && !load.getType()->isVectorTy() ? contiguousNow(pointer, size) : std::nullopt;
    if (!now) return slow();
    auto *type = llvm::FixedVectorType::get(element, kLanes);
    auto fast = [&]() -> Value * {
      if (maskIsFull()) return builder_.CreateAlignedLoad(type, now->first, load.getAlign());
      return builder_.CreateMaskedLoad(type, now->first, load.getAlign(), mask());
    };
    return branchOn(now->holds, /*likely=*/false, fast, slow);
  }
  if (address.isSegmented()) {
    Value *made = count == 1 && !load.getType()->isVectorTy() ? loadSegmented(load, element) : nullptr;
    if (!made) context_.report.note(load, "gather", "the lanes of a row are apart");
    return made ? made : slow();
  }
  if (address.isStrided(size * count)) {
    auto fast = [&]() -> Value * {
      auto *wide = llvm::FixedVectorType::get(element, kLanes * count);
      Value *u = scalar(pointer);
      Value *loaded;
      if (maskIsFull()) loaded = builder_.CreateAlignedLoad(wide, u, load.getAlign(), load.isVolatile());
      else loaded = builder_.CreateMaskedLoad(wide, u, load.getAlign(), wideMask(count));
      if (count == 1 && !load.getType()->isVectorTy()) return loaded;
      Value *result = llvm::PoisonValue::get(widen(load.getType()));
      for (unsigned i = 0; i < count; ++i)
        result = builder_.CreateInsertValue(result, builder_.CreateShuffleVector(loaded, iota(i, kLanes, count)), i);
      return result;
    };
    return guarded(address, fast, slow);
  }
  if (Value *made = loadPattern(load)) return made;
  context_.report.note(load, "gather", maskIsFull() ? "the lanes' addresses are far apart" : "strided under a mask");
  return slow();
}

llvm::Value *FunctionEmitter::gather(Value *addresses, llvm::Type *element, unsigned count, llvm::Align align) {
  std::uint64_t size = context_.module.getDataLayout().getTypeStoreSize(element);
  auto *type = llvm::FixedVectorType::get(element, kLanes);
  Value *result = llvm::PoisonValue::get(llvm::ArrayType::get(type, count));
  for (unsigned i = 0; i < count; ++i) {
    Value *from = i ? builder_.CreateGEP(builder_.getInt8Ty(), addresses, builder_.getInt64(i * size)) : addresses;
    Value *part = builder_.CreateMaskedGather(type, from, llvm::commonAlignment(align, i * size), mask());
    if (count == 1) return part;
    result = builder_.CreateInsertValue(result, part, i);
  }
  return result;
}

void FunctionEmitter::loadEachLane(llvm::LoadInst &load) {
  context_.report.note(load, "one load per lane", load.isAtomic() ? "atomic" : "volatile");
  if (load.getType()->isVectorTy()) return fail(load, "volatile load of a lane vector at a varying address");
  llvm::AllocaInst *results = laneArray(load.getType());
  PerLane address(*this, load.getPointerOperand());
  forEachLane([&](Value *lane) {
    llvm::Instruction *copy = load.clone();
    copy->setOperand(0, address.get(lane));
    builder_.Insert(copy);
    builder_.CreateStore(
        copy, builder_.CreateInBoundsGEP(load.getType(), results, builder_.CreateZExt(lane, builder_.getInt64Ty())));
  });
  define(load, builder_.CreateLoad(widen(load.getType()), results));
}

// --- stores -------------------------------------------------------------------------------------------

void FunctionEmitter::emitStore(llvm::StoreInst &store) {
  Shape address = shape(store.getPointerOperand());
  if (address.isUniform()) return storeOneLane(store);
  llvm::Type *type = store.getValueOperand()->getType();
  bool once = store.isVolatile() && address.isExact() && maskIsFull() &&
              address.isStrided(context_.module.getDataLayout().getTypeStoreSize(type));
  if (store.isAtomic() || (store.isVolatile() && !once)) return storeEachLane(store);
  storeLanes(store, elementOf(type), countOf(type));
}

llvm::Value *FunctionEmitter::inStoreOrder(Value *lanes, StoreOrder order) {
  if (llvm::getSplatValue(lanes)) return lanes;
  std::vector<int> turns;
  for (unsigned turn = 0; turn < kLanes; ++turn) turns.push_back(static_cast<int>(order.lane(turn)));
  return builder_.CreateShuffleVector(lanes, turns);
}

// Where addresses are a base and indices, these are put in order, before they are extended.
llvm::Value *FunctionEmitter::addressesInStoreOrder(Value *addresses, StoreOrder order) {
  auto *element = dyn_cast<llvm::GetElementPtrInst>(addresses);
  if (!element || element->getNumIndices() != 1 || element->getPointerOperandType()->isVectorTy())
    return inStoreOrder(addresses, order);
  Value *index = element->getOperand(1);
  auto *extension = dyn_cast<llvm::CastInst>(index);
  if (extension && llvm::isa<llvm::SExtInst, llvm::ZExtInst>(extension))
    index =
        builder_.CreateCast(extension->getOpcode(), inStoreOrder(extension->getOperand(0), order), index->getType());
  else index = inStoreOrder(index, order);
  return builder_.CreateGEP(element->getSourceElementType(), element->getPointerOperand(), index);
}

StoreOrder FunctionEmitter::storeOrder(const llvm::StoreInst &store) const {
  return StoreOrder(context_.module.getDataLayout().getTypeStoreSize(store.getValueOperand()->getType()));
}

// All active lanes write one address.
void FunctionEmitter::storeOneLane(llvm::StoreInst &store) {
  llvm::Instruction *copy = store.clone();
  copy->setOperand(1, scalar(store.getPointerOperand()));
  Value *value = store.getValueOperand();
  if (shape(value).isUniform()) {
    copy->setOperand(0, scalar(value));
  } else if (auto *laneVector = dyn_cast<llvm::FixedVectorType>(value->getType())) {
    Value *parts = vector(value), *one = llvm::PoisonValue::get(laneVector), *lane = laneThatWins(storeOrder(store));
    for (unsigned i = 0; i < laneVector->getNumElements(); ++i)
      one = builder_.CreateInsertElement(one,
                                         builder_.CreateExtractElement(builder_.CreateExtractValue(parts, i), lane), i);
    copy->setOperand(0, one);
  } else {
    copy->setOperand(0, builder_.CreateExtractElement(vector(value), laneThatWins(storeOrder(store))));
  }
  builder_.Insert(copy);
}

// The elements of all lanes in the order of memory, if the lanes' components are computed alike from such vectors: then
// nothing need be parted and joined. Null if not.
//
//   shuffle %wide, {0, 4, …} + %c, shuffle %wide, {1, 5, …} + %c, …     →     %wide + splat(%c)
llvm::Value *FunctionEmitter::inMemoryOrder(std::vector<Value *> parts, unsigned depth) {
  constexpr unsigned kMostDepth = 6;
  for (Value *&part : parts)
    while (auto *extract = dyn_cast<llvm::ExtractValueInst>(part)) {
      Value *inserted = llvm::FindInsertedValue(extract->getAggregateOperand(), extract->getIndices());
      if (!inserted) return nullptr;
      part = inserted;
    }
  const auto count = static_cast<unsigned>(parts.size());
  if (Value *same = llvm::getSplatValue(parts[0])) {
    for (Value *part : parts)
      if (llvm::getSplatValue(part) != same) return nullptr;
    return builder_.CreateVectorSplat(kLanes * count, same);
  }
  if (auto *shuffle = dyn_cast<llvm::ShuffleVectorInst>(parts[0])) {
    Value *wide = shuffle->getOperand(0);
    if (cast<llvm::FixedVectorType>(wide->getType())->getNumElements() != kLanes * count) return nullptr;
    for (unsigned i = 0; i < count; ++i) {
      auto *part = dyn_cast<llvm::ShuffleVectorInst>(parts[i]);
      if (!part || part->getOperand(0) != wide || part->getShuffleMask() != llvm::ArrayRef<int>(iota(i, kLanes, count)))
        return nullptr;
    }
    return wide;
  }
  auto *first = dyn_cast<llvm::BinaryOperator>(parts[0]);
  if (!first || depth == kMostDepth || first->isIntDivRem() || first->getOpcode() == llvm::Instruction::FRem)
    return nullptr;
  const unsigned bits = first->getType()->getScalarSizeInBits();
  if (bits != 32 && bits != 64) return nullptr;  // narrower floats are written in other ways later
  std::vector<Value *> left, right;
  for (Value *part : parts) {
    auto *operation = dyn_cast<llvm::BinaryOperator>(part);
    if (!operation || operation->getOpcode() != first->getOpcode()) return nullptr;
    left.push_back(operation->getOperand(0));
    right.push_back(operation->getOperand(1));
  }
  Value *a = inMemoryOrder(left, depth + 1), *b = a ? inMemoryOrder(right, depth + 1) : nullptr;
  return b ? builder_.CreateBinOp(first->getOpcode(), a, b) : nullptr;
}

// For jit/stream_stores.
void FunctionEmitter::markOnce(llvm::Instruction &store) {
  if (!loops_.getLoopFor(current_)) store.setMetadata(kOncePerWarp, llvm::MDNode::get(store.getContext(), {}));
}

// One component's elements behind another's first, then lane by lane.
llvm::Value *FunctionEmitter::interleave(const std::vector<Value *> &parts) {
  const auto count = static_cast<unsigned>(parts.size());
  Value *wide = parts[0];
  for (unsigned i = 1; i < count; ++i) {
    std::vector<int> grow = iota(0, kLanes, 1), join = iota(0, kLanes * (i + 1), 1);
    grow.resize(kLanes * i, -1);
    wide = builder_.CreateShuffleVector(wide, builder_.CreateShuffleVector(parts[i], grow), join);
  }
  std::vector<int> lanes;
  for (unsigned i = 0; i < kLanes * count; ++i) lanes.push_back(static_cast<int>(i % count * kLanes + i / count));
  return builder_.CreateShuffleVector(wide, lanes);
}

void FunctionEmitter::storeLanes(llvm::StoreInst &store, llvm::Type *element, unsigned count) {
  Value *pointer = store.getPointerOperand();
  Shape address = shape(pointer);
  std::int64_t size = static_cast<std::int64_t>(context_.module.getDataLayout().getTypeStoreSize(element));
  Value *value = vector(store.getValueOperand());
  auto slow = [&]() -> Value * {
    scatter(store, addresses(pointer), value);
    return nullptr;
  };
  if (address.isSegmented() && count == 1 && storeSegmented(store, element)) return;
  if (!address.isStrided(size * count)) {
    if (storePattern(store)) return;
    context_.report.note(store, "scatter", address.isVarying() ? "the address varies" : "the lanes are apart");
    auto now = address.isVarying() && count == 1 && !store.getValueOperand()->getType()->isVectorTy()
                   ? contiguousNow(pointer, size)
                   : std::nullopt;
    if (!now) {
      slow();
      return;
    }
    auto fast = [&]() -> Value * {
      if (maskIsFull()) builder_.CreateAlignedStore(value, now->first, store.getAlign());
      else builder_.CreateMaskedStore(value, now->first, store.getAlign(), mask());
      return nullptr;
    };
    branchOn(now->holds, /*likely=*/false, fast, slow);
    return;
  }
  auto fast = [&]() -> Value * {
    Value *u = scalar(pointer);
    Value *wide = value;
    if (value->getType()->isAggregateType()) {
      std::vector<Value *> parts;
      for (unsigned i = 0; i < count; ++i) parts.push_back(builder_.CreateExtractValue(value, i));
      wide = inMemoryOrder(parts);
      if (!wide) wide = interleave(parts);
    }
    if (maskIsFull()) markOnce(*builder_.CreateAlignedStore(wide, u, store.getAlign(), store.isVolatile()));
    else markOnce(*builder_.CreateMaskedStore(wide, u, store.getAlign(), wideMask(count)));
    return nullptr;
  };
  guarded(address, fast, slow);
}

// Of elements with one address the last is left by a scatter. Lanes have local memory each, and what is the same in all
// lanes may come in any order.
void FunctionEmitter::scatter(llvm::StoreInst &store, Value *addresses, Value *value) {
  Value *lanes = store.getValueOperand();
  llvm::Type *element = elementOf(lanes->getType());
  const StoreOrder order = storeOrder(store);
  const bool mayMeet =
      !shape(lanes).isUniform() && !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store.getPointerOperand()));
  const auto ordered = [&](Value *all) { return mayMeet ? inStoreOrder(all, order) : all; };
  if (mayMeet) addresses = addressesInStoreOrder(addresses, order);
  Value *active = ordered(mask());
  std::uint64_t size = context_.module.getDataLayout().getTypeStoreSize(element);
  for (unsigned i = 0; i < countOf(lanes->getType()); ++i) {
    Value *to = i ? builder_.CreateGEP(builder_.getInt8Ty(), addresses, builder_.getInt64(i * size)) : addresses;
    Value *part = ordered(value->getType()->isAggregateType() ? builder_.CreateExtractValue(value, i) : value);
    builder_.CreateMaskedScatter(part, to, llvm::commonAlignment(store.getAlign(), i * size), active);
  }
}

void FunctionEmitter::storeEachLane(llvm::StoreInst &store) {
  context_.report.note(store, "one store per lane", store.isAtomic() ? "atomic" : "volatile");
  if (store.getValueOperand()->getType()->isVectorTy())
    return fail(store, "volatile store of a lane vector at a varying address");
  PerLane address(*this, store.getPointerOperand()), value(*this, store.getValueOperand());
  forEachLane(storeOrder(store), [&](Value *lane) {
    llvm::Instruction *copy = store.clone();
    copy->setOperand(0, value.get(lane));
    copy->setOperand(1, address.get(lane));
    builder_.Insert(copy);
  });
}

// --- strata.check.aligned ----------------------------------------------------------------------------

void FunctionEmitter::checkAligned(llvm::CallBase &call) {
  Value *address = call.getArgOperand(0);
  Shape of = shape(address);
  auto bytes = static_cast<std::int64_t>(cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue());
  // Corrections are multiples of 2^32: the guard does not matter here.
  bool oneForAll = of.isAffine() && std::all_of(of.offsets.begin(), of.offsets.end(),
                                                [&](std::int64_t offset) { return offset % bytes == 0; });
  if (oneForAll && (std::int64_t{1} << std::min<unsigned>(of.alignment, 62)) >= bytes) return;
  Value *low;
  Value *bad;
  if (oneForAll) {
    low = builder_.CreateAnd(scalar(address), builder_.getInt64(static_cast<std::uint64_t>(bytes - 1)));
    bad = builder_.CreateICmpNE(low, builder_.getInt64(0), "misaligned");
  } else {
    Value *all = vector(address);
    low = builder_.CreateAnd(all, splat(builder_.getInt64(static_cast<std::uint64_t>(bytes - 1))));
    bad = maskAnd(mask(), builder_.CreateICmpNE(low, splat(builder_.getInt64(0))));
  }
  Value *lanes = oneForAll ? maskBits(mask()) : maskBits(bad);
  Value *any = oneForAll ? bad : builder_.CreateICmpNE(lanes, builder_.getInt32(0), "misaligned");
  // The first offending lane's address is reported.
  BasicBlock *fault = newBlock("misaligned"), *fine = newBlock("aligned");
  llvm::MDNode *unlikely =
      llvm::MDNode::get(lane_.getContext(), {llvm::MDString::get(lane_.getContext(), "branch_weights"),
                                             llvm::ConstantAsMetadata::get(builder_.getInt32(1)),
                                             llvm::ConstantAsMetadata::get(builder_.getInt32(1 << 20))});
  builder_.CreateCondBr(any, fault, fine, unlikely);
  builder_.SetInsertPoint(fault);
  auto keepScalars = now_, keepVectors = vectorsNow_;
  auto keepSegments = segmentsNow_;
  Value *first = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, lanes, builder_.getTrue());
  Value *where = of.isUniform() ? scalar(address) : builder_.CreateExtractElement(vector(address), first);
  raiseFault(builder_.getInt32(static_cast<std::uint32_t>(FaultKind::misalignedAddress)), lanes, where);
  now_ = keepScalars;
  vectorsNow_ = keepVectors;
  segmentsNow_ = keepSegments;
  builder_.SetInsertPoint(fine);
}

}  // namespace strata::simt
