// SPDX-License-Identifier: Apache-2.0
// Runs units of a launch on the calling thread.
#include "simt/exec/unit.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

#include "simt/exec/barrier.h"
#include "simt/exec/collective.h"
#include "simt/exec/device_libc.h"
#include "simt/exec/faults.h"
#include "simt/exec/runtime_table.h"
#include "simt/target/machine.h"

namespace strata::simt {
namespace {

// Shared memory of the blocks in hand: pages with an inaccessible one on either side; the blocks lie against
// the upper one, so that a store behind the last is caught at once.
class SharedMemory {
public:
  ~SharedMemory() { release(); }
  // Lowest address of `bytes`, a multiple of 128; null: no memory.
  std::uint8_t *get(std::size_t bytes) {
    const std::size_t page = StackPool::pageSize();
    if (bytes > bytes_ || !memory_) {
      release();
      bytes_ = std::max((bytes + page - 1) / page * page, page);
      void *memory = mmap(nullptr, bytes_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) return nullptr;
      memory_ = static_cast<std::uint8_t *>(memory);
      if (mprotect(memory_ + page, bytes_, PROT_READ | PROT_WRITE) != 0) {
        release();
        return nullptr;
      }
    }
    return memory_ + page + bytes_ - bytes;
  }

private:
  void release() {
    if (memory_) munmap(memory_, bytes_ + 2 * StackPool::pageSize());
    memory_ = nullptr;
  }
  std::uint8_t *memory_ = nullptr;
  std::size_t bytes_ = 0;
};

// Lanes need small stacks but many; so they have fibers of their own. The fibers go before their stacks.
struct FiberSet {
  StackPool stacks;
  UnitRun unit;
};

struct ThreadMemory {
  FiberSet warps, lanes;
  SharedMemory shared;
};

thread_local std::unique_ptr<ThreadMemory> threadMemory;
// The signal handler reads it: initial-exec, since another model may allocate at a thread's first access.
[[gnu::tls_model("initial-exec")]] thread_local UnitRun *runningUnit = nullptr;

ThreadMemory &memoryOfThread() {
  if (!threadMemory) {
    threadMemory = std::make_unique<ThreadMemory>();
    prepareThreadForFaults();
  }
  return *threadMemory;
}

// A word of each: more than caches near the cores hold.
constexpr std::uint64_t kStreamThreads = std::uint64_t{4} << 20;

std::uint32_t blockThreads(const LaunchState &state) {
  return state.blockDim[0] * state.blockDim[1] * state.blockDim[2];
}

std::size_t sharedStride(const LaunchState &state) { return (std::max(state.totalShared, 1u) + 127) / 128 * 128; }

std::uint32_t clusterSize(const LaunchState &state) {
  return state.clusterDim[0] * state.clusterDim[1] * state.clusterDim[2];
}

void splitIndex(std::uint64_t index, const std::uint32_t extent[3], std::uint32_t out[3]) {
  out[0] = static_cast<std::uint32_t>(index % extent[0]);
  out[1] = static_cast<std::uint32_t>(index / extent[0] % extent[1]);
  out[2] = static_cast<std::uint32_t>(index / extent[0] / extent[1]);
}

void placeBlock(Block &block, const LaunchState &state, std::uint64_t index, std::uint32_t worker) {
  block.launch = &state;
  block.threads = blockThreads(state);
  block.warps = (block.threads + kWarpSize - 1) / kWarpSize;
  block.smId = worker;
  splitIndex(index, state.gridDim, block.blockIdx);
  block.clusterCtaRank = 0;
  for (int i = 0; i < 3; ++i) block.clusterIdx[i] = block.blockIdx[i] / state.clusterDim[i];
}

// Block `rank` of cluster `cluster`.
void placeClusterBlock(Block &block, const LaunchState &state, std::uint64_t cluster, std::uint32_t rank,
                       std::uint32_t worker) {
  std::uint32_t clusters[3], index[3], inside[3];
  for (int i = 0; i < 3; ++i) clusters[i] = state.gridDim[i] / state.clusterDim[i];
  splitIndex(cluster, clusters, index);
  splitIndex(rank, state.clusterDim, inside);
  placeBlock(block, state, 0, worker);
  for (int i = 0; i < 3; ++i) {
    block.blockIdx[i] = index[i] * state.clusterDim[i] + inside[i];
    block.clusterIdx[i] = index[i];
  }
  block.clusterCtaRank = rank;
}

BlockRun &addBlock(UnitRun &unit) {
  if (unit.blockCount == unit.blocks.size()) unit.blocks.push_back(std::make_unique<BlockRun>());
  BlockRun &block = *unit.blocks[unit.blockCount++];
  block.unit = &unit;
  while (block.barriersInUse) {
    block.barriers[__builtin_ctz(block.barriersInUse)] = {};
    block.barriersInUse &= block.barriersInUse - 1;
  }
  block.waitingLanes = 0;
  return block;
}

// The blocks of unit `index`, placed, without memory or fibers yet.
void collectBlocks(UnitRun &unit, const LaunchRun &launch, std::uint64_t index) {
  const LaunchState &state = launch.state;
  unit.blockCount = unit.memberCount = 0;
  unit.clusterArrived = 0;
  unit.clusterPhase = 1;
  unit.plainNext = unit.plainEnd;
  if (launch.request.cooperative) {
    for (std::uint64_t b = index; b < launch.blocks(); b += launch.units)
      placeBlock(addBlock(unit).block, state, b, unit.worker);
  } else if (clusterSize(state) == 1) {
    unit.plainNext = std::min(index + blocksAtOnce(launch), unit.plainEnd);
    for (std::uint64_t b = index; b < unit.plainNext; ++b) placeBlock(addBlock(unit).block, state, b, unit.worker);
  } else {
    for (std::uint32_t rank = 0; rank < clusterSize(state); ++rank)
      placeClusterBlock(addBlock(unit).block, state, index, rank, unit.worker);
  }
}

// Generated code has no type in front of its entry, where UBSan looks for one before an indirect call.
#define STRATA_CALLS_GENERATED_CODE __attribute__((no_sanitize("function")))

// Blocks that wait for nothing outside, one after the other in one fiber.
STRATA_CALLS_GENERATED_CODE void runPlainBlocks(Member &member, BlockEntry entry) {
  UnitRun &unit = *member.block->unit;
  const LaunchRun &launch = *unit.launch;
  Block &block = member.block->block;
  const std::uint32_t *grid = launch.state.gridDim;
  while (!launch.stopped.load(std::memory_order_relaxed)) {
    entry(&block, &member.warp);
    if (unit.plainNext == unit.plainEnd) return;
    const std::uint64_t next = unit.plainNext++;
    if (unit.blockCount > 1) {
      splitIndex(next, grid, block.blockIdx);
    } else if (++block.blockIdx[0] == grid[0]) {
      block.blockIdx[0] = 0;
      if (++block.blockIdx[1] == grid[1]) {
        block.blockIdx[1] = 0;
        ++block.blockIdx[2];
      }
    }
    for (int i = 0; i < 3; ++i) block.clusterIdx[i] = block.blockIdx[i];
  }
}

STRATA_CALLS_GENERATED_CODE void memberBody(void *argument) {
  auto &member = *static_cast<Member *>(argument);
  for (;;) {
    const Kernel &kernel = *member.block->unit->launch->request.kernel;
    if (kernel.entryKind == EntryKind::block) runPlainBlocks(member, reinterpret_cast<BlockEntry>(kernel.entry));
    else reinterpret_cast<WarpEntry>(kernel.entry)(&member.warp);
    memberEnded(member);
    member.pause();  // until there is another block
  }
}

// Generous, since only what is touched takes memory: x86 frames are larger than a GPU's, and recursion has no
// estimate. What a program asks for by cudaLimitStackSize comes on top.
std::size_t stackBytes(const LaunchRun &launch, bool lanes) {
  const Kernel &kernel = *launch.request.kernel;
  const std::size_t perThread = 2 * (kernel.info->localBytes + deviceStackLimit());
  return lanes ? (128u << 10) + 2 * std::size_t{kernel.stackBytes} + 4 * perThread
               : (1u << 20) + 2 * std::size_t{kernel.stackBytes} + kWarpSize * perThread;
}

void addMember(FiberSet &set, BlockRun &block, std::uint32_t warp, std::uint32_t lane) {
  UnitRun &unit = set.unit;
  const std::size_t number = unit.memberCount++;
  Member &member = *unit.members[number];
  member.block = &block;
  member.state = Member::State::ready;
  member.clusterPhase = 0;
  const std::uint32_t rest = block.block.threads - warp * kWarpSize;
  member.warp = {.block = &block.block,
                 .index = warp,
                 .lanes = rest >= kWarpSize ? ~0u : (1u << rest) - 1,
                 .lane = lane,
                 .exited = 0,
                 .sourceLine = 0,
                 .pad = 0,
                 .owner = &member};
  if (!member.fiber.started() || member.stackGeneration != set.stacks.generation()) {
    member.fiber.start(set.stacks.top(number), set.stacks.bytes(), memberBody, &member);
    member.stackGeneration = set.stacks.generation();
  }
}

std::uint32_t membersPerBlock(const LaunchRun &launch) {
  const std::uint32_t threads = launch.state.blockDim[0] * launch.state.blockDim[1] * launch.state.blockDim[2];
  switch (launch.request.kernel->entryKind) {
    case EntryKind::block: return 1;
    case EntryKind::warp: return (threads + kWarpSize - 1) / kWarpSize;
    case EntryKind::lane: return threads;
  }
  __builtin_unreachable();
}

// Shared memory, members and fibers of all blocks of the unit. False: no memory.
bool furnish(FiberSet &set, const LaunchRun &launch, SharedMemory &memory) {
  UnitRun &unit = set.unit;
  const std::size_t stride = sharedStride(launch.state);
  std::uint8_t *shared = memory.get(stride * unit.blockCount);
  const std::uint32_t perBlock = membersPerBlock(launch);
  const std::size_t count = perBlock * unit.blockCount;
  if (!shared || !set.stacks.reserve(count, stackBytes(launch, unit.lanes))) return false;
  unit.members.reserve(count);  // so that one list never has more than the other
  unit.memberOrder.reserve(count);
  while (unit.members.size() < count) {
    unit.members.push_back(std::make_unique<Member>());
    unit.memberOrder.push_back(unit.members.back().get());
  }
  for (std::size_t i = 0; i < unit.blockCount; ++i) {
    BlockRun &run = *unit.blocks[i];
    run.block.shared = shared + stride * i;
    run.block.owner = &run;
    run.live = unit.lanes ? perBlock : perBlock * kWarpSize;
    run.members = unit.memberOrder.data() + unit.memberCount;
    run.memberCount = perBlock;
    for (std::uint32_t m = 0; m < perBlock; ++m)
      addMember(set, run, unit.lanes ? m / kWarpSize : m, unit.lanes ? m % kWarpSize : 0);
  }
  return true;
}

struct Turn {
  bool ran = false, moved = false;  // some member ran; some did more than yield
  std::size_t ended = 0;
};

// Each ready member of the block once. False: one escaped, by a fault or an interrupt.
bool turnOf(UnitRun &unit, BlockRun &block, Turn &turn) {
  for (std::uint32_t m = 0; m < block.memberCount; ++m) {
    Member &member = *block.members[m];
    if (member.state != Member::State::ready) continue;
    member.yielded = false;
    unit.entered = &member;
    member.fiber.enter();
    unit.entered = nullptr;
    if (unit.escaped) {
      recordCaughtFault(unit, member);
      return false;
    }
    turn.ran = true;
    turn.moved |= !member.yielded;
    turn.ended += member.state == Member::State::ended;
  }
  if (block.waitingLanes && resolveCollectives(block, Resolve::complete)) turn.moved = true;
  return true;
}

// Nothing moves here: what all wait for is on another thread, or a matter of time.
void giveWay(LaunchRun &launch, std::uint32_t idleTurns) {
  constexpr std::uint32_t kHotTurns = 256;
  launch.waited.store(true, std::memory_order_relaxed);
  if (idleTurns < kHotTurns) sched_yield();
  else usleep(50);
}

// Until all members have ended, one escaped, or the launch is stopped.
void runFibers(UnitRun &unit, LaunchRun &launch) {
  std::size_t left = unit.memberCount;
  std::uint32_t idleTurns = 0;
  while (left && !launch.stopped.load(std::memory_order_relaxed)) {
    Turn turn;
    for (std::size_t i = 0; i < unit.blockCount; ++i)
      if (!turnOf(unit, *unit.blocks[i], turn)) return;
    left -= turn.ended;
    if (turn.moved || !left) {
      idleTurns = 0;
      continue;
    }
    bool resolved = false;
    for (std::size_t i = 0; i < unit.blockCount; ++i)
      resolved |= resolveCollectives(*unit.blocks[i], turn.ran ? Resolve::converged : Resolve::forced);
    if (resolved) continue;
    if (turn.ran) {
      giveWay(launch, idleTurns++);
      continue;
    }
    const Member *waiting = nullptr;
    for (std::size_t m = 0; m < unit.memberCount && !waiting; ++m)
      if (unit.members[m]->state != Member::State::ended) waiting = unit.members[m].get();
    return recordFault(unit, FaultKind::deadlock, waiting,
                       "all threads that are left wait at a barrier that cannot complete");
  }
}

// Fibers that are in the middle of a kernel which is given up.
void forgetFibers(UnitRun &unit) {
  for (std::size_t m = 0; m < unit.memberCount; ++m)
    if (unit.members[m]->state != Member::State::ended) unit.members[m]->fiber.forget();
}

// Others' memory may come free: tries again for a while. False: there is no memory.
template <class Try>
bool patiently(Try attempt) {
  for (auto pause = std::chrono::milliseconds(1); pause.count() < 100; pause *= 2) {
    try {
      if (attempt()) return true;
    } catch (const std::bad_alloc &) {}
    std::this_thread::sleep_for(pause);
  }
  return false;
}

void runUnit(FiberSet &set, LaunchRun &launch, std::uint64_t index, SharedMemory &shared) {
  UnitRun &unit = set.unit;
  const bool furnished = patiently([&] {
    collectBlocks(unit, launch, index);
    return furnish(set, launch, shared);
  });
  if (!furnished)
    return recordFault(unit, FaultKind::internal, nullptr, "no memory for the stacks or the shared memory of a block");
  runFibers(unit, launch);
  if (launch.stopped.load(std::memory_order_relaxed)) forgetFibers(unit);
}

}  // namespace

UnitRun *currentUnit() { return runningUnit; }

void prepareLaunch(LaunchRun &launch, std::uint32_t workers) {
  const LaunchRequest &request = launch.request;
  LaunchState &state = launch.state;
  state.runtime = &runtimeTable();
  state.params = request.params.data();
  state.globals = request.globals;
  std::copy_n(request.gridDim, 3, state.gridDim);
  std::copy_n(request.blockDim, 3, state.blockDim);
  std::copy_n(request.clusterDim, 3, state.clusterDim);
  state.dynamicShared = request.dynamicShared;
  state.totalShared = request.kernel->info->staticShared + request.dynamicShared;
  state.smCount = workers;
  state.explicitCluster = request.explicitCluster;
  state.gridId = request.gridId;
  state.gridWorkspace = request.cooperative ? reinterpret_cast<std::uint64_t>(launch.gridWorkspace) : 0;
  state.sharedWindow = sharedStride(state);
  state.sharedStride = clusterSize(state) > 1 ? sharedStride(state) : 0;
  state.streamStores = launch.blocks() * blockThreads(state) >= kStreamThreads;
  state.owner = &launch;
  if (request.cooperative) launch.units = std::min<std::uint64_t>(workers, launch.blocks());
  else launch.units = launch.blocks() / clusterSize(state);
}

std::uint64_t blocksAtOnce(const LaunchRun &launch) {
  constexpr std::uint64_t kWarps = 32, kSharedBytes = 64u << 10, kShares = 4;  // of the launch, for each worker
  const LaunchState &state = launch.state;
  if (!launch.request.kernel->takesTurns || launch.request.cooperative || clusterSize(state) > 1) return 1;
  const std::uint64_t warps = (blockThreads(state) + kWarpSize - 1) / kWarpSize;
  const std::uint64_t fit = std::min(kWarps / warps, kSharedBytes / sharedStride(state));
  return std::max<std::uint64_t>(std::min(fit, launch.units / (kShares * state.smCount)), 1);
}

std::uint64_t stacksOfUnit(const LaunchRun &launch) {
  return std::max((launch.blocks() + launch.units - 1) / launch.units, blocksAtOnce(launch)) * membersPerBlock(launch);
}

bool runUnits(LaunchRun &launch, std::uint64_t first, std::uint64_t last, std::uint32_t worker) {
  patiently([] { return memoryOfThread(), true; });
  ThreadMemory &memory = memoryOfThread();
  const EntryKind kind = launch.request.kernel->entryKind;
  FiberSet &set = kind == EntryKind::lane ? memory.lanes : memory.warps;
  UnitRun &unit = set.unit;
  unit.launch = &launch;
  unit.lanes = kind == EntryKind::lane;
  unit.worker = worker;
  unit.escaped = unit.faultedFirst = false;
  runningUnit = &unit;
  const bool together = launch.request.cooperative || clusterSize(launch.state) > 1;
  for (std::uint64_t index = first; index < last && !launch.stopped.load(std::memory_order_relaxed);) {
    const std::uint64_t end = kind == EntryKind::block && !together ? last : index + 1;
    unit.plainEnd = end;
    runUnit(set, launch, index, memory.shared);
    index = end;
  }
  if (launch.state.streamStores) machine::storesBefore();  // passes/warp/stream_stores.h
  runningUnit = nullptr;
  return unit.faultedFirst;
}

}  // namespace strata::simt
