// SPDX-License-Identifier: Apache-2.0
// What generated code may call (simt/abi.h).
#include "simt/exec/runtime_table.h"

#include <time.h>

#include <algorithm>

#include "simt/exec/barrier.h"
#include "simt/exec/collective.h"
#include "simt/exec/device_libc.h"
#include "simt/exec/faults.h"

namespace strata::simt {
namespace {

void barrier(Warp *warp, std::uint32_t id, std::uint32_t count, std::uint32_t lanes) {
  arriveAtBarrier(warp, id, count, lanes, 0, 0, true);
}

void barrierArrive(Warp *warp, std::uint32_t id, std::uint32_t count, std::uint32_t lanes) {
  arriveAtBarrier(warp, id, count, lanes, 0, 0, false);
}

std::uint32_t barrierReduce(Warp *warp, std::uint32_t id, std::uint32_t count, std::uint32_t lanes,
                            std::uint32_t predicates, std::uint32_t op) {
  return arriveAtBarrier(warp, id, count, lanes, predicates, op, true);
}

std::uint64_t globaltimer() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u + static_cast<std::uint64_t>(now.tv_nsec);
}

// Sleeps by letting others run; nobody is held up for long, whatever time is asked for.
void nanosleep(Warp *warp, std::uint32_t nanoseconds) {
  const std::uint64_t end = globaltimer() + std::min(nanoseconds, 1000000u);
  do yieldMember(warp);
  while (globaltimer() < end);
}

void fault(Warp *warp, std::uint32_t kind, std::uint32_t lanes, std::uint64_t address) {
  raiseFault(static_cast<FaultKind>(kind), lanes, address,
             reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1);
}

constexpr Runtime kTable = {
    .barrier = barrier,
    .barrierArrive = barrierArrive,
    .barrierReduce = barrierReduce,
    .clusterArrive = [](Warp *warp, std::uint32_t) { clusterArrive(warp); },
    .clusterWait = [](Warp *warp, std::uint32_t) { clusterWait(warp); },
    .yield = yieldMember,
    .nanosleep = nanosleep,
    .turn =
        [](Warp *warp) {
          if (Member &member = *Member::of(warp); member.block->unit->blockCount > 1) member.pause();
        },
    .globaltimer = globaltimer,
    .fault = fault,
    .vprintf = deviceVprintf,
    .assertFail = deviceAssertFail,
    .malloc = deviceMalloc,
    .free = deviceFree,
    .laneCollective = laneCollective,
};

}  // namespace

const Runtime &runtimeTable() { return kTable; }

}  // namespace strata::simt
