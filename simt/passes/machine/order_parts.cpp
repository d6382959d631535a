// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/machine/order_parts.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "simt/passes/lane/clone_blocks.h"

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::dyn_cast;
using llvm::Instruction;
using llvm::isa;
using llvm::Value;

// Local memory whose address goes nowhere, so that nothing else reaches it.
class PrivateMemory {
public:
  explicit PrivateMemory(const llvm::DataLayout &layout) : layout_(layout) {}

  struct Access {
    const Value *base = nullptr;  // null: of other memory
    std::int64_t begin = 0, end = 0;
    const llvm::AllocaInst *object = nullptr;
  };
  Access accessOf(Instruction &i);
  static bool overlap(const Access &a, const Access &b) {
    return a.object && a.object == b.object && (a.base != b.base || (a.begin < b.end && b.begin < a.end));
  }

private:
  bool isPrivate(const llvm::AllocaInst &alloca);

  const llvm::DataLayout &layout_;
  llvm::DenseMap<const llvm::AllocaInst *, bool> known_;
};

bool PrivateMemory::isPrivate(const llvm::AllocaInst &alloca) {
  auto [at, isNew] = known_.try_emplace(&alloca, true);
  if (!isNew) return at->second;
  std::vector<const Value *> addresses = {&alloca};
  for (std::size_t n = 0; n < addresses.size(); ++n)
    for (const llvm::Use &use : addresses[n]->uses()) {
      const llvm::User *user = use.getUser();
      if (isa<llvm::GetElementPtrInst>(user)) addresses.push_back(user);
      else if (!isa<llvm::LoadInst>(user) &&
               !(isa<llvm::StoreInst>(user) && use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex()))
        return known_[&alloca] = false;
    }
  return true;
}

PrivateMemory::Access PrivateMemory::accessOf(Instruction &i) {
  const Value *pointer = llvm::getLoadStorePointerOperand(&i);
  auto *object = pointer ? dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer, 0)) : nullptr;
  if (!object || !isPrivate(*object)) return {};
  Access access;
  access.object = object;
  access.base = llvm::GetPointerBaseWithConstantOffset(pointer, access.begin, layout_);
  access.end = access.begin + static_cast<std::int64_t>(layout_.getTypeStoreSize(llvm::getLoadStoreType(&i)));
  return access;
}

class PartOrderer {
public:
  PartOrderer(llvm::Function &function, PartOf partOf, unsigned bits, unsigned registers)
      : layout_(function.getParent()->getDataLayout()),
        memory_(layout_),
        partOf_(std::move(partOf)),
        bits_(bits),
        registers_(registers) {
    for (auto [i, part] : partOf_) parts_ = std::max(parts_, part + 1);
  }

  void run(BasicBlock &block);

private:
  using Run = llvm::SmallVector<Instruction *, 0>;
  using Phases = llvm::DenseMap<Instruction *, unsigned>;

  static bool staysInPlace(const Instruction &i) { return i.mayHaveSideEffects() || i.isTerminator(); }
  bool isPrivateStore(Instruction &i);
  unsigned registersOf(const Value *value) const;
  unsigned pressure(llvm::ArrayRef<Instruction *> run) const;
  Phases phases(llvm::ArrayRef<Instruction *> run) const;
  llvm::SetVector<Instruction *> loadedForAll(llvm::ArrayRef<Instruction *> run) const;
  bool mayOrder(llvm::ArrayRef<Instruction *> run, const Phases &phase, const llvm::SetVector<Instruction *> &shared);
  void loadAgain(llvm::ArrayRef<Instruction *> run, const Phases &phase, const llvm::SetVector<Instruction *> &shared,
                 unsigned p);
  bool order(llvm::ArrayRef<Instruction *> run);
  void orderAroundStores(llvm::ArrayRef<Instruction *> run);
  bool splitLoop(BasicBlock &block);
  bool mayBecomeSeveral(BasicBlock &block) const;
  void keepPart(BasicBlock &block, unsigned part);

  const llvm::DataLayout &layout_;
  PrivateMemory memory_;
  PartOf partOf_;
  const unsigned bits_, registers_;
  unsigned parts_ = 0;
};

bool PartOrderer::isPrivateStore(Instruction &i) {
  auto *store = dyn_cast<llvm::StoreInst>(&i);
  return store && store->isSimple() && memory_.accessOf(i).object;
}

unsigned PartOrderer::registersOf(const Value *value) const {
  const llvm::Type *type = value->getType();
  if (!type->isVectorTy() || type->getScalarType()->isIntegerTy(1) || isa<llvm::Constant>(value)) return 0;
  return static_cast<unsigned>(
      llvm::divideCeil(layout_.getTypeSizeInBits(const_cast<llvm::Type *>(type)).getFixedValue(), bits_));
}

// The most registers that values of the run need at once; what goes on living after it counts to its end.
unsigned PartOrderer::pressure(llvm::ArrayRef<Instruction *> run) const {
  llvm::DenseMap<const Value *, std::size_t> place, last;
  for (std::size_t n = 0; n < run.size(); ++n) place[run[n]] = n;
  const auto lastUse = [&](const Value *value) {
    std::size_t at = 0;
    for (const llvm::User *user : value->users()) {
      auto known = place.find(user);
      at = std::max(at, known == place.end() || isa<llvm::PHINode>(user) ? run.size() : known->second);
    }
    return at;
  };
  unsigned live = 0, most = 0;
  std::vector<unsigned> ends(run.size() + 1);
  const auto begin = [&](const Value *value) {
    if (!registersOf(value)) return;
    live += registersOf(value);
    ends[lastUse(value)] += registersOf(value);
  };
  llvm::SmallPtrSet<const Value *, 32> from;
  for (Instruction *i : run)
    for (const Value *operand : i->operands())
      if ((isa<Instruction>(operand) || isa<llvm::Argument>(operand)) && !place.contains(operand) &&
          from.insert(operand).second)
        begin(operand);
  for (std::size_t n = 0; n < run.size(); ++n) {
    begin(run[n]);
    most = std::max(most, live);
    live -= ends[n];
  }
  return most;
}

// When an instruction runs: with its part, or after the last part that it needs.
PartOrderer::Phases PartOrderer::phases(llvm::ArrayRef<Instruction *> run) const {
  Phases phases;
  for (Instruction *i : run) {
    unsigned phase = partOf_.lookup(i);
    for (Value *operand : i->operands())
      if (auto known = phases.find(dyn_cast<Instruction>(operand)); known != phases.end())
        phase = std::max(phase, known->second);
    phases[i] = phase;
  }
  return phases;
}

// What all parts use and is loaded, in the order of the run: loads of vectors and floats, and what makes vectors of
// them.
llvm::SetVector<Instruction *> PartOrderer::loadedForAll(llvm::ArrayRef<Instruction *> run) const {
  llvm::SetVector<Instruction *> shared;
  for (Instruction *i : run) {
    if (partOf_.contains(i) || !(i->getType()->isVectorTy() || i->getType()->isFloatingPointTy())) continue;
    const bool made =
        isa<llvm::InsertElementInst, llvm::ShuffleVectorInst, llvm::BitCastInst>(i) &&
        llvm::any_of(i->operands(), [&](Value *operand) { return shared.contains(dyn_cast<Instruction>(operand)); });
    if (isa<llvm::LoadInst>(i) || made) shared.insert(i);
  }
  return shared;
}

// Accesses of the same memory, one of which writes, must be in the same phase, as what is loaded in all phases is not.
bool PartOrderer::mayOrder(llvm::ArrayRef<Instruction *> run, const Phases &phase,
                           const llvm::SetVector<Instruction *> &shared) {
  std::vector<std::pair<Instruction *, PrivateMemory::Access>> accesses;
  for (Instruction *i : run)
    if (PrivateMemory::Access access = memory_.accessOf(*i); access.object) accesses.push_back({i, access});
  for (auto &[store, written] : accesses) {
    if (!isa<llvm::StoreInst>(store)) continue;
    for (auto &[other, access] : accesses)
      if (PrivateMemory::overlap(written, access) &&
          (phase.lookup(store) != phase.lookup(other) || shared.contains(other)))
        return false;
  }
  return true;
}

// A later phase loads for itself what it shares with those before, where its first instruction is. Between them is a
// fence, without which the code generator would join the loads again.
void PartOrderer::loadAgain(llvm::ArrayRef<Instruction *> run, const Phases &phase,
                            const llvm::SetVector<Instruction *> &shared, unsigned p) {
  llvm::DenseMap<Value *, Instruction *> copies;
  for (Instruction *i : run) {
    if (phase.lookup(i) != p) continue;
    const auto copy = [&](auto &self, Value *value) -> Value * {
      auto *original = dyn_cast<Instruction>(value);
      if (!original || !shared.contains(original)) return value;
      if (Instruction *made = copies.lookup(original)) return made;
      Instruction *fresh = original->clone();
      for (llvm::Use &operand : fresh->operands()) operand.set(self(self, operand.get()));
      fresh->insertBefore(i);
      return copies[original] = fresh;
    };
    for (llvm::Use &operand : i->operands()) operand.set(copy(copy, operand.get()));
  }
}

// False if the run cannot be ordered for the memory it writes.
bool PartOrderer::order(llvm::ArrayRef<Instruction *> run) {
  if (run.empty() || pressure(run) <= registers_) return true;
  const Phases phase = phases(run);
  Run ordered;
  llvm::SmallVector<Instruction *, 4> last;
  for (unsigned p = 0; p < parts_; ++p) {
    for (Instruction *i : run)
      if (phase.lookup(i) == p) ordered.push_back(i);
    last.push_back(ordered.empty() ? nullptr : ordered.back());
  }
  llvm::SetVector<Instruction *> shared;
  if (pressure(ordered) > registers_) shared = loadedForAll(run);
  if (!mayOrder(run, phase, shared)) return false;
  Instruction *end = run.back()->getNextNode();
  for (Instruction *i : ordered) i->moveBefore(end);
  if (shared.empty()) return true;
  for (unsigned p = 1; p < parts_; ++p) {
    if (!last[p - 1] || last[p] == last[p - 1]) continue;
    new llvm::FenceInst(end->getContext(), llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread,
                        last[p - 1]->getNextNode());
    loadAgain(ordered, phase, shared, p);
  }
  return true;
}

void PartOrderer::orderAroundStores(llvm::ArrayRef<Instruction *> run) {
  if (order(run)) return;
  Run between;
  for (Instruction *i : run) {
    if (!staysInPlace(*i)) {
      between.push_back(i);
      continue;
    }
    order(between);
    between.clear();
  }
  order(between);
}

// A loop of one block that writes nothing and whose branch no part decides.
bool PartOrderer::mayBecomeSeveral(BasicBlock &block) const {
  auto *branch = dyn_cast<llvm::BranchInst>(block.getTerminator());
  if (!branch || !branch->isConditional() || !llvm::is_contained(llvm::successors(&block), &block)) return false;
  if (branch->getSuccessor(0) == branch->getSuccessor(1) || !block.hasNPredecessors(2)) return false;
  for (Instruction &i : block) {
    if (auto *call = dyn_cast<llvm::IntrinsicInst>(&i); call && call->getIntrinsicID() == llvm::Intrinsic::prefetch)
      continue;
    if (i.mayHaveSideEffects() || (isa<llvm::LoadInst>(i) && !llvm::cast<llvm::LoadInst>(i).isSimple())) return false;
  }
  // What belongs to no part must need none; what belongs to one, no other.
  const auto fits = [&](Instruction &i) {
    return llvm::all_of(i.operands(), [&](Value *operand) {
      auto *from = dyn_cast<Instruction>(operand);
      auto own = partOf_.find(&i), other = partOf_.find(from);
      return !from || from->getParent() != &block || other == partOf_.end() ||
             (own != partOf_.end() && own->second == other->second);
    });
  };
  return llvm::all_of(block, fits);
}

// Takes the other parts' instructions out of a loop.
void PartOrderer::keepPart(BasicBlock &block, unsigned part) {
  for (Instruction &i : llvm::make_early_inc_range(llvm::reverse(block))) {
    auto own = partOf_.find(&i);
    if (own == partOf_.end() || own->second == part) continue;
    i.replaceAllUsesWith(llvm::PoisonValue::get(i.getType()));
    partOf_.erase(&i);
    i.eraseFromParent();
  }
}

bool PartOrderer::splitLoop(BasicBlock &block) {
  Run run;
  for (Instruction &i : block) run.push_back(&i);
  if (!mayBecomeSeveral(block) || pressure(run) <= registers_) return false;
  auto *branch = llvm::cast<llvm::BranchInst>(block.getTerminator());
  const unsigned out = branch->getSuccessor(0) == &block ? 1 : 0;
  BasicBlock *exit = branch->getSuccessor(out), *last = &block;
  std::vector<std::pair<BasicBlock *, std::unique_ptr<llvm::ValueToValueMapTy>>> copies;
  for (unsigned p = 1; p < parts_; ++p) {
    copies.emplace_back(nullptr, std::make_unique<llvm::ValueToValueMapTy>());
    copies.back().first = cloneBlocks({&block}, ".part", *copies.back().second).front();
  }
  for (unsigned p = 1; p < parts_; ++p) {
    auto &[copy, map] = copies[p - 1];
    copy->moveAfter(last);
    BasicBlock *between = BasicBlock::Create(block.getContext(), block.getName() + ".next", block.getParent(), copy);
    llvm::BranchInst::Create(copy, between);
    last->getTerminator()->setSuccessor(out, between);
    copy->replacePhiUsesWith(&block, copy);
    for (llvm::PHINode &phi : copy->phis())
      for (unsigned k = 0; k < phi.getNumIncomingValues(); ++k)
        if (phi.getIncomingBlock(k) != copy) phi.setIncomingBlock(k, between);
    for (Instruction &i : block)
      if (auto own = partOf_.find(&i); own != partOf_.end()) {
        auto *copied = llvm::cast<Instruction>(static_cast<Value *>((*map)[&i]));
        const unsigned part = own->second;
        partOf_[copied] = part;
        if (part == p) i.replaceUsesOutsideBlock(copied, &block);
      }
    last = copy;
  }
  exit->replacePhiUsesWith(&block, last);
  keepPart(block, 0);
  for (unsigned p = 1; p < parts_; ++p) keepPart(*copies[p - 1].first, p);
  return true;
}

void PartOrderer::run(BasicBlock &block) {
  if (splitLoop(block)) return;
  Run run;
  for (Instruction &i : llvm::make_early_inc_range(block)) {
    if (isa<llvm::PHINode>(i)) continue;
    if (!staysInPlace(i) || isPrivateStore(i)) {
      run.push_back(&i);
      continue;
    }
    orderAroundStores(run);
    run.clear();
  }
}

}  // namespace

void orderParts(llvm::Function &function, PartOf partOf, unsigned bits, unsigned registers) {
  PartOrderer orderer(function, std::move(partOf), bits, registers);
  std::vector<BasicBlock *> blocks;
  for (BasicBlock &block : function) blocks.push_back(&block);
  for (BasicBlock *block : blocks) orderer.run(*block);
}

}  // namespace strata::simt
