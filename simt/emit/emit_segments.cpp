// SPDX-License-Identifier: Apache-2.0
// FunctionEmitter: segmented values (simt/analysis/shape.h), one scalar for each row of threads that the warp
// covers, and accesses of memory at such addresses:
//
//   %row = mul i32 %tid.y, %n               %row0 = mul i32 %y, %n;  %y1 = add i32 %y, 1;  %row1 = mul i32 %y1, %n
//   %v = load float, %a[%row + %tid.x]      %v0 = load <16 x float>, %a[%row0];  %v1 = load <16 x float>, %a[%row1]
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <numeric>

#include "simt/emit/function_emitter.h"

namespace strata::simt {

using llvm::cast;
using llvm::dyn_cast;
using llvm::Instruction;

FunctionEmitter::Slots FunctionEmitter::createSegmentSlots(const Instruction &lane) {
  Slots slots;
  for (unsigned s = 0; s < segmentCount(); ++s)
    slots.push_back(entryBuilder_.CreateAlloca(lane.getType(), nullptr, lane.getName()));
  return slots;
}

FunctionEmitter::Segments FunctionEmitter::loadSegments(const Slots &slots) {
  Segments values;
  for (llvm::AllocaInst *slot : slots) values.push_back(builder_.CreateLoad(slot->getAllocatedType(), slot));
  return values;
}

FunctionEmitter::Segments FunctionEmitter::segments(Value *lane) {
  const Shape of = shape(lane);
  if (of.isSegmented()) {
    Segments &now = segmentsNow_[lane];
    if (now.empty()) now = loadSegments(segmentSlots_.at(lane));
    return now;
  }
  Segments values;
  Value *u = scalar(lane);
  for (unsigned s = 0; s < segmentCount(); ++s) {
    const std::int64_t first = of.offsets[s * context_.threads.segmentLanes()];
    if (!first) values.push_back(u);
    else if (u->getType()->isPointerTy())
      values.push_back(builder_.CreatePtrAdd(u, llvm::ConstantInt::getSigned(builder_.getInt64Ty(), first)));
    else values.push_back(builder_.CreateAdd(u, llvm::ConstantInt::getSigned(u->getType(), first)));
  }
  return values;
}

void FunctionEmitter::defineSegments(Instruction &lane, const Segments &values) {
  segmentsNow_[&lane] = values;
  auto slots = segmentSlots_.find(&lane);
  if (slots == segmentSlots_.end()) return;
  for (std::size_t s = 0; s < values.size(); ++s) builder_.CreateStore(values[s], slots->second[s]);
}

void FunctionEmitter::emitSegments(Instruction &lane) {
  Segments values;
  for (unsigned s = 0; s < segmentCount(); ++s)
    values.push_back(emitAffine(
        lane, [&](Value *operand) { return shape(operand).isUniform() ? scalar(operand) : segments(operand)[s]; }));
  defineSegments(lane, values);
}

llvm::Value *FunctionEmitter::joinSegments(Segments parts) {
  while (parts.size() > 1) {
    Segments pairs;
    const unsigned elements = cast<llvm::FixedVectorType>(parts[0]->getType())->getNumElements();
    std::vector<int> both(2 * elements);
    std::iota(both.begin(), both.end(), 0);
    for (std::size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(builder_.CreateShuffleVector(parts[i], parts[i + 1], both));
    parts = std::move(pairs);
  }
  return parts[0];
}

llvm::Value *FunctionEmitter::segmentsVector(const Segments &values, const Shape &of) {
  Segments parts;
  for (Value *value : values) parts.push_back(builder_.CreateVectorSplat(of.segmentLanes, value));
  return addOffsets(joinSegments(parts), nullptr, of);
}

llvm::Value *FunctionEmitter::segmentMask(unsigned segment) {
  std::vector<int> lanes(context_.threads.segmentLanes());
  std::iota(lanes.begin(), lanes.end(), static_cast<int>(segment * lanes.size()));
  return builder_.CreateShuffleVector(mask(), lanes);
}

namespace {

// Every segment's lanes lie `stride` bytes apart.
bool hasStride(const Shape &of, std::int64_t stride) {
  for (unsigned l = 0; l < kLanes; ++l)
    if (of.offsets[l] != of.offsets[l / of.segmentLanes * of.segmentLanes] + stride * (l % of.segmentLanes))
      return false;
  return true;
}

}  // namespace

// Null if there is nothing better than a gather.
llvm::Value *FunctionEmitter::loadSegmented(llvm::LoadInst &load, llvm::Type *element) {
  Value *pointer = load.getPointerOperand();
  const Shape address = shape(pointer);
  const auto size = static_cast<std::int64_t>(context_.module.getDataLayout().getTypeStoreSize(element));
  const bool contiguous = hasStride(address, size), same = hasStride(address, 0) && maskIsFull();
  if (load.isVolatile() || (!contiguous && !same)) return nullptr;
  auto fast = [&] {
    auto *type = llvm::FixedVectorType::get(element, address.segmentLanes);
    Segments parts;
    unsigned lane = 0;
    for (Value *u : segments(pointer)) {
      Value *at = builder_.CreatePtrAdd(u, llvm::ConstantInt::getSigned(builder_.getInt64Ty(), address.offsets[lane]));
      if (same)
        parts.push_back(
            builder_.CreateVectorSplat(address.segmentLanes, builder_.CreateAlignedLoad(element, at, load.getAlign())));
      else if (maskIsFull()) parts.push_back(builder_.CreateAlignedLoad(type, at, load.getAlign()));
      else
        parts.push_back(builder_.CreateMaskedLoad(type, at, load.getAlign(), segmentMask(lane / address.segmentLanes)));
      lane += address.segmentLanes;
    }
    return joinSegments(parts);
  };
  return guarded(address, fast, [&] { return gather(vector(pointer), element, 1, load.getAlign()); });
}

bool FunctionEmitter::storeSegmented(llvm::StoreInst &store, llvm::Type *element) {
  Value *pointer = store.getPointerOperand(), *value = store.getValueOperand();
  const Shape address = shape(pointer);
  const auto size = static_cast<std::int64_t>(context_.module.getDataLayout().getTypeStoreSize(element));
  if (value->getType()->isVectorTy() || store.isVolatile() || !hasStride(address, size)) return false;
  Value *values = vector(value);
  auto fast = [&]() -> Value * {
    const StoreOrder order = storeOrder(store);
    const Segments all = segments(pointer);
    for (unsigned turn = 0; turn < kLanes; turn += address.segmentLanes) {
      const unsigned segment = order.lane(turn) / address.segmentLanes, lane = segment * address.segmentLanes;
      Value *u = all[segment];
      Value *at = builder_.CreatePtrAdd(u, llvm::ConstantInt::getSigned(builder_.getInt64Ty(), address.offsets[lane]));
      std::vector<int> lanes(address.segmentLanes);
      std::iota(lanes.begin(), lanes.end(), static_cast<int>(lane));
      Value *part = builder_.CreateShuffleVector(values, lanes);
      if (maskIsFull()) builder_.CreateAlignedStore(part, at, store.getAlign());
      else builder_.CreateMaskedStore(part, at, store.getAlign(), segmentMask(segment));
    }
    return nullptr;
  };
  guarded(address, fast, [&]() -> Value * {
    scatter(store, vector(pointer), values);
    return nullptr;
  });
  return true;
}

}  // namespace strata::simt
