// SPDX-License-Identifier: Apache-2.0
// FunctionEmitter: values in their scalar and vector forms, masks, and arithmetic.
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "simt/emit/function_emitter.h"

namespace strata::simt {

using llvm::BasicBlock;
using llvm::cast;
using llvm::dyn_cast;
using llvm::Instruction;
using llvm::isa;

llvm::Type *FunctionEmitter::widen(llvm::Type *type) {
  if (type->isVoidTy()) return type;
  if (auto *vector = dyn_cast<llvm::FixedVectorType>(type))
    return llvm::ArrayType::get(widen(vector->getElementType()), vector->getNumElements());
  if (auto *array = dyn_cast<llvm::ArrayType>(type))
    return llvm::ArrayType::get(widen(array->getElementType()), array->getNumElements());
  if (auto *record = dyn_cast<llvm::StructType>(type)) {
    std::vector<llvm::Type *> fields;
    for (llvm::Type *field : record->elements()) fields.push_back(widen(field));
    return llvm::StructType::get(type->getContext(), fields);
  }
  return llvm::FixedVectorType::get(type, kLanes);
}

void FunctionEmitter::fail(const Instruction &lane, const std::string &what) {
  if (!context_.unsupported.empty()) return;
  std::string place;
  if (const llvm::DebugLoc &at = lane.getDebugLoc()) place = " (line " + std::to_string(at.getLine()) + ")";
  context_.unsupported = "vectoriser: " + what + " in " + lane_.getName().str() + place;
}

void FunctionEmitter::define(Instruction &lane, Value *value) {
  bool affine = shape(&lane).isAffine();
  (affine ? now_ : vectorsNow_)[&lane] = value;
  if (auto slot = slots_.find(&lane); slot != slots_.end())
    slotStores_[&lane] = builder_.CreateStore(value, slot->second);
}

llvm::Value *FunctionEmitter::scalar(Value *lane) {
  if (isa<llvm::Constant>(lane)) return lane;
  if (isa<llvm::Argument>(lane)) return vector_.getArg(0);
  if (auto at = allocas_.find(lane); at != allocas_.end()) return at->second;
  Value *&value = now_[lane];
  if (!value) value = loadSlot(lane, lane->getType());
  return value;
}

// A value of another block. One that could not be emitted has no slot: the function is given up anyway.
llvm::Value *FunctionEmitter::loadSlot(Value *lane, llvm::Type *type) {
  auto slot = slots_.find(lane);
  if (slot == slots_.end()) {
    fail(*cast<Instruction>(lane), "internal: no slot for " + lane->getName().str());
    return llvm::PoisonValue::get(type);
  }
  return builder_.CreateLoad(type, slot->second, lane->getName());
}

llvm::Value *FunctionEmitter::vector(Value *lane) {
  if (auto at = vectorsNow_.find(lane); at != vectorsNow_.end()) return at->second;
  if (auto *constant = dyn_cast<llvm::Constant>(lane)) return splatConstant(constant);
  if (auto *argument = dyn_cast<llvm::Argument>(lane))
    return argument->getArgNo() ? vector_.getArg(argument->getArgNo() + 1) : splat(vector_.getArg(0));
  auto &instruction = *cast<Instruction>(lane);
  if (shape(lane).isAffine()) return vectorsNow_[lane] = affineVector(instruction);
  if (shape(lane).isSegmented()) return vectorsNow_[lane] = segmentsVector(segments(lane), shape(lane));
  return vectorsNow_[lane] = loadSlot(lane, widen(lane->getType()));
}

llvm::Value *FunctionEmitter::scalarOrVector(Value *lane) {
  return shape(lane).isUniform() ? scalar(lane) : vector(lane);
}

// The vector form of an affine value of another block is made where the value is (outside loops, as a rule),
// and kept in a slot of its own.
llvm::Value *FunctionEmitter::affineVector(Instruction &lane) {
  const Shape of = shape(&lane);
  auto store = slotStores_.find(&lane);
  bool elsewhere = lane.getParent() != current_ && store != slotStores_.end();
  if (!elsewhere || !of.isExact()) return withOffsets(scalar(&lane), of);
  llvm::AllocaInst *&slot = vectorSlots_[&lane];
  if (!slot) {
    slot = entryBuilder_.CreateAlloca(widen(lane.getType()), nullptr, lane.getName() + ".v");
    llvm::IRBuilder<>::InsertPointGuard keep(builder_);
    builder_.SetInsertPoint(std::next(store->second->getIterator()));
    builder_.CreateStore(withOffsets(store->second->getValueOperand(), of), slot);
  }
  return builder_.CreateLoad(slot->getAllocatedType(), slot, lane.getName());
}

llvm::Value *FunctionEmitter::withOffsets(Value *u, const Shape &of) { return addOffsets(splat(u), u, of); }

// `result`, the lanes' u, plus their offsets. `base`: the scalar u of all lanes, if there is one.
llvm::Value *FunctionEmitter::addOffsets(Value *result, Value *base, const Shape &of) {
  if (of.isSame()) return result;
  llvm::Type *type = result->getType()->getScalarType();
  bool pointer = type->isPointerTy();
  llvm::Type *element = pointer ? builder_.getInt64Ty() : type;
  Value *offsets = nullptr;
  if (of.offsets != LaneOffsets{}) {
    std::vector<llvm::Constant *> constants;
    for (std::int64_t offset : of.offsets) constants.push_back(llvm::ConstantInt::getSigned(element, offset));
    offsets = llvm::ConstantVector::get(constants);
  }
  for (const ExtensionTerm &term : of.terms) {
    Value *scaled = builder_.CreateMul(correction(*term.extension), splat(builder_.getInt64(term.scale)));
    offsets = offsets ? builder_.CreateAdd(offsets, scaled) : scaled;
  }
  if (!offsets) return result;
  // A scalar base keeps what the code generator needs to find it: base + index.
  return pointer ? builder_.CreateGEP(builder_.getInt8Ty(), base ? base : result, offsets)
                 : builder_.CreateAdd(result, offsets);
}

// What the extension of an affine value adds in lanes where the narrow value wraps: ext(v) - (ext(u) + offset).
llvm::Value *FunctionEmitter::correction(const Instruction &extension) {
  auto &ext = cast<llvm::CastInst>(extension);
  Shape inner = shape(ext.getOperand(0));
  Value *narrow = inner.isSegmented()
                      ? segmentsVector(segments(ext.getOperand(0)), segmented(Shape::uniform(), inner.segmentLanes))
                      : scalar(ext.getOperand(0));
  llvm::Type *wide = builder_.getInt64Ty();
  auto inLanes = [&](Value *u) { return inner.isSegmented() ? addOffsets(u, nullptr, inner) : withOffsets(u, inner); };
  Value *exact = builder_.CreateCast(ext.getOpcode(), inLanes(narrow), widen(ext.getType()));
  Value *assumed =
      inLanes(builder_.CreateCast(ext.getOpcode(), narrow, inner.isSegmented() ? widen(ext.getType()) : ext.getType()));
  Value *difference = builder_.CreateSub(exact, assumed);
  return builder_.CreateSExtOrTrunc(difference, widen(wide));
}

llvm::Value *FunctionEmitter::splatConstant(llvm::Constant *constant) {
  llvm::Type *type = constant->getType();
  llvm::Type *wide = widen(type);
  if (isa<llvm::PoisonValue>(constant)) return llvm::PoisonValue::get(wide);
  if (isa<llvm::UndefValue>(constant)) return llvm::UndefValue::get(wide);
  if (!type->isVectorTy() && !type->isAggregateType())
    return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(kLanes), constant);
  std::vector<llvm::Constant *> parts;
  unsigned count = type->isVectorTy()   ? cast<llvm::FixedVectorType>(type)->getNumElements()
                   : type->isStructTy() ? type->getStructNumElements()
                                        : static_cast<unsigned>(type->getArrayNumElements());
  for (unsigned i = 0; i < count; ++i)
    parts.push_back(cast<llvm::Constant>(splatConstant(constant->getAggregateElement(i))));
  if (auto *record = dyn_cast<llvm::StructType>(wide)) return llvm::ConstantStruct::get(record, parts);
  return llvm::ConstantArray::get(cast<llvm::ArrayType>(wide), parts);
}

llvm::Value *FunctionEmitter::splat(Value *value) {
  if (auto *constant = dyn_cast<llvm::Constant>(value)) return splatConstant(constant);
  llvm::Type *type = value->getType();
  if (!type->isVectorTy() && !type->isAggregateType()) return builder_.CreateVectorSplat(kLanes, value);
  Value *result = llvm::PoisonValue::get(widen(type));
  unsigned count = type->isVectorTy()   ? cast<llvm::FixedVectorType>(type)->getNumElements()
                   : type->isStructTy() ? type->getStructNumElements()
                                        : static_cast<unsigned>(type->getArrayNumElements());
  for (unsigned i = 0; i < count; ++i) {
    Value *part = type->isVectorTy() ? builder_.CreateExtractElement(value, i) : builder_.CreateExtractValue(value, i);
    result = builder_.CreateInsertValue(result, splat(part), i);
  }
  return result;
}

// --- masks ------------------------------------------------------------------------------------------

bool FunctionEmitter::maskIsFull() const { return mask_ == fullMask_; }

llvm::Value *FunctionEmitter::maskBits(Value *mask) { return builder_.CreateBitCast(mask, builder_.getInt32Ty()); }

llvm::Value *FunctionEmitter::anyLane(Value *mask) {
  return builder_.CreateICmpNE(maskBits(mask), builder_.getInt32(0), "any");
}

llvm::Value *FunctionEmitter::maskAnd(Value *mask, Value *condition) {
  if (mask == fullMask_) return condition;
  return builder_.CreateSelect(mask, condition, emptyMask_);
}

llvm::Value *FunctionEmitter::firstLane() {
  if (maskIsFull()) return builder_.getInt32(0);
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, maskBits(mask()), builder_.getTrue());
}

// Of all active lanes: the lowest of the last group that has one.
llvm::Value *FunctionEmitter::laneThatWins(StoreOrder order) {
  if (maskIsFull()) return builder_.getInt32(order.lane(kLanes - 1));
  Value *lanes = maskBits(mask()), *own = lanes;
  for (unsigned first = order.group(); first < kLanes; first += order.group()) {
    Value *later = builder_.CreateAnd(lanes, builder_.getInt32(~0u << first));
    own = builder_.CreateSelect(builder_.CreateIsNull(later), own, later);
  }
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, own, builder_.getTrue());
}

void FunctionEmitter::forAllLanes(const std::function<void(Value *)> &body, unsigned together) {
  BasicBlock *before = builder_.GetInsertBlock(), *loop = newBlock("all.lanes"), *after = newBlock("after.all.lanes");
  builder_.CreateBr(loop);
  builder_.SetInsertPoint(loop);
  llvm::PHINode *first = builder_.CreatePHI(builder_.getInt32Ty(), 2, "lane");
  first->addIncoming(builder_.getInt32(0), before);
  for (unsigned i = 0; i < together; ++i)
    body(i ? builder_.CreateAdd(first, builder_.getInt32(i), "", true, true) : first);
  Value *next = builder_.CreateAdd(first, builder_.getInt32(together), "", true, true);
  first->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpNE(next, builder_.getInt32(kLanes)), loop, after);
  builder_.SetInsertPoint(after);
}

void FunctionEmitter::forEachLane(const std::function<void(Value *)> &body, const std::function<void()> &whenFull) {
  if (maskIsFull() && whenFull) return whenFull();
  BasicBlock *loop = newBlock("each.lane"), *after = newBlock("after.lanes");
  Value *all = maskBits(mask());
  if (whenFull) {
    auto keepScalars = now_, keepVectors = vectorsNow_;
    auto keepSegments = segmentsNow_;
    BasicBlock *allLanes = newBlock("full"), *some = newBlock("some.lanes");
    builder_.CreateCondBr(builder_.CreateICmpEQ(all, builder_.getInt32(~0u)), allLanes, some);
    builder_.SetInsertPoint(allLanes);
    whenFull();
    now_ = keepScalars;  // what was materialised here is not visible elsewhere
    vectorsNow_ = keepVectors;
    segmentsNow_ = keepSegments;
    builder_.CreateBr(after);
    builder_.SetInsertPoint(some);
  }
  BasicBlock *before = builder_.GetInsertBlock();
  builder_.CreateBr(loop);  // blocks with per-lane work never run with an empty mask
  builder_.SetInsertPoint(loop);
  llvm::PHINode *bits = builder_.CreatePHI(builder_.getInt32Ty(), 2, "lanes");
  bits->addIncoming(all, before);
  Value *lane = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, builder_.getTrue());
  body(lane);
  Value *rest = builder_.CreateAnd(bits, builder_.CreateSub(bits, builder_.getInt32(1)));
  bits->addIncoming(rest, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpNE(rest, builder_.getInt32(0)), loop, after);
  builder_.SetInsertPoint(after);
}

void FunctionEmitter::forEachLane(StoreOrder order, const std::function<void(Value *)> &body) {
  BasicBlock *before = builder_.GetInsertBlock(), *loop = newBlock("each.lane"), *after = newBlock("after.lanes");
  Value *all = maskBits(mask()), *top = builder_.getInt32(1u << (kLanes - 1));
  if (order.group() == 16)
    all = builder_.CreateIntrinsic(llvm::Intrinsic::fshl, all->getType(), {all, all, builder_.getInt32(16)});
  if (order.group() == 8) all = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::bswap, all);
  builder_.CreateBr(loop);
  builder_.SetInsertPoint(loop);
  llvm::PHINode *bits = builder_.CreatePHI(builder_.getInt32Ty(), 2, "lanes");  // of lane ^ flip, from the top
  bits->addIncoming(all, before);
  Value *turn = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bits, builder_.getTrue());
  body(builder_.CreateXor(turn, builder_.getInt32((kLanes - 1) ^ order.flip())));
  Value *rest = builder_.CreateXor(bits, builder_.CreateLShr(top, turn));
  bits->addIncoming(rest, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpNE(rest, builder_.getInt32(0)), loop, after);
  builder_.SetInsertPoint(after);
}

llvm::AllocaInst *FunctionEmitter::laneArray(llvm::Type *element) {
  llvm::Type *stored = element->isIntegerTy(1) ? builder_.getInt8Ty() : element;
  llvm::AllocaInst *array = entryBuilder_.CreateAlloca(llvm::ArrayType::get(stored, kLanes), nullptr, "lanes");
  array->setAlignment(llvm::Align(64));
  return array;
}

llvm::AllocaInst *FunctionEmitter::spill(Value *vector) {
  llvm::Type *element = cast<llvm::VectorType>(vector->getType())->getElementType();
  llvm::AllocaInst *array = laneArray(element);
  if (element->isIntegerTy(1)) vector = builder_.CreateZExt(vector, widen(builder_.getInt8Ty()));
  builder_.CreateStore(vector, array);
  return array;
}

llvm::Value *FunctionEmitter::laneElement(llvm::AllocaInst *array, llvm::Type *element, Value *lane) {
  llvm::Type *stored = cast<llvm::ArrayType>(array->getAllocatedType())->getElementType();
  Value *at = builder_.CreateInBoundsGEP(stored, array, builder_.CreateZExt(lane, builder_.getInt64Ty()));
  Value *value = builder_.CreateLoad(stored, at);
  return stored == element ? value : builder_.CreateTrunc(value, element);
}

FunctionEmitter::PerLane::PerLane(FunctionEmitter &emitter, Value *lane) : emitter_(emitter), type_(lane->getType()) {
  if (emitter.shape(lane).isUniform()) uniform_ = emitter.scalar(lane);
  else array_ = emitter.spill(emitter.vector(lane));
}

llvm::Value *FunctionEmitter::PerLane::get(Value *laneNumber) const {
  return uniform_ ? uniform_ : emitter_.laneElement(array_, type_, laneNumber);
}

// --- instructions -----------------------------------------------------------------------------------

void FunctionEmitter::emitInstruction(Instruction &lane) {
  if (auto *alloca = dyn_cast<llvm::AllocaInst>(&lane)) return emitAlloca(*alloca);
  if (auto *load = dyn_cast<llvm::LoadInst>(&lane)) return emitLoad(*load);
  if (auto *store = dyn_cast<llvm::StoreInst>(&lane)) return emitStore(*store);
  if (isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(lane)) return emitAtomic(lane);
  if (auto *call = dyn_cast<llvm::CallBase>(&lane)) return emitCall(*call);
  if (isa<llvm::FenceInst>(lane)) {
    builder_.Insert(lane.clone());
    return;
  }
  if (shape(&lane).isAffine()) emitScalar(lane);
  else if (shape(&lane).isSegmented()) emitSegments(lane);
  else emitVector(lane);
}

void FunctionEmitter::emitScalar(Instruction &lane) {
  for (Value *operand : lane.operands())
    if (!shape(operand).isUniform())
      return define(lane, emitAffine(lane, [this](Value *value) { return scalar(value); }));
  Instruction *copy = lane.clone();
  for (llvm::Use &use : copy->operands()) use.set(scalar(use.get()));
  define(lane, builder_.Insert(copy, lane.getName()));
}

// u of an affine result (or of one segment of it) from the u of its operands; see the shape rules in
// simt/analysis/shape.h.
llvm::Value *FunctionEmitter::emitAffine(Instruction &lane, const Scalars &scalar) {
  if (auto *ext = dyn_cast<llvm::CastInst>(&lane); ext && isa<llvm::SExtInst, llvm::ZExtInst>(lane)) {
    Value *u = scalar(ext->getOperand(0));
    return extendsAsSigned(*ext, shape(ext->getOperand(0))) ? builder_.CreateSExt(u, lane.getType())
                                                            : builder_.CreateZExt(u, lane.getType());
  }
  if (auto *select = dyn_cast<llvm::SelectInst>(&lane); select && select->getTrueValue() == select->getFalseValue())
    return scalar(select->getTrueValue());  // the condition may vary
  auto *disjoint = dyn_cast<llvm::PossiblyDisjointInst>(&lane);
  if (disjoint && disjoint->isDisjoint())
    return builder_.CreateAdd(scalar(lane.getOperand(0)), scalar(lane.getOperand(1)));
  if ((lane.getOpcode() == Instruction::Or || lane.getOpcode() == Instruction::Xor) &&
      goesIntoOffsets(lane, shape(lane.getOperand(0))))
    return scalar(lane.getOperand(0));
  if (lane.getOpcode() == Instruction::And && shape(&lane).alignment >= 64)
    return llvm::Constant::getNullValue(lane.getType());  // the low bits only
  if (auto *gep = dyn_cast<llvm::GetElementPtrInst>(&lane)) {
    std::vector<Value *> indices;
    for (llvm::Use &index : gep->indices()) indices.push_back(scalar(index.get()));
    return builder_.CreateGEP(gep->getSourceElementType(), scalar(gep->getPointerOperand()), indices);
  }
  Instruction *copy = lane.clone();
  // u is the value of no lane in particular: what is promised about lanes need not hold for it.
  copy->dropPoisonGeneratingFlags();
  for (llvm::Use &use : copy->operands()) use.set(scalar(use.get()));
  return builder_.Insert(copy, lane.getName());
}

void FunctionEmitter::emitVector(Instruction &lane) {
  Value *result = nullptr;
  if (auto *gep = dyn_cast<llvm::GetElementPtrInst>(&lane)) {
    result = emitVectorGep(*gep);
  } else if (auto *castInst = dyn_cast<llvm::CastInst>(&lane)) {
    result = emitVectorCast(*castInst);
  } else if (auto *select = dyn_cast<llvm::SelectInst>(&lane)) {
    result = emitVectorSelect(*select);
  } else if (auto *shuffle = dyn_cast<llvm::ShuffleVectorInst>(&lane)) {
    result = emitLaneShuffle(*shuffle);
  } else if (auto *extract = dyn_cast<llvm::ExtractValueInst>(&lane)) {
    result = builder_.CreateExtractValue(vector(extract->getAggregateOperand()), extract->getIndices());
  } else if (auto *insert = dyn_cast<llvm::InsertValueInst>(&lane)) {
    result = builder_.CreateInsertValue(vector(insert->getAggregateOperand()),
                                        vector(insert->getInsertedValueOperand()), insert->getIndices());
  } else if (isa<llvm::ExtractElementInst, llvm::InsertElementInst>(lane)) {
    auto *index = dyn_cast<llvm::ConstantInt>(lane.getOperand(lane.getNumOperands() - 1));
    if (!index) return fail(lane, "element of a lane vector with a variable index");
    unsigned at = static_cast<unsigned>(index->getZExtValue());
    result = isa<llvm::ExtractElementInst>(lane)
                 ? builder_.CreateExtractValue(vector(lane.getOperand(0)), at)
                 : builder_.CreateInsertValue(vector(lane.getOperand(0)), vector(lane.getOperand(1)), at);
  } else if (lane.getType()->isVectorTy() || lane.getType()->isAggregateType()) {
    return fail(lane, std::string(lane.getOpcodeName()) + " on a lane vector");
  } else {
    Value *a = vector(lane.getOperand(0));
    Value *b = lane.getNumOperands() > 1 ? vector(lane.getOperand(1)) : nullptr;
    if (lane.isIntDivRem() && !isa<llvm::Constant>(lane.getOperand(1)) && !maskIsFull())
      b = builder_.CreateSelect(mask(), b, llvm::ConstantInt::get(b->getType(), 1));
    Instruction *made;
    if (lane.isBinaryOp())
      made = llvm::BinaryOperator::Create(static_cast<Instruction::BinaryOps>(lane.getOpcode()), a, b);
    else if (auto *compare = dyn_cast<llvm::CmpInst>(&lane))
      made = llvm::CmpInst::Create(compare->getOpcode(), compare->getPredicate(), a, b);
    else if (lane.isUnaryOp())
      made = llvm::UnaryOperator::Create(static_cast<Instruction::UnaryOps>(lane.getOpcode()), a);
    else if (isa<llvm::FreezeInst>(lane)) made = new llvm::FreezeInst(a);
    else return fail(lane, std::string("instruction ") + lane.getOpcodeName());
    made->copyIRFlags(&lane);
    result = builder_.Insert(made, lane.getName());
  }
  define(lane, result);
}

llvm::Value *FunctionEmitter::emitVectorGep(llvm::GetElementPtrInst &gep) {
  Value *base = scalarOrVector(gep.getPointerOperand());
  std::vector<Value *> indices;
  bool anyVector = base->getType()->isVectorTy();
  for (llvm::Use &index : gep.indices()) {
    indices.push_back(scalarOrVector(index.get()));
    anyVector = anyVector || indices.back()->getType()->isVectorTy();
  }
  if (!anyVector) base = splat(base);
  return builder_.CreateGEP(gep.getSourceElementType(), base, indices, gep.getName());
}

llvm::Value *FunctionEmitter::emitVectorCast(llvm::CastInst &lane) {
  llvm::Type *from = lane.getSrcTy(), *to = lane.getDestTy();
  if (!from->isVectorTy() && !to->isVectorTy()) {
    auto *made = llvm::CastInst::Create(lane.getOpcode(), vector(lane.getOperand(0)), widen(to));
    made->copyIRFlags(&lane);
    return builder_.Insert(made, lane.getName());
  }
  // Bit casts between a lane vector and a scalar: the first element is the lowest part.
  Value *value = vector(lane.getOperand(0));
  if (from->isVectorTy() && to->isVectorTy()) {
    fail(lane, "cast between lane vectors");
    return llvm::PoisonValue::get(widen(to));
  }
  auto *parts = cast<llvm::FixedVectorType>(from->isVectorTy() ? from : to);
  llvm::Type *whole = from->isVectorTy() ? to : from;
  unsigned bits = parts->getElementType()->getPrimitiveSizeInBits(), total = whole->getPrimitiveSizeInBits();
  llvm::Type *partInt = widen(builder_.getIntNTy(bits)), *wholeInt = widen(builder_.getIntNTy(total));
  Value *result = from->isVectorTy() ? llvm::Constant::getNullValue(wholeInt) : llvm::PoisonValue::get(widen(to));
  for (unsigned i = 0; i < parts->getNumElements(); ++i) {
    Value *shift = llvm::ConstantInt::get(wholeInt, std::uint64_t{i} * bits);
    if (from->isVectorTy()) {
      Value *part =
          builder_.CreateZExt(builder_.CreateBitCast(builder_.CreateExtractValue(value, i), partInt), wholeInt);
      result = builder_.CreateOr(result, builder_.CreateShl(part, shift));
    } else {
      Value *part = builder_.CreateTrunc(builder_.CreateLShr(builder_.CreateBitCast(value, wholeInt), shift), partInt);
      result = builder_.CreateInsertValue(result, builder_.CreateBitCast(part, widen(parts->getElementType())), i);
    }
  }
  return from->isVectorTy() ? builder_.CreateBitCast(result, widen(to)) : result;
}

llvm::Value *FunctionEmitter::emitVectorSelect(llvm::SelectInst &select) {
  return selectParts(scalarOrVector(select.getCondition()), vector(select.getTrueValue()),
                     vector(select.getFalseValue()));
}

llvm::Value *FunctionEmitter::selectParts(Value *condition, Value *a, Value *b) {
  llvm::Type *type = a->getType();
  if (!type->isAggregateType()) return builder_.CreateSelect(condition, a, b);
  unsigned count =
      type->isStructTy() ? type->getStructNumElements() : static_cast<unsigned>(type->getArrayNumElements());
  Value *result = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < count; ++i)
    result = builder_.CreateInsertValue(
        result, selectParts(condition, builder_.CreateExtractValue(a, i), builder_.CreateExtractValue(b, i)), i);
  return result;
}

llvm::Value *FunctionEmitter::emitLaneShuffle(llvm::ShuffleVectorInst &shuffle) {
  Value *a = vector(shuffle.getOperand(0)), *b = vector(shuffle.getOperand(1));
  unsigned count = cast<llvm::FixedVectorType>(shuffle.getOperand(0)->getType())->getNumElements();
  Value *result = llvm::PoisonValue::get(widen(shuffle.getType()));
  for (unsigned i = 0; i < shuffle.getShuffleMask().size(); ++i) {
    int from = shuffle.getShuffleMask()[i];
    if (from < 0) continue;
    unsigned at = static_cast<unsigned>(from);
    Value *part = at < count ? builder_.CreateExtractValue(a, at) : builder_.CreateExtractValue(b, at - count);
    result = builder_.CreateInsertValue(result, part, i);
  }
  return result;
}

}  // namespace strata::simt
