// SPDX-License-Identifier: Apache-2.0
#include "simt/jit/stream_stores.h"

#include <llvm/ADT/SmallSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <optional>

#include "simt/abi.h"
#include "simt/analysis/launch_fields.h"
#include "simt/passes/vectorize.h"

namespace strata::simt {
namespace {

constexpr std::uint64_t kLine = 64;  // bytes

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
bool isLaunch(const llvm::Value *value, const llvm::Function &entry) { return isField(value, offsetof(Block, launch), isBlock, entry); }
bool isParams(const llvm::Value *value, const llvm::Function &entry) { return isField(value, offsetof(LaunchState, params), isLaunch, entry); }

// The parameters, by their offsets, among the addends of an integer, or that a pointer is; or of all lanes' integers or pointers.
void addParameters(const llvm::Value *value, const llvm::Function &entry, llvm::SmallVectorImpl<std::int64_t> &found, unsigned depth = 0) {
  if (const llvm::Value *same = value->getType()->isVectorTy() ? llvm::getSplatValue(value) : nullptr) value = same;
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(value)) {
    auto [base, at] = splitAddress(*load);
    if (isParams(base, entry)) found.push_back(static_cast<std::int64_t>(at));
    return;
  }
  constexpr unsigned kDeepest = 6;
  auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (!sum || depth == kDeepest || (sum->getOpcode() != llvm::Instruction::Add && sum->getOpcode() != llvm::Instruction::Or)) return;
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

bool isWholeLines(const llvm::StoreInst &store) {
  if (!store.isSimple() || !store.hasMetadata(kOncePerWarp) || !store.getValueOperand()->getType()->isVectorTy()) return false;
  const std::uint64_t bytes = store.getModule()->getDataLayout().getTypeStoreSize(store.getValueOperand()->getType());
  return bytes && bytes % kLine == 0;
}

// The addresses that an instruction loads from, or null; not of prefetches.
const llvm::Value *loadedFrom(const llvm::Instruction &i) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i)) return load->getPointerOperand();
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
  const bool loads = call && (call->getIntrinsicID() == llvm::Intrinsic::masked_load || call->getIntrinsicID() == llvm::Intrinsic::masked_gather);
  return loads ? call->getArgOperand(0) : nullptr;
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

// Both forms of the store, and the choice.
void makeBoth(llvm::StoreInst &store, llvm::Value *streams) {
  llvm::IRBuilder<> b(&store);
  llvm::Value *low = b.CreateAnd(b.CreatePtrToInt(store.getPointerOperand(), b.getInt64Ty()), kLine - 1);
  llvm::Value *choose = b.CreateAnd(streams, b.CreateICmpEQ(low, b.getInt64(0)));
  llvm::Instruction *past = nullptr, *plain = nullptr;
  llvm::SplitBlockAndInsertIfThenElse(choose, store.getIterator(), &past, &plain);
  auto *streaming = llvm::cast<llvm::StoreInst>(store.clone());
  streaming->setAlignment(llvm::Align(kLine));
  streaming->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(store.getContext(), llvm::ConstantAsMetadata::get(b.getInt32(1))));
  streaming->insertBefore(past);
  store.moveBefore(plain);
}

}  // namespace

bool streamStores(llvm::Function &function) {
  if (function.arg_size() != 2 || function.getName() != "strata_entry") return false;  // BlockEntry
  llvm::SmallVector<llvm::StoreInst *, 4> chosen;
  llvm::SmallSet<std::int64_t, 8> loaded;
  if (!loadedParameters(function, loaded)) return false;
  for (llvm::Instruction &i : llvm::instructions(function)) {
    if (ordersMemory(i)) return false;
    auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
    if (!store || !isWholeLines(*store)) continue;
    if (auto parameter = parameterOf(store->getPointerOperand(), function); parameter && !loaded.contains(*parameter)) chosen.push_back(store);
  }
  if (chosen.empty()) return false;
  llvm::IRBuilder<> b(&*function.getEntryBlock().getFirstInsertionPt());
  auto field = [&](llvm::Value *base, std::size_t offset, llvm::Type *type) {
    return b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset));
  };
  llvm::Value *launch = field(function.getArg(0), offsetof(Block, launch), b.getPtrTy());
  llvm::Value *streams = b.CreateICmpNE(field(launch, offsetof(LaunchState, streamStores), b.getInt32Ty()), b.getInt32(0), "streams");
  for (llvm::StoreInst *store : chosen) makeBoth(*store, streams);
  return true;
}

}  // namespace strata::simt
