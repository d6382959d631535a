// SPDX-License-Identifier: Apache-2.0
#include "simt/analysis/launch_fields.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <utility>

#include "simt/abi.h"

namespace strata::simt {
std::pair<const llvm::Value *, std::uint64_t> splitAddress(const llvm::LoadInst &load) {
  const llvm::DataLayout &layout = load.getModule()->getDataLayout();
  llvm::APInt offset(64, 0);
  const llvm::Value *base =
      load.getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  return {base, offset.getZExtValue()};
}

namespace {

// The pointer that was loaded from base + offset, or null.
const llvm::LoadInst *pointerLoad(const llvm::Value *value, std::uint64_t offset) {
  auto *load = llvm::dyn_cast<llvm::LoadInst>(value);
  if (!load || !load->getType()->isPointerTy() || load->isVolatile() || load->isAtomic()) return nullptr;
  return splitAddress(*load).second == offset ? load : nullptr;
}

}  // namespace

std::optional<std::uint64_t> launchField(const llvm::LoadInst &load) {
  auto [launch, field] = splitAddress(load);
  const llvm::LoadInst *launchLoad = pointerLoad(launch, offsetof(Block, launch));
  if (!launchLoad) return std::nullopt;
  const llvm::LoadInst *blockLoad = pointerLoad(splitAddress(*launchLoad).first, offsetof(Warp, block));
  if (!blockLoad || splitAddress(*blockLoad).first != load.getFunction()->getArg(0)) return std::nullopt;
  return field;
}

bool isSharedAddress(const llvm::Value &address) {
  const llvm::LoadInst *base = pointerLoad(llvm::getUnderlyingObject(&address), offsetof(Block, shared));
  const llvm::LoadInst *block = base ? pointerLoad(splitAddress(*base).first, offsetof(Warp, block)) : nullptr;
  return block && splitAddress(*block).first == block->getFunction()->getArg(0);
}

}  // namespace strata::simt
