// SPDX-License-Identifier: Apache-2.0
// A launch while it runs, and the blocks of it that one thread has in hand.
#pragma once

#include <atomic>
#include <csetjmp>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "simt/exec/fiber.h"
#include "simt/simt.h"

namespace strata::simt {

// A launch: what is the same for all blocks, how far it is, and its first fault. Blocks are handed out in
// units: one block, or for clusters and cooperative launches all blocks that must be resident together.
struct LaunchRun {
  LaunchRequest request;
  std::function<void(const Fault &)> done;
  LaunchState state{};
  std::uint64_t units = 0, chunk = 1;             // units in all; units taken at a time
  std::atomic<std::uint64_t> next{0}, finished{0};
  std::atomic<bool> stopped{false};               // by a fault or an interrupt: the rest is skipped
  std::mutex mutex;                               // of the two below
  Fault fault;
  bool needsReplay = false;                       // the exact thread of the fault is not known yet

  std::uint64_t blocks() const { return std::uint64_t(state.gridDim[0]) * state.gridDim[1] * state.gridDim[2]; }
};

struct BlockRun;
struct UnitRun;

// A fiber: one warp, or one lane of it.
struct Member {
  enum class State : std::uint8_t { ready, barrier, cluster, collective, ended };
  Warp warp{};
  Fiber fiber;
  BlockRun *block = nullptr;
  State state = State::ready;
  bool yielded = false;            // since it was last entered
  std::uint32_t barrierId = 0;
  std::uint32_t result = 0;        // of a barrier reduction
  // A lane's part in a collective; value and predicate are also its results.
  std::uint32_t kind = 0, mask = 0, b = 0, c = 0, predicate = 0;
  std::uint64_t value = 0;

  static Member *of(Warp *warp) { return static_cast<Member *>(warp->owner); }
  void pause() { fiber.leave(); }
};

struct Barrier {
  std::uint32_t arrived = 0;       // threads; a warp counts 32 whichever lanes came
  std::uint32_t count = 0;         // expected threads; 0: all that live
  std::uint32_t population = 0, op = 0;
  bool all = true, any = false;
};

struct BlockRun {
  Block block{};
  UnitRun *unit = nullptr;
  std::vector<Member *> members;   // in warp (lane) order
  Barrier barriers[16];
  std::uint32_t live = 0;          // threads that have not ended; 32 per warp outside lane mode
};

// What one thread runs at a time: the blocks of one unit, with their fibers. Reused from unit to unit.
struct UnitRun {
  LaunchRun *launch = nullptr;
  std::vector<std::unique_ptr<BlockRun>> blocks;   // the first `blockCount` are in use
  std::size_t blockCount = 0;
  std::vector<std::unique_ptr<Member>> members;    // the first `memberCount` are in use
  std::size_t memberCount = 0;
  Member *current = nullptr;                       // fiber that runs, if any
  BlockRun *currentBlock = nullptr;
  bool lanes = false;
  std::uint32_t clusterArrived = 0;
  sigjmp_buf escape;                               // where faults go
  volatile bool inKernel = false;                  // signals of this thread are the kernel's
  bool replaying = false;
};

// Runs units [first, last) on the calling thread. Faults end up in launch.fault.
void runUnits(LaunchRun &launch, std::uint64_t first, std::uint64_t last, std::uint32_t worker);
// Runs the faulty block again, lane by lane, to find the thread; fills launch.fault.
void replayFault(LaunchRun &launch, std::uint32_t worker);
// Fills the launch's state and units from its request.
void prepareLaunch(LaunchRun &launch, std::uint32_t workers);

// The unit that the calling thread runs, or null.
UnitRun *currentUnit();

// Scheduling points and barriers (barrier.cpp), collectives of lane mode (collective.cpp).
std::uint32_t arriveAtBarrier(Warp *warp, std::uint32_t id, std::uint32_t count, std::uint32_t lanes,
                              std::uint32_t predicates, std::uint32_t op, bool wait);
void memberEnded(Member &member);
void clusterArrive(Warp *warp);
void clusterWait(Warp *warp);
void yieldMember(Warp *warp);
std::uint64_t laneCollective(Warp *warp, std::uint32_t kind, std::uint32_t mask, std::uint64_t value, std::uint32_t b,
                             std::uint32_t c, std::uint32_t *predicate);
// Completes collectives whose members have all arrived; with `force` also those that wait for lanes which are
// elsewhere and cannot move. True if any lane may go on.
bool resolveCollectives(BlockRun &block, bool force);

// The table that generated code calls through (runtime_table.cpp).
const Runtime &runtimeTable();

// faults.cpp
[[noreturn]] void raiseFault(FaultKind kind, std::uint32_t warp, std::uint32_t lanes, std::uint64_t address,
                             std::uintptr_t pc, const std::string &detail = {});
// Turns what the signal handler caught into the launch's fault; after the jump, on the thread's own stack.
void recordCaughtFault(UnitRun &unit);
void installFaultHandlers();       // once per process
void prepareThreadForFaults();     // each thread that runs kernels: alternate signal stack
void interruptThread(unsigned long pthread);  // makes a thread that runs a stopped launch leave it

// device_libc.cpp
std::int32_t deviceVprintf(Warp *warp, std::uint32_t lane, const char *format, const void *arguments);
void deviceAssertFail(Warp *warp, std::uint32_t lane, const char *message, const char *file, std::uint32_t line,
                      const char *function, std::uint64_t charSize);
void *deviceMalloc(Warp *warp, std::uint64_t bytes);
void deviceFree(Warp *warp, void *pointer);
void setDeviceHeapLimit(std::uint64_t bytes);
void setDeviceStackLimit(std::uint64_t bytesPerThread);
std::uint64_t deviceStackLimit();

}  // namespace strata::simt
