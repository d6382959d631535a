// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/warp/announce_stores.h"

#include <llvm/Analysis/DomTreeUpdater.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <numeric>

#include "simt/analysis/masked_access.h"
#include "simt/emit/kernel_entry.h"
#include "simt/target/tuning.h"

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::dyn_cast;
using llvm::Instruction;
using llvm::Value;

constexpr unsigned kLeastLoads = 3, kMostDepth = 12;
constexpr std::uint64_t kLine = kTuning.line;  // bytes

bool mayBeCopied(const Instruction &i) {
  return llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst, llvm::FreezeInst>(i) &&
         !i.isIntDivRem();
}

// Of vectors, from memory.
unsigned loadsIn(BasicBlock::iterator from, BasicBlock::iterator to) {
  unsigned count = 0;
  for (const Instruction &i : llvm::make_range(from, to)) {
    const std::optional<MaskedAccess> access = maskedAccess(i);
    count += (llvm::isa<llvm::LoadInst>(i) && i.getType()->isVectorTy()) || (access && !access->stored);
  }
  return count;
}

// A contiguous store has this form beside it, for lanes whose addresses wrap.
bool scatters(const BasicBlock &block) {
  return llvm::any_of(block, [](const Instruction &i) {
    const std::optional<MaskedAccess> access = maskedAccess(i);
    return access && access->stored && !access->isContiguous();
  });
}

bool dependsOn(const Value &value, const Value &on, unsigned depth = 0) {
  if (&value == &on) return true;
  auto *i = dyn_cast<Instruction>(&value);
  if (!i || !mayBeCopied(*i) || depth == kMostDepth) return false;
  return llvm::any_of(i->operands(), [&](const Value *operand) { return dependsOn(*operand, on, depth + 1); });
}

// Computes values at the builder's place, of what is there; with another value for one of them.
class Copier {
public:
  Copier(llvm::IRBuilder<> &builder, const llvm::DominatorTree &dominators, Value &from, Value &to)
      : builder_(builder), dominators_(dominators), from_(from) {
    copies_[&from] = &to;
  }

  Value *copy(Value *value) {
    if (Value *known = copies_.lookup(value)) return known;
    auto *i = dyn_cast<Instruction>(value);
    if (!i || (dominators_.dominates(i, &*builder_.GetInsertPoint()) && !dependsOn(*i, from_))) return value;
    Instruction *made = i->clone();
    for (llvm::Use &operand : made->operands()) operand = copy(operand);
    made->dropPoisonGeneratingFlags();
    return copies_[i] = builder_.Insert(made);
  }

private:
  llvm::IRBuilder<> &builder_;
  const llvm::DominatorTree &dominators_;
  Value &from_;
  llvm::DenseMap<Value *, Value *> copies_;
};

}  // namespace

StoreAnnouncer::StoreAnnouncer(llvm::Function &function) : dominators_(function) {
  for (BasicBlock &block : function)
    for (llvm::PHINode &phi : block.phis())
      if (phi.hasMetadata(kRowOfWarp)) row_ = &phi;
}

BasicBlock::iterator StoreAnnouncer::Place::begin() const {
  return after && !llvm::isa<llvm::PHINode>(after) ? std::next(after->getIterator()) : block->getFirstInsertionPt();
}

bool StoreAnnouncer::isComputable(Value &value, Place &place, unsigned depth) const {
  auto *i = dyn_cast<Instruction>(&value);
  if (!i || dominators_.properlyDominates(i->getParent(), place.block)) return true;
  if (mayBeCopied(*i))
    return depth < kMostDepth &&
           llvm::all_of(i->operands(), [&](Value *operand) { return isComputable(*operand, place, depth + 1); });
  if (i->getParent() != place.block) return false;
  if (!place.after || place.after->comesBefore(i)) place.after = i;
  return true;
}

// Whether all ways from one block lead to the other, but for those that end the kernel with a fault or store in the
// other form, and without a loop.
bool StoreAnnouncer::leadsTo(BasicBlock &from, const BasicBlock &to,
                             llvm::SmallPtrSetImpl<BasicBlock *> &between) const {
  llvm::SmallVector<BasicBlock *, 16> open = {&from};
  while (!open.empty()) {
    BasicBlock *block = open.pop_back_val();
    if (llvm::isa<llvm::ReturnInst>(block->getTerminator())) return false;
    for (BasicBlock *next : llvm::successors(block)) {
      if (!dominators_.properlyDominates(&from, next) || dominators_.dominates(next, block)) return false;
      if (next != &to && !scatters(*next) && between.insert(next).second) open.push_back(next);
    }
  }
  return true;
}

// The first place from which the store follows; false if too few loads lie between.
bool StoreAnnouncer::find(const LineStore &store, Place &best) const {
  BasicBlock *home = store.store->getParent();
  unsigned loads = 0;
  for (auto *node = dominators_.getNode(home); node; node = node->getIDom()) {
    Place place{node->getBlock(), nullptr};
    llvm::SmallPtrSet<BasicBlock *, 16> between;
    if (place.block != home && !leadsTo(*place.block, *home, between)) break;
    if (!isComputable(*store.address, place) || (store.mask && !isComputable(*store.mask, place))) break;
    best = place;
    if (place.block == home) {
      loads = loadsIn(place.begin(), store.store->getIterator());
      continue;
    }
    loads = loadsIn(place.begin(), place.block->end()) + loadsIn(home->begin(), store.store->getIterator());
    for (BasicBlock *block : between) loads += loadsIn(block->begin(), block->end());
  }
  return loads >= kLeastLoads;
}

void StoreAnnouncer::announce(const LineStore &store, llvm::Value &past) {
  Place place;
  if (!row_ || !dependsOn(*store.address, *row_) || !find(store, place)) return;
  llvm::IRBuilder<> builder(place.block, place.begin());
  builder.SetCurrentDebugLocation(store.store->getDebugLoc());
  Value *mask =
      store.mask ? Copier(builder, dominators_, *row_, *row_).copy(store.mask) : nullptr;  // as good as that row's
  const std::vector<LineOfMask> lines = linesOf({store.store, store.value, store.address, mask}, builder);
  Value *some = builder.getFalse();  // with whole lines, all go past the caches (stream_stores.cpp)
  for (const LineOfMask &line : lines) some = builder.CreateOr(some, line.whole);
  Value *wanted = builder.CreateNot(builder.CreateAnd(&past, some));
  llvm::DomTreeUpdater updater(dominators_, llvm::DomTreeUpdater::UpdateStrategy::Eager);
  builder.SetInsertPoint(
      llvm::SplitBlockAndInsertIfThen(wanted, builder.GetInsertPoint(), /*Unreachable=*/false, nullptr, &updater));
  Value *ahead = builder.CreateAdd(row_, builder.getInt32(kTuning.rowsAhead));
  Value *address = Copier(builder, dominators_, *row_, *ahead).copy(store.address);
  for (const LineOfMask &line : lines) {
    Value *at = builder.CreateConstGEP1_64(builder.getInt8Ty(), address, line.offset);
    builder.CreateIntrinsic(
        llvm::Intrinsic::prefetch, {at->getType()},
        {at, builder.getInt32(/*write*/ 1), builder.getInt32(/*locality*/ 3), builder.getInt32(/*data*/ 1)});
  }
}

std::vector<LineOfMask> linesOf(const LineStore &store, llvm::IRBuilderBase &builder) {
  auto *type = llvm::cast<llvm::FixedVectorType>(store.value->getType());
  const std::uint64_t bytes = store.store->getModule()->getDataLayout().getTypeStoreSize(type);
  const auto perLine = static_cast<unsigned>(type->getNumElements() * kLine / bytes);
  std::vector<LineOfMask> lines;
  for (unsigned first = 0; first < type->getNumElements(); first += perLine) {
    LineOfMask line{llvm::SmallVector<int, 64>(perLine), first / perLine * kLine, nullptr, builder.getTrue(),
                    builder.getTrue()};
    std::iota(line.lanes.begin(), line.lanes.end(), static_cast<int>(first));
    if (store.mask) {
      line.mask = builder.CreateShuffleVector(store.mask, line.lanes);
      Value *bits = builder.CreateBitCast(line.mask, builder.getIntNTy(perLine));
      line.whole = builder.CreateICmpEQ(bits, builder.getInt(llvm::APInt::getAllOnes(perLine)));
      line.any = builder.CreateICmpNE(bits, llvm::ConstantInt::get(bits->getType(), 0));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace strata::simt
