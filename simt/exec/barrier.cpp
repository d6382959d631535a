// SPDX-License-Identifier: Apache-2.0
// Barriers of a block and of a cluster. Outside lane mode a warp arrives as a whole, whichever of its lanes
// came: lanes that have ended, or that reach another barrier of the same kind later, do not hold it up.
#include "simt/exec/barrier.h"

#include <algorithm>
#include <utility>

#include "simt/exec/faults.h"

namespace strata::simt {
namespace {

std::uint32_t weight(const Member &member) { return member.block->unit->lanes ? 1 : kWarpSize; }

bool isFull(const BlockRun &block, const Barrier &barrier) {
  if (barrier.count == 0) return barrier.arrived >= block.live;
  // A count is in whole warps; a block's last warp may have fewer lanes than that.
  std::uint32_t expected = (barrier.count + kWarpSize - 1) / kWarpSize * kWarpSize;
  return barrier.arrived >= (block.unit->lanes ? std::min(expected, block.live) : expected);
}

std::uint32_t outcome(const Barrier &barrier, std::uint32_t op) {
  switch (op) {
    case 0: return barrier.population;
    case 1: return barrier.all;
    default: return barrier.any;
  }
}

void complete(BlockRun &block, std::uint32_t id) {
  const Barrier barrier = std::exchange(block.barriers[id], {});
  for (std::uint32_t m = 0; m < block.memberCount; ++m) {
    Member &member = *block.members[m];
    if (member.state != Member::State::barrier || member.barrierId != id) continue;
    member.state = Member::State::ready;
    member.result = outcome(barrier, member.barrierOp);
  }
}

std::uint32_t clusterLive(const UnitRun &unit) {
  std::uint32_t live = 0;
  for (std::size_t i = 0; i < unit.blockCount; ++i) live += unit.blocks[i]->live;
  return live;
}

void completeClusterIfFull(UnitRun &unit) {
  if (unit.clusterArrived < clusterLive(unit)) return;
  unit.clusterArrived = 0;
  ++unit.clusterPhase;
  for (std::size_t i = 0; i < unit.memberCount; ++i)
    if (unit.members[i]->state == Member::State::cluster) unit.members[i]->state = Member::State::ready;
}

}  // namespace

std::uint32_t arriveAtBarrier(Warp *warp, std::uint32_t id, std::uint32_t count, std::uint32_t lanes,
                              std::uint32_t predicates, std::uint32_t op, bool wait) {
  Member &member = *Member::of(warp);
  BlockRun &block = *member.block;
  if (id >= 16) raiseFault(FaultKind::illegalInstruction, lanes, 0, 0, "a barrier number above 15");
  if (block.unit->launch->request.kernel->entryKind == EntryKind::block && block.block.warps > 1)
    raiseFault(FaultKind::internal, lanes, 0, 0, "a barrier in code that was compiled as free of barriers");
  Barrier &barrier = block.barriers[id];
  block.barriersInUse |= 1u << id;
  barrier.arrived += weight(member);
  barrier.count = count;
  barrier.population += static_cast<std::uint32_t>(__builtin_popcount(predicates & lanes));
  barrier.all &= (predicates & lanes) == lanes;
  barrier.any |= (predicates & lanes) != 0;
  if (wait) {
    member.state = Member::State::barrier;
    member.barrierId = id;
    member.barrierOp = op;
  }
  if (isFull(block, barrier)) complete(block, id);
  if (!wait) return 0;
  // Even the last to arrive lets the others run first: they would wait for it at the next barrier anyway.
  member.pause();
  return member.result;
}

void memberEnded(Member &member) {
  BlockRun &block = *member.block;
  member.state = Member::State::ended;
  block.live -= weight(member);
  for (std::uint32_t rest = block.barriersInUse; rest; rest &= rest - 1) {
    const auto id = static_cast<std::uint32_t>(__builtin_ctz(rest));
    if (block.barriers[id].arrived && isFull(block, block.barriers[id])) complete(block, id);
  }
  if (block.unit->clusterArrived) completeClusterIfFull(*block.unit);
}

void clusterArrive(Warp *warp) {
  Member &member = *Member::of(warp);
  member.clusterPhase = member.block->unit->clusterPhase;
  member.block->unit->clusterArrived += weight(member);
  completeClusterIfFull(*member.block->unit);
}

void clusterWait(Warp *warp) {
  Member &member = *Member::of(warp);
  if (member.clusterPhase != member.block->unit->clusterPhase) return;
  member.state = Member::State::cluster;
  member.pause();
}

void yieldMember(Warp *warp) {
  Member &member = *Member::of(warp);
  member.yielded = true;
  member.pause();
}

}  // namespace strata::simt
