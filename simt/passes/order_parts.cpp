// SPDX-License-Identifier: Apache-2.0
#include "simt/passes/order_parts.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "simt/passes/clone_blocks.h"

namespace strata::simt {
namespace {

using llvm::BasicBlock;
using llvm::dyn_cast;
using llvm::Instruction;
using llvm::isa;
using llvm::Value;

class PartOrderer {
public:
  PartOrderer(llvm::Function &function, PartOf partOf, unsigned bits, unsigned registers)
      : layout_(function.getParent()->getDataLayout()), partOf_(std::move(partOf)), bits_(bits), registers_(registers) {
    for (auto [i, part] : partOf_) parts_ = std::max(parts_, part + 1);
  }

  void run(BasicBlock &block);

private:
  using Run = llvm::SmallVector<Instruction *, 0>;

  static bool staysInPlace(const Instruction &i) { return i.mayHaveSideEffects() || i.isTerminator(); }
  unsigned registersOf(const Value *value) const;
  unsigned pressure(llvm::ArrayRef<Instruction *> run) const;
  llvm::DenseMap<Instruction *, unsigned> phases(llvm::ArrayRef<Instruction *> run) const;
  void order(llvm::ArrayRef<Instruction *> run);
  bool splitLoop(BasicBlock &block);
  bool mayBecomeSeveral(BasicBlock &block) const;
  void keepPart(BasicBlock &block, unsigned part);

  const llvm::DataLayout &layout_;
  PartOf partOf_;
  const unsigned bits_, registers_;
  unsigned parts_ = 0;
};

unsigned PartOrderer::registersOf(const Value *value) const {
  const llvm::Type *type = value->getType();
  if (!type->isVectorTy() || type->getScalarType()->isIntegerTy(1) || isa<llvm::Constant>(value)) return 0;
  return static_cast<unsigned>(llvm::divideCeil(layout_.getTypeSizeInBits(const_cast<llvm::Type *>(type)).getFixedValue(), bits_));
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
      if ((isa<Instruction>(operand) || isa<llvm::Argument>(operand)) && !place.contains(operand) && from.insert(operand).second) begin(operand);
  for (std::size_t n = 0; n < run.size(); ++n) {
    begin(run[n]);
    most = std::max(most, live);
    live -= ends[n];
  }
  return most;
}

// When an instruction runs: with its part, or after the last part that it needs.
llvm::DenseMap<Instruction *, unsigned> PartOrderer::phases(llvm::ArrayRef<Instruction *> run) const {
  llvm::DenseMap<Instruction *, unsigned> phases;
  for (Instruction *i : run) {
    unsigned phase = partOf_.lookup(i);
    for (Value *operand : i->operands())
      if (auto known = phases.find(dyn_cast<Instruction>(operand)); known != phases.end()) phase = std::max(phase, known->second);
    phases[i] = phase;
  }
  return phases;
}

void PartOrderer::order(llvm::ArrayRef<Instruction *> run) {
  if (run.empty() || pressure(run) <= registers_) return;
  const llvm::DenseMap<Instruction *, unsigned> phase = phases(run);
  Instruction *end = run.back()->getNextNode();
  for (unsigned p = 0; p < parts_; ++p)
    for (Instruction *i : run)
      if (phase.lookup(i) == p) i->moveBefore(end);
}

// A loop of one block that writes nothing and whose branch no part decides.
bool PartOrderer::mayBecomeSeveral(BasicBlock &block) const {
  auto *branch = dyn_cast<llvm::BranchInst>(block.getTerminator());
  if (!branch || !branch->isConditional() || !llvm::is_contained(llvm::successors(&block), &block)) return false;
  if (branch->getSuccessor(0) == branch->getSuccessor(1) || !block.hasNPredecessors(2)) return false;
  for (Instruction &i : block) {
    if (auto *call = dyn_cast<llvm::IntrinsicInst>(&i); call && call->getIntrinsicID() == llvm::Intrinsic::prefetch) continue;
    if (i.mayHaveSideEffects() || (isa<llvm::LoadInst>(i) && !llvm::cast<llvm::LoadInst>(i).isSimple())) return false;
  }
  // What belongs to no part must need none; what belongs to one, no other.
  const auto fits = [&](Instruction &i) {
    return llvm::all_of(i.operands(), [&](Value *operand) {
      auto *from = dyn_cast<Instruction>(operand);
      auto own = partOf_.find(&i), other = partOf_.find(from);
      return !from || from->getParent() != &block || other == partOf_.end() || (own != partOf_.end() && own->second == other->second);
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
    if (!staysInPlace(i)) {
      run.push_back(&i);
      continue;
    }
    order(run);
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
