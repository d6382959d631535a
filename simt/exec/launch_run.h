// SPDX-License-Identifier: Apache-2.0
// A launch while it runs, and the blocks of it that one thread has in hand.
//
// Blocks are handed out in units: one block, or for clusters and cooperative launches all blocks that must be
// resident together. A thread runs a unit as fibers: one per block for a kernel without other waits than block
// barriers, one per warp, or in lane mode one per lane; in turn, each until it waits, yields or ends.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "simt/exec/fiber.h"
#include "simt/simt.h"

namespace strata::simt {

struct LaunchRun {
  LaunchRun() = default;
  LaunchRun(LaunchRequest &&request, std::function<void(const Fault &)> &&done)
      : request(std::move(request)), done(std::move(done)) {}

  LaunchRequest request;
  std::function<void(const Fault &)> done;
  LaunchState state{};
  std::uint32_t gridWorkspace[2] = {0, 0};  // LaunchState::gridWorkspace points here
  std::uint64_t units = 0;
  bool quiet = false;                              // a replay: device printf and assert print nothing
  alignas(64) std::atomic<std::uint64_t> next{0};  // units handed out
  std::atomic<std::uint64_t> finished{0};
  alignas(64) std::atomic<bool> stopped{false};  // by a fault or an interrupt: the rest is skipped
  std::atomic<bool> waited{false};               // some blocks for something outside them; the monitor clears it
  std::mutex mutex;                              // of the three below, until the launch has ended
  bool ended = false;                            // all units have finished: the fault is final
  Fault fault;
  bool needsReplay = false;  // the exact thread of the fault is not known yet

  std::uint64_t blocks() const { return std::uint64_t(state.gridDim[0]) * state.gridDim[1] * state.gridDim[2]; }
};

struct BlockRun;
struct UnitRun;

// A fiber's work: a block, a warp, or one lane of it.
struct Member {
  enum class State : std::uint8_t { ready, barrier, cluster, collective, ended };
  Warp warp{};
  Fiber fiber;
  std::uint32_t stackGeneration = 0;
  BlockRun *block = nullptr;
  State state = State::ready;
  bool yielded = false;  // since it was last entered
  std::uint32_t barrierId = 0, barrierOp = 0;
  std::uint32_t result = 0;        // of a barrier reduction
  std::uint32_t clusterPhase = 0;  // phase of the cluster barrier at which it arrived
  // A lane's part in a collective; value and predicate are also its results.
  std::uint32_t kind = 0, mask = 0, b = 0, c = 0, predicate = 0;
  std::uint64_t value = 0;
  std::uintptr_t site = 0;  // of the call

  static Member *of(Warp *warp) { return static_cast<Member *>(warp->owner); }
  void pause() { fiber.leave(); }
};

struct Barrier {
  std::uint32_t arrived = 0;  // threads; outside lane mode a warp counts 32 whichever lanes came
  std::uint32_t count = 0;    // expected threads; 0: all that live
  std::uint32_t population = 0;
  bool all = true, any = false;
};

struct BlockRun {
  Block block{};
  UnitRun *unit = nullptr;
  Member *const *members = nullptr;  // in warp (lane) order
  std::uint32_t memberCount = 0;
  Barrier barriers[16];
  std::uint32_t barriersInUse = 0;  // bit per id: touched since the block began
  std::uint32_t live = 0;           // threads that have not ended; 32 per warp outside lane mode
  std::uint32_t waitingLanes = 0;   // members in State::collective
};

// What one thread runs at a time: the blocks of one unit, with their fibers. Reused from unit to unit.
struct UnitRun {
  LaunchRun *launch = nullptr;
  std::vector<std::unique_ptr<BlockRun>> blocks;  // the first `blockCount` are in use
  std::size_t blockCount = 0;
  std::vector<std::unique_ptr<Member>> members;  // the first `memberCount` are in use
  std::vector<Member *> memberOrder;             // the same, for BlockRun::members
  std::size_t memberCount = 0;
  bool lanes = false;
  std::uint32_t worker = 0;
  std::uint32_t clusterArrived = 0, clusterPhase = 0;
  // Units [next, end) that the fibers of whole blocks still have to run.
  std::uint64_t plainNext = 0, plainEnd = 0;

  // Read by the signal handler.
  Member *volatile entered = nullptr;   // whose fiber runs
  volatile bool uninterrupted = false;  // it holds a lock: its faults are ours
  bool escaped = false;                 // it left for good, by a fault or an interrupt
  bool faultedFirst = false;            // this thread recorded the launch's fault
};

}  // namespace strata::simt
