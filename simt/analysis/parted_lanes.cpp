// SPDX-License-Identifier: Apache-2.0
// For each branch that lanes of a warp part at, and each barrier that some of them may come to before all meet again:
// what the others may come to. A loop with both has rounds: lanes that go on to the next round come to the barrier
// while those that leave the loop wait for its end; lanes that go on to the next round too early wait for its start
// while others are at the barrier.
#include "simt/analysis/parted_lanes.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "simt/analysis/lane_intrinsics.h"

namespace strata::simt {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Loop;

namespace {

bool writesMemory(const Instruction &i) {
  if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
    return !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store->getPointerOperand()));
  return llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst, llvm::MemIntrinsic>(i);
}

// The callee has ended these lanes.
bool branchesOnExit(const BasicBlock &block) {
  auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  auto *condition = branch && branch->isConditional() ? llvm::dyn_cast<Instruction>(branch->getCondition()) : nullptr;
  return condition && calledIntrinsic(*condition) == LaneIntrinsic::exited;
}

}  // namespace

PartedLanes::PartedLanes(llvm::Function &function, const llvm::LoopInfo &loops, const BlockOrder &order,
                         const Uniformity &uniformity, const CallsBarrier &callsBarrier)
    : loops_(loops),
      order_(order),
      uniformity_(uniformity),
      postDominators_(loops, order),
      isKernel_(function.hasFnAttribute("strata.kernel")) {
  for (BasicBlock *block : order.blocks())
    for (const Instruction &i : *block)
      if (isBarrier(calledIntrinsic(i)) || callsBarrier(i)) {
        barriers_.push_back({&i, block});
        break;
      }
}

std::optional<PartedLanes::Late> PartedLanes::find() const {
  for (BasicBlock *split : order_.blocks()) {
    if (!parts(*split)) continue;
    for (const Barrier &barrier : barriers_) {
      const Parting parting = {split, barrier, meetingOf(*split, *barrier.block), entryOf(*split, *barrier.block)};
      if (const Instruction *late = lateIn(parting)) return Late{barrier.instruction, late};
    }
  }
  return std::nullopt;
}

bool PartedLanes::parts(const BasicBlock &block) const {
  return uniformity_.control().divergentBranch(&block) && !branchesOnExit(block);
}

// Where all lanes that part at `split` meet again. Those that stay in a loop with the barrier need not meet the others.
const BasicBlock *PartedLanes::meetingOf(const BasicBlock &split, const BasicBlock &barrier) const {
  const BasicBlock *node = &split;
  for (const Loop *frame = loops_.getLoopFor(node);; frame = frame->getParentLoop()) {
    if (const BasicBlock *next = postDominators_.next(frame, node)) return next;
    if (!frame || frame->contains(&barrier)) return nullptr;
    if (const BasicBlock *exit = frame->getUniqueExitBlock()) return exit;
    node = frame->getHeader();
  }
}

const BasicBlock *PartedLanes::entryOf(const BasicBlock &split, const BasicBlock &barrier) const {
  const BasicBlock *entry = &barrier;
  for (const Loop *loop = loops_.getLoopFor(&barrier); loop && !loop->contains(&split); loop = loop->getParentLoop())
    entry = loop->getHeader();
  return entry;
}

// The loop with both split and barrier whose round ends with this edge, or null.
const Loop *PartedLanes::roundEnded(const BasicBlock &from, const BasicBlock &to, const Parting &parting) const {
  const Loop *loop = loops_.getLoopFor(&from);
  while (loop && loop->getHeader() != &to) loop = loop->getParentLoop();
  return loop && loop->contains(parting.split) && loop->contains(parting.barrier.block) ? loop : nullptr;
}

const Instruction *PartedLanes::lateIn(const Parting &parting) const {
  for (unsigned way = 0; way < 2; ++way) {
    BasicBlock &other = *parting.split->getTerminator()->getSuccessor(1 - way);
    const Reach reach = reachBy(*parting.split->getTerminator()->getSuccessor(way), parting);
    if (reach.blocks.contains(parting.barrier.block)) {
      const unsigned place = order_.index(parting.entry);
      const auto counts = [&](const BasicBlock &block, bool nextRound) {
        return nextRound || order_.index(&block) > place;
      };
      BasicBlock *end = const_cast<BasicBlock *>(parting.entry);
      if (const Instruction *late = effectAfter(other, parting, nullptr, gatesTo(end, reach), counts)) return late;
    }
    for (const auto &[loop, latches] : reach.again) {
      const auto counts = [&, around = loop](const BasicBlock &block, bool) { return !around->contains(&block); };
      if (const Instruction *late = effectAfter(other, parting, loop, gatesTo(latches, reach), counts)) return late;
    }
  }
  return nullptr;
}

PartedLanes::Reach PartedLanes::reachBy(BasicBlock &way, const Parting &parting) const {
  Reach reach;
  const auto go = [&](BasicBlock *from, BasicBlock *to) {
    if (to == parting.meeting) return;
    if (const Loop *loop = roundEnded(*from, *to, parting)) reach.again[loop].push_back(from);
    else reach.blocks.insert(to);
  };
  go(parting.split, &way);
  for (std::size_t n = 0; n < reach.blocks.size(); ++n)
    for (BasicBlock *to : llvm::successors(reach.blocks[n])) go(reach.blocks[n], to);
  return reach;
}

// Blocks that all lanes pass on their way to `ends`: those that have parted before and come there too are together
// again. (Dominators of what is reached, found in the order of blocks.)
PartedLanes::Gates PartedLanes::gatesTo(llvm::ArrayRef<BasicBlock *> ends, const Reach &reach) const {
  std::vector<BasicBlock *> blocks(reach.blocks.begin(), reach.blocks.end());
  llvm::sort(blocks, [&](BasicBlock *a, BasicBlock *b) { return order_.index(a) < order_.index(b); });
  if (blocks.empty() || blocks.front() != reach.blocks[0])
    return {};  // through another round of a loop around: not looked into
  llvm::DenseMap<const BasicBlock *, const BasicBlock *> above;
  const auto meet = [&](const BasicBlock *a, const BasicBlock *b) {
    while (a != b && a && b)
      (order_.index(a) > order_.index(b) ? a : b) = above.lookup(order_.index(a) > order_.index(b) ? a : b);
    return a == b ? a : nullptr;
  };
  for (BasicBlock *block : llvm::drop_begin(blocks)) {
    const BasicBlock *gate = nullptr;
    for (BasicBlock *from : llvm::predecessors(block))
      if (reach.blocks.contains(from) && order_.index(from) < order_.index(block))
        gate = gate ? meet(gate, from) : from;
    above[block] = gate;
  }
  const BasicBlock *gate = ends.front();
  for (BasicBlock *end : llvm::drop_begin(ends)) gate = meet(gate, end);
  Gates gates;
  for (; gate; gate = above.lookup(gate)) gates.insert(gate);
  return gates;
}

// What lanes that go from the split to `start`, and not through `gates`, do where `counts`. The others come to the
// barrier in the same round as they part, or, with `rounds`, in the next round of that loop, where they meet those that
// start it too.
template <class Counts>
const Instruction *PartedLanes::effectAfter(BasicBlock &start, const Parting &parting, const Loop *rounds,
                                            const Gates &gates, Counts counts) const {
  llvm::SetVector<std::pair<BasicBlock *, int>> reached;  // with whether a further round has begun
  const auto go = [&](const BasicBlock &from, BasicBlock *to, bool nextRound) {
    const Loop *ended = roundEnded(from, *to, parting);
    nextRound |= ended != nullptr;
    const bool together =
        ended ? ended == rounds : !nextRound && (gates.contains(to) || (!rounds && to == parting.entry));
    if (!together) reached.insert({to, static_cast<int>(nextRound)});
  };
  go(*parting.split, &start, false);
  for (std::size_t n = 0; n < reached.size(); ++n) {
    auto [block, nextRound] = reached[n];
    bool gathers = false;
    const Instruction *effect = effectIn(*block, gathers);
    const bool late = counts(*block, nextRound);
    if (late && effect) return effect;
    if (late && gathers) continue;
    for (BasicBlock *to : llvm::successors(block)) go(*block, to, nextRound);
  }
  return nullptr;
}

// The first instruction that others may notice, before one that gathers the warp.
const Instruction *PartedLanes::effectIn(const BasicBlock &block, bool &gathers) const {
  for (const Instruction &i : block) {
    if (gathersWarp(i)) {
      gathers = true;
      return nullptr;
    }
    const LaneIntrinsic id = calledIntrinsic(i);
    if (writesMemory(i) || isBarrier(id) || id == LaneIntrinsic::laneFunction) return &i;
  }
  return llvm::isa<llvm::ReturnInst>(block.getTerminator()) && !isKernel_ ? block.getTerminator() : nullptr;
}

}  // namespace strata::simt
