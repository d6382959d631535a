// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/warp/stream_stores.h"

#include <llvm/ADT/SmallSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <numeric>
#include <optional>

#include "simt/abi.h"
#include "simt/analysis/launch_fields.h"
#include "simt/analysis/masked_access.h"
#include "simt/emit/kernel_entry.h"
#include "simt/emit/vectorize.h"
#include "simt/passes/warp/announce_stores.h"
#include "simt/target/instructions.h"
#include "simt/target/tuning.h"

namespace strata::simt {
namespace {

constexpr std::uint64_t kLine = kTuning.line;  // bytes

using IsBase = bool (*)(const llvm::Value *, const llvm::Function &);

// Whether `value` was loaded from a field of what `isBase` knows.
bool isField(const llvm::Value *value, std::uint64_t field, IsBase isBase, const llvm::Function &entry) {
  auto *load = llvm::dyn_cast<llvm::LoadInst>(value);
  if (!load) return false;
  auto [base, at] = splitAddress(*load);
  return at == field && isBase(base, entry);
}
bool isWarp(const llvm::Value *value, const llvm::Function &entry) { return value == entry.getArg(1); }
// The Block, by either of the entry's ways to it.
bool isBlock(const llvm::Value *value, const llvm::Function &entry) {
  return value == entry.getArg(0) || isField(value, offsetof(Warp, block), isWarp, entry);
}
bool isLaunch(const llvm::Value *value, const llvm::Function &entry) {
  return isField(value, offsetof(Block, launch), isBlock, entry);
}
bool isParams(const llvm::Value *value, const llvm::Function &entry) {
  return isField(value, offsetof(LaunchState, params), isLaunch, entry);
}

// The parameters, by their offsets, among the addends of an integer, or that a pointer is; or of all lanes' integers or
// pointers.
void addParameters(const llvm::Value *value, const llvm::Function &entry, llvm::SmallVectorImpl<std::int64_t> &found,
                   unsigned depth = 0) {
  if (const llvm::Value *same = value->getType()->isVectorTy() ? llvm::getSplatValue(value) : nullptr) value = same;
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(value)) {
    auto [base, at] = splitAddress(*load);
    if (isParams(base, entry)) found.push_back(static_cast<std::int64_t>(at));
    return;
  }
  constexpr unsigned kDeepest = 6;
  auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (!sum || depth == kDeepest ||
      (sum->getOpcode() != llvm::Instruction::Add && sum->getOpcode() != llvm::Instruction::Or))
    return;
  for (const llvm::Value *addend : sum->operands()) addParameters(addend, entry, found, depth + 1);
}

// What the address, or each of a vector of them, points into.
const llvm::Value *objectOf(const llvm::Value *address) {
  while (address->getType()->isVectorTy()) {
    auto *step = llvm::dyn_cast<llvm::GetElementPtrInst>(address);
    const llvm::Value *from = step ? step->getPointerOperand() : llvm::getSplatValue(address);
    if (!from) return address;
    address = from;
  }
  return llvm::getUnderlyingObject(address, /*MaxLookup=*/0);
}

// The parameter to whose memory the address points; none if it cannot be told.
std::optional<std::int64_t> parameterOf(const llvm::Value *address, const llvm::Function &entry) {
  const llvm::Value *object = objectOf(address);
  if (auto *cast = llvm::dyn_cast<llvm::IntToPtrInst>(object)) object = cast->getOperand(0);
  llvm::SmallVector<std::int64_t, 2> found;
  addParameters(object, entry, found);
  if (found.size() != 1) return std::nullopt;
  return found[0];
}

// Whether the address surely lies in the block's shared memory or on the stack.
bool isOwnMemory(const llvm::Value *address, const llvm::Function &entry) {
  const llvm::Value *object = objectOf(address);
  return llvm::isa<llvm::AllocaInst>(object) || isField(object, offsetof(Block, shared), isBlock, entry);
}

bool ordersMemory(const llvm::Instruction &i) {
  if (i.isAtomic() || llvm::isa<llvm::FenceInst>(i)) return true;
  auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
  return call && !llvm::isa<llvm::IntrinsicInst>(call) && !call->doesNotAccessMemory() &&
         !llvm::isa<llvm::UnreachableInst>(i.getParent()->getTerminator());
}

std::optional<LineStore> asLineStore(llvm::Instruction &i) {
  if (!i.hasMetadata(kOncePerWarp)) return std::nullopt;
  LineStore made{&i, nullptr, nullptr, nullptr};
  if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i); store && store->isSimple()) {
    made.value = store->getValueOperand();
    made.address = store->getPointerOperand();
  } else if (auto access = maskedAccess(i); access && access->isContiguous()) {
    made.value = access->stored;
    made.address = access->address;
    made.mask = access->mask;
  }
  if (!made.value || !made.value->getType()->isVectorTy()) return std::nullopt;
  const std::uint64_t bytes = i.getModule()->getDataLayout().getTypeStoreSize(made.value->getType());
  return bytes && bytes % kLine == 0 ? std::optional(made) : std::nullopt;
}

// The addresses that an instruction loads from, or null; not of prefetches.
const llvm::Value *loadedFrom(const llvm::Instruction &i) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i)) return load->getPointerOperand();
  const std::optional<MaskedAccess> access = maskedAccess(i);
  return access && !access->stored ? access->address : nullptr;
}

// The parameters from whose memory something is seen to be loaded; false if there is a gather that may load from any.
bool loadedParameters(const llvm::Function &entry, llvm::SmallSet<std::int64_t, 8> &loaded) {
  for (const llvm::Instruction &i : llvm::instructions(entry)) {
    const llvm::Value *address = loadedFrom(i);
    if (!address) continue;
    if (auto parameter = parameterOf(address, entry)) loaded.insert(*parameter);
    else if (address->getType()->isVectorTy() && !isOwnMemory(address, entry)) return false;
  }
  return true;
}

void storePast(llvm::IRBuilder<> &b, llvm::Value *value, llvm::Value *address, std::uint64_t bytes = kLine) {
  b.CreateAlignedStore(value, address, llvm::Align(bytes))
      ->setMetadata(llvm::LLVMContext::MD_nontemporal,
                    llvm::MDNode::get(b.getContext(), llvm::ConstantAsMetadata::get(b.getInt32(1))));
}

llvm::Value *areAll(llvm::IRBuilder<> &b, llvm::Value *mask, bool set) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  return b.CreateICmpEQ(b.CreateBitCast(mask, b.getIntNTy(lanes)),
                        b.getInt(set ? llvm::APInt::getAllOnes(lanes) : llvm::APInt::getZero(lanes)));
}

// Some bytes of a line, past the caches too, in pieces of sixteen bytes: the processor's own masked store of that kind
// takes so many, and is slower than one of a whole piece.
void storePartPast(const LineOfMask &line, llvm::Value *value, llvm::Value *address, llvm::Instruction *before) {
  constexpr unsigned kPiece = kMaskedPiece;
  const auto perPiece = static_cast<unsigned>(line.lanes.size() * kPiece / kLine);
  llvm::IRBuilder<> b(before);
  auto *bytes = llvm::FixedVectorType::get(b.getInt8Ty(), kPiece);
  for (unsigned first = 0; first < line.lanes.size(); first += perPiece) {
    llvm::SmallVector<int, kPiece> lanes(perPiece);
    std::iota(lanes.begin(), lanes.end(), static_cast<int>(first));
    b.SetInsertPoint(before);
    llvm::Value *piece = b.CreateShuffleVector(value, lanes), *mask = b.CreateShuffleVector(line.mask, lanes);
    llvm::Value *at = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), address, first * (kPiece / perPiece));
    llvm::Instruction *whole = nullptr, *rest = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(areAll(b, mask, true), before->getIterator(), &whole, &rest);
    b.SetInsertPoint(whole);
    storePast(b, piece, at, kPiece);
    b.SetInsertPoint(rest);
    b.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(b.CreateNot(areAll(b, mask, false)), rest->getIterator(),
                                                     /*Unreachable=*/false));
    mask = b.CreateBitCast(b.CreateSExt(mask, llvm::FixedVectorType::get(b.getIntNTy(kPiece * 8 / perPiece), perPiece)),
                           bytes);
    storeMaskedNonTemporal(b, b.CreateBitCast(piece, bytes), mask, at);
  }
}

// Line by line: those that are written whole go past the caches, and parts of lines beside them, as at the ends of a
// matrix's rows. Where a warp writes parts only, the caches bring them together.
void storeLines(const LineStore &s, llvm::Instruction *before) {
  llvm::IRBuilder<> b(before);
  const std::vector<LineOfMask> lines = linesOf(s, b);
  llvm::Value *some = b.getFalse();
  for (const LineOfMask &line : lines) some = b.CreateOr(some, line.whole);
  for (const LineOfMask &line : lines) {
    llvm::Instruction *past = nullptr, *rest = nullptr, *part = nullptr, *plain = nullptr;
    b.SetInsertPoint(before);
    llvm::Value *value = b.CreateShuffleVector(s.value, line.lanes),
                *address = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), s.address, line.offset);
    llvm::SplitBlockAndInsertIfThenElse(line.whole, before->getIterator(), &past, &rest);
    b.SetInsertPoint(past);
    storePast(b, value, address);
    b.SetInsertPoint(rest);
    llvm::SplitBlockAndInsertIfThenElse(b.CreateAnd(some, line.any), rest->getIterator(), &part, &plain);
    storePartPast(line, value, address, part);
    b.SetInsertPoint(plain);
    b.CreateMaskedStore(value, address, llvm::Align(kLine), line.mask);
  }
}

// Both forms of the store, and the choice.
void makeBoth(const LineStore &s, llvm::Value *streams) {
  llvm::IRBuilder<> b(s.store);
  llvm::Value *low = b.CreateAnd(b.CreatePtrToInt(s.address, b.getInt64Ty()), kLine - 1);
  llvm::Value *choose = b.CreateAnd(streams, b.CreateICmpEQ(low, b.getInt64(0)));
  llvm::Instruction *past = nullptr, *plain = nullptr;
  llvm::SplitBlockAndInsertIfThenElse(choose, s.store->getIterator(), &past, &plain);
  b.SetInsertPoint(past);
  if (s.mask) storeLines(s, past);
  else storePast(b, s.value, s.address);
  s.store->moveBefore(plain);
}

}  // namespace

bool streamStores(llvm::Function &function) {
  if (!isBlockEntry(function)) return false;
  llvm::SmallVector<LineStore, 4> chosen;
  llvm::SmallSet<std::int64_t, 8> loaded;
  if (!loadedParameters(function, loaded)) return false;
  for (llvm::Instruction &i : llvm::instructions(function)) {
    if (ordersMemory(i)) return false;
    std::optional<LineStore> store = asLineStore(i);
    if (!store) continue;
    if (auto parameter = parameterOf(store->address, function); parameter && !loaded.contains(*parameter))
      chosen.push_back(*store);
  }
  if (chosen.empty()) return false;
  llvm::IRBuilder<> b(&*function.getEntryBlock().getFirstInsertionPt());
  auto field = [&](llvm::Value *base, std::size_t offset, llvm::Type *type) {
    return b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset));
  };
  llvm::Value *launch = field(function.getArg(0), offsetof(Block, launch), b.getPtrTy());
  llvm::Value *streams =
      b.CreateICmpNE(field(launch, offsetof(LaunchState, streamStores), b.getInt32Ty()), b.getInt32(0), "streams");
  StoreAnnouncer announcer(function);
  for (const LineStore &store : chosen) announcer.announce(store, *streams);
  for (const LineStore &store : chosen) makeBoth(store, streams);
  return true;
}

}  // namespace strata::simt
