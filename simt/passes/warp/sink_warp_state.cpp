// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/warp/sink_warp_state.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <map>
#include <optional>

#include "simt/abi.h"
#include "simt/emit/kernel_entry.h"

namespace strata::simt {
namespace {

using Stores = std::map<std::int64_t, llvm::StoreInst *>;  // by offset in the Warp

std::optional<std::int64_t> offsetFrom(const llvm::Argument &warp, const llvm::Value *address,
                                       const llvm::DataLayout &layout) {
  std::int64_t offset = 0;
  if (llvm::GetPointerBaseWithConstantOffset(address, offset, layout) != &warp) return std::nullopt;
  return offset;
}

bool isWarpState(std::int64_t offset) {
  return offset == offsetof(Warp, index) || offset == offsetof(Warp, lanes) || offset == offsetof(Warp, exited);
}

// The stores of the Warp's state; none if a field has several.
Stores storesOf(llvm::Function &function, const llvm::Argument &warp) {
  const llvm::DataLayout &layout = function.getParent()->getDataLayout();
  Stores stores;
  for (llvm::Instruction &i : llvm::instructions(function))
    if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
      if (auto offset = offsetFrom(warp, store->getPointerOperand(), layout); offset && isWarpState(*offset))
        if (!stores.try_emplace(*offset, store).second) return {};
  return stores;
}

// Whether the instruction may look at the state, by itself or by what it calls. Kernels have no pointer to the Warp.
bool reads(const llvm::Instruction &i, const llvm::Argument &warp) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i)) {
    auto offset = offsetFrom(warp, load->getPointerOperand(), i.getModule()->getDataLayout());
    return offset && isWarpState(*offset);
  }
  auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
  return call && !llvm::isa<llvm::IntrinsicInst>(call) && !call->doesNotAccessMemory();
}

}  // namespace

bool sinkWarpState(llvm::Function &function) {
  if (!isBlockEntry(function)) return false;
  const llvm::Argument &warp = *function.getArg(1);
  Stores stores = storesOf(function, warp);
  if (stores.empty()) return false;
  llvm::DominatorTree dominators(function);
  llvm::SmallPtrSet<llvm::BasicBlock *, 8> readers;
  for (llvm::Instruction &i : llvm::instructions(function)) {
    if (!reads(i, warp)) continue;
    llvm::BasicBlock *block = i.getParent();
    if (!llvm::isa<llvm::UnreachableInst>(block->getTerminator())) return false;
    for (auto &[offset, store] : stores)
      if (store->getParent() == block || !dominators.dominates(store, block)) return false;
    readers.insert(block);
  }
  for (llvm::BasicBlock *block : readers)
    for (auto &[offset, store] : stores) store->clone()->insertInto(block, block->getFirstInsertionPt());
  for (auto &[offset, store] : stores) store->eraseFromParent();
  return true;
}

}  // namespace strata::simt
