// SPDX-License-Identifier: Apache-2.0
// Runs units of a launch on the calling thread. A barrier-free kernel is a plain call per block. Others run
// as fibers, one per warp or lane, in turn until all have ended: a fiber runs until it waits or yields.
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "simt/exec/launch_run.h"
#include "simt/exec/module.h"

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
      if (mprotect(memory_ + page, bytes_, PROT_READ | PROT_WRITE)) return nullptr;
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

struct ThreadMemory {
  StackPool stacks;
  SharedMemory shared;
  UnitRun unit;
};

thread_local std::unique_ptr<ThreadMemory> threadMemory;
thread_local UnitRun *runningUnit = nullptr;

ThreadMemory &memoryOfThread() {
  if (!threadMemory) {
    threadMemory = std::make_unique<ThreadMemory>();
    prepareThreadForFaults();
  }
  return *threadMemory;
}

std::size_t sharedStride(const LaunchState &state) { return (std::max(state.totalShared, 1u) + 127) / 128 * 128; }

std::uint32_t clusterSize(const LaunchState &state) { return state.clusterDim[0] * state.clusterDim[1] * state.clusterDim[2]; }

void splitIndex(std::uint64_t index, const std::uint32_t extent[3], std::uint32_t out[3]) {
  out[0] = static_cast<std::uint32_t>(index % extent[0]);
  out[1] = static_cast<std::uint32_t>(index / extent[0] % extent[1]);
  out[2] = static_cast<std::uint32_t>(index / extent[0] / extent[1]);
}

void placeBlock(Block &block, const LaunchState &state, std::uint64_t index, std::uint32_t worker) {
  block.launch = &state;
  block.threads = state.blockDim[0] * state.blockDim[1] * state.blockDim[2];
  block.warps = (block.threads + kWarpSize - 1) / kWarpSize;
  block.smId = worker;
  splitIndex(index, state.gridDim, block.blockIdx);
  block.clusterCtaRank = 0;
  for (int i = 0; i < 3; ++i) block.clusterIdx[i] = block.blockIdx[i] / state.clusterDim[i];
}

// Block `rank` of cluster `cluster`.
void placeClusterBlock(Block &block, const LaunchState &state, std::uint64_t cluster, std::uint32_t rank, std::uint32_t worker) {
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

void addBlock(UnitRun &unit) {
  if (unit.blockCount == unit.blocks.size()) unit.blocks.push_back(std::make_unique<BlockRun>());
  BlockRun &block = *unit.blocks[unit.blockCount++];
  block.unit = &unit;
  block.members.clear();
  for (Barrier &barrier : block.barriers) barrier = {};
}

// The blocks of unit `index`, placed, without memory or fibers yet.
void collectBlocks(UnitRun &unit, const LaunchRun &launch, std::uint64_t index, std::uint32_t worker) {
  const LaunchState &state = launch.state;
  unit.blockCount = unit.memberCount = 0;
  unit.clusterArrived = 0;
  if (launch.request.cooperative) {
    for (std::uint64_t b = index; b < launch.blocks(); b += launch.units) {
      addBlock(unit);
      placeBlock(unit.blocks[unit.blockCount - 1]->block, state, b, worker);
    }
  } else {
    for (std::uint32_t rank = 0; rank < clusterSize(state); ++rank) {
      addBlock(unit);
      placeClusterBlock(unit.blocks[unit.blockCount - 1]->block, state, index, rank, worker);
    }
  }
}

void memberBody(void *argument) {
  auto *member = static_cast<Member *>(argument);
  reinterpret_cast<WarpEntry>(member->block->unit->launch->request.kernel->entry)(&member->warp);
  memberEnded(*member);
  member->pause();
}

std::size_t stackBytes(const LaunchRun &launch, bool lanes) {
  const Kernel &kernel = *launch.request.kernel;
  const std::size_t perThread = kernel.info->localBytes + deviceStackLimit();
  return (64u << 10) + kernel.stackBytes + (lanes ? 1 : kWarpSize) * perThread;
}

void addMember(UnitRun &unit, BlockRun &block, std::uint32_t warp, std::uint32_t lane) {
  if (unit.memberCount == unit.members.size()) unit.members.push_back(std::make_unique<Member>());
  Member &member = *unit.members[unit.memberCount++];
  member.warp = {};
  member.warp.block = &block.block;
  member.warp.index = warp;
  member.warp.lane = lane;
  const std::uint32_t rest = block.block.threads - warp * kWarpSize;
  member.warp.lanes = rest >= kWarpSize ? ~0u : (1u << rest) - 1;
  member.warp.owner = &member;
  member.block = &block;
  member.state = Member::State::ready;
  block.members.push_back(&member);
}

// Shared memory, members and fibers of all blocks of the unit.
bool furnish(UnitRun &unit, const LaunchRun &launch, ThreadMemory &memory) {
  const std::size_t stride = sharedStride(launch.state);
  std::uint8_t *shared = memory.shared.get(stride * unit.blockCount);
  if (!shared) return false;
  for (std::size_t i = 0; i < unit.blockCount; ++i) {
    BlockRun &run = *unit.blocks[i];
    run.block.shared = shared + stride * i;
    run.block.owner = &run;
    run.live = unit.lanes ? run.block.threads : run.block.warps * kWarpSize;
    const std::uint32_t count = unit.lanes ? run.block.threads : run.block.warps;
    for (std::uint32_t m = 0; m < count; ++m) addMember(unit, run, unit.lanes ? m / kWarpSize : m, unit.lanes ? m % kWarpSize : 0);
  }
  const std::size_t bytes = stackBytes(launch, unit.lanes);
  if (!memory.stacks.reserve(unit.memberCount, bytes)) return false;
  for (std::size_t m = 0; m < unit.memberCount; ++m) unit.members[m]->fiber.start(memory.stacks.top(m), memory.stacks.bytes(), memberBody, unit.members[m].get());
  return true;
}

struct Turn {
  bool ran = false, moved = false;  // some member ran; some did more than yield
  std::size_t ended = 0;
};

// Each ready member of the block once.
void turnOf(UnitRun &unit, BlockRun &block, Turn &turn) {
  bool collectives = false;
  unit.currentBlock = &block;
  for (Member *member : block.members) {
    if (member->state != Member::State::ready) {
      collectives |= member->state == Member::State::collective;
      continue;
    }
    member->yielded = false;
    unit.current = member;
    member->fiber.enter();
    turn.ran = true;
    turn.moved |= !member->yielded;
    collectives |= member->state == Member::State::collective;
    if (member->state != Member::State::ended) continue;
    member->fiber.forget();
    ++turn.ended;
  }
  unit.current = nullptr;
  if (collectives && resolveCollectives(block, false)) turn.moved = true;
}

// Until all members have ended, or the launch is stopped. Escapes by siglongjmp on a fault.
void runFibers(UnitRun &unit, const LaunchRun &launch) {
  std::size_t left = unit.memberCount;
  while (left && !launch.stopped.load(std::memory_order_relaxed)) {
    Turn turn;
    for (std::size_t i = 0; i < unit.blockCount; ++i) turnOf(unit, *unit.blocks[i], turn);
    left -= turn.ended;
    if (turn.moved || !left) continue;
    bool forced = false;
    for (std::size_t i = 0; i < unit.blockCount; ++i) forced |= resolveCollectives(*unit.blocks[i], true);
    if (forced) continue;
    if (!turn.ran) raiseFault(FaultKind::deadlock, 0, 1, 0, 0, "every thread of the block waits at a barrier or for lanes that cannot come");
    sched_yield();  // all spin: what they wait for is on another thread
  }
}

void abandonFibers(UnitRun &unit) {
  for (std::size_t m = 0; m < unit.memberCount; ++m)
    if (unit.members[m]->state != Member::State::ended) unit.members[m]->fiber.forget();
}

// Units whose blocks are plain calls: blocks [first, last).
void runPlain(UnitRun &unit, LaunchRun &launch, std::uint64_t first, std::uint64_t last, std::uint32_t worker, std::uint8_t *shared) {
  unit.blockCount = 0;
  addBlock(unit);
  Block &block = unit.blocks[0]->block;
  unit.currentBlock = unit.blocks[0].get();
  const auto entry = reinterpret_cast<BlockEntry>(launch.request.kernel->entry);
  const LaunchState &state = launch.state;
  placeBlock(block, state, first, worker);
  block.shared = shared;
  block.owner = nullptr;
  Warp scratch{};
  for (std::uint64_t index = first; index < last && !launch.stopped.load(std::memory_order_relaxed); ++index) {
    scratch.block = &block;
    entry(&block, &scratch);
    if (++block.blockIdx[0] < state.gridDim[0]) continue;
    block.blockIdx[0] = 0;
    if (++block.blockIdx[1] < state.gridDim[1]) continue;
    block.blockIdx[1] = 0;
    ++block.blockIdx[2];
  }
}

void noMemory() { raiseFault(FaultKind::internal, 0, 0, 0, 0, "no memory for the stacks or the shared memory of a block"); }

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
  state.sharedStride = clusterSize(state) > 1 ? sharedStride(state) : 0;
  state.owner = &launch;
  if (request.cooperative) launch.units = std::min<std::uint64_t>(workers, launch.blocks());
  else launch.units = launch.blocks() / clusterSize(state);
  launch.chunk = request.cooperative ? 1 : std::clamp<std::uint64_t>(launch.units / (8 * workers), 1, 4096);
}

void runUnits(LaunchRun &launch, std::uint64_t first, std::uint64_t last, std::uint32_t worker) {
  ThreadMemory &memory = memoryOfThread();
  UnitRun &unit = memory.unit;
  UnitRun *outer = runningUnit;
  runningUnit = &unit;
  unit.launch = &launch;
  unit.current = nullptr;
  unit.currentBlock = nullptr;
  const EntryKind kind = launch.request.kernel->entryKind;
  unit.lanes = kind == EntryKind::lane;
  const int escaped = sigsetjmp(unit.escape, 0);  // 1: a fault that the kernel raised; 2: a signal
  if (escaped == 0) {
    unit.inKernel = true;
    if (kind == EntryKind::block) {
      std::uint8_t *shared = memory.shared.get(sharedStride(launch.state));
      if (!shared) noMemory();
      runPlain(unit, launch, first, last, worker, shared);
    } else {
      for (std::uint64_t index = first; index < last && !launch.stopped.load(std::memory_order_relaxed); ++index) {
        collectBlocks(unit, launch, index, worker);
        if (!furnish(unit, launch, memory)) noMemory();
        runFibers(unit, launch);
        abandonFibers(unit);
      }
    }
  } else {
    if (escaped == 2) recordCaughtFault(unit);
    if (kind != EntryKind::block) abandonFibers(unit);
  }
  unit.inKernel = false;
  runningUnit = outer;
}

void replayFault(LaunchRun &launch, std::uint32_t worker) {
  if (launch.request.cooperative || clusterSize(launch.state) > 1) return;
  auto lanes = loadKernelInMode(launch.request.kernel->module, launch.request.kernel->info->name, launch.request.blockDim, Mode::lane);
  if (!lanes) return;
  LaunchRun replay;
  replay.request = launch.request;
  replay.request.kernel = *lanes;
  prepareLaunch(replay, 1);
  const std::uint32_t *grid = replay.state.gridDim, *block = launch.fault.block;
  const std::uint64_t index = (std::uint64_t(block[2]) * grid[1] + block[1]) * grid[0] + block[0];
  // The block may not fault again, and may then run for ever: a watchdog bounds it.
  std::atomic<bool> over{false};
  const unsigned long self = pthread_self();
  std::thread watchdog([&] {
    for (int i = 0; i < 200 && !over; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    replay.stopped = true;
    while (!over) {
      interruptThread(self);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  runUnits(replay, index, index + 1, worker);
  over = true;
  watchdog.join();
  if (replay.fault.kind == launch.fault.kind) launch.fault = replay.fault;
}

}  // namespace strata::simt
