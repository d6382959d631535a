// SPDX-License-Identifier: Apache-2.0
// Barriers of a block and of a cluster. Outside lane mode a warp arrives as a whole, whichever of its lanes
// came: lanes that have ended, or that reach another barrier of the same kind later, do not hold it up.
#include <algorithm>

#include "simt/exec/launch_run.h"

namespace strata::simt {
namespace {

std::uint32_t weight(const Member &member) { return member.block->unit->lanes ? 1 : kWarpSize; }

bool isFull(const BlockRun &block, const Barrier &barrier) {
  if (barrier.count == 0) return barrier.arrived >= block.live;
  // A count is in whole warps; a block's last warp may have fewer lanes than that.
  std::uint32_t expected = (barrier.count + kWarpSize - 1) / kWarpSize * kWarpSize;
  return barrier.arrived >= (block.unit->lanes ? std::min(expected, block.live) : expected);
}

void complete(BlockRun &block, std::uint32_t id) {
  Barrier &barrier = block.barriers[id];
  std::uint32_t result = barrier.op == 0 ? barrier.population : barrier.op == 1 ? barrier.all : barrier.any;
  barrier = {};
  for (Member *member : block.members)
    if (member->state == Member::State::barrier && member->barrierId == id) {
      member->state = Member::State::ready;
      member->result = result;
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
  for (std::size_t i = 0; i < unit.memberCount; ++i) {
    Member &member = *unit.members[i];
    if (member.state == Member::State::cluster) member.state = Member::State::ready;
    member.result = 1;  // the phase that clusterWait waits for is over
  }
}

}  // namespace

std::uint32_t arriveAtBarrier(Warp *warp, std::uint32_t id, std::uint32_t count, std::uint32_t lanes,
                              std::uint32_t predicates, std::uint32_t op, bool wait) {
  Member &member = *Member::of(warp);
  BlockRun &block = *member.block;
  id &= 15;
  Barrier &barrier = block.barriers[id];
  barrier.arrived += weight(member);
  barrier.count = count;
  barrier.op = op;
  barrier.population += static_cast<std::uint32_t>(__builtin_popcount(predicates & lanes));
  barrier.all &= (predicates & lanes) == lanes;
  barrier.any |= (predicates & lanes) != 0;
  if (wait) {
    member.state = Member::State::barrier;
    member.barrierId = id;
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
  for (std::uint32_t id = 0; id < 16; ++id) {
    const Barrier &barrier = block.barriers[id];
    if (barrier.arrived && isFull(block, barrier)) complete(block, id);
  }
  if (block.unit->clusterArrived) completeClusterIfFull(*block.unit);
}

void clusterArrive(Warp *warp) {
  Member &member = *Member::of(warp);
  member.result = 0;
  member.block->unit->clusterArrived += weight(member);
  completeClusterIfFull(*member.block->unit);
}

void clusterWait(Warp *warp) {
  Member &member = *Member::of(warp);
  if (member.result) return;
  member.state = Member::State::cluster;
  member.pause();
}

void yieldMember(Warp *warp) {
  Member &member = *Member::of(warp);
  member.yielded = true;
  member.pause();
}

}  // namespace strata::simt
