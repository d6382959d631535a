// SPDX-License-Identifier: Apache-2.0
// The binary interface between generated kernels and the executor. Generated code reads these structs at
// the offsets given here (simt/lower checks them with offsetof) and calls the executor only through the
// Runtime table, so that machine code has no external symbols but memcpy/memset/memmove and can be cached.
// Bump kAbiVersion with every change: it is part of the cache key.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strata::simt {

inline constexpr std::uint32_t kAbiVersion = 4;
inline constexpr std::uint32_t kWarpSize = 32;

struct Warp;

// Why a kernel stopped; the driver maps it to a CUresult.
enum class FaultKind : std::uint32_t {
  none,
  illegalAddress,      // CUDA_ERROR_ILLEGAL_ADDRESS (700)
  misalignedAddress,   // 716
  illegalInstruction,  // 715: unreachable code, bad indirect branch
  invalidPc,           // 718: bad function pointer
  trap,                // 719 launch failed: trap instruction
  assertion,           // 710
  stackOverflow,       // 714 hardware stack error
  deadlock,            // 719: every warp waits (or a barrier's members have exited)
  interrupted,         // launch cancelled (context destroyed, Ctrl-C)
  internal,            // 999
};

// Calls from generated code into the executor. `warp` is the current Warp. Vector mode passes the lanes
// concerned as a 32-bit mask; lane mode runs with one lane per fiber and `lane` = warp->lane.
struct Runtime {
  // bar.sync id, count (threads; 0 = whole block). Returns when the barrier completes.
  void (*barrier)(Warp *warp, std::uint32_t id, std::uint32_t count, std::uint32_t laneMask);
  // bar.arrive: counts and does not wait.
  void (*barrierArrive)(Warp *warp, std::uint32_t id, std::uint32_t count, std::uint32_t laneMask);
  // bar.red: `predicates` has a bit per lane in laneMask; op 0 popc, 1 and, 2 or. Returns the result.
  std::uint32_t (*barrierReduce)(Warp *warp, std::uint32_t id, std::uint32_t count, std::uint32_t laneMask,
                                 std::uint32_t predicates, std::uint32_t op);
  // barrier.cluster.arrive / .wait, and grid-wide barrier of cooperative launches.
  void (*clusterArrive)(Warp *warp, std::uint32_t laneMask);
  void (*clusterWait)(Warp *warp, std::uint32_t laneMask);
  // Lets other warps (lane mode: lanes) of the block, then other threads run: in spin loops, nanosleep.
  void (*yield)(Warp *warp);
  void (*nanosleep)(Warp *warp, std::uint32_t nanoseconds);
  // After a round in which warps of the block took turns (passes/kernel_entry.h): lets the blocks beside it take
  // theirs.
  void (*turn)(Warp *warp);
  std::uint64_t (*globaltimer)();
  // Ends the launch with a fault raised by `lanes`; does not return.
  void (*fault)(Warp *warp, std::uint32_t kind, std::uint32_t lanes, std::uint64_t address);
  // Device libc, one lane a call.
  std::int32_t (*vprintf)(Warp *warp, std::uint32_t lane, const char *format, const void *arguments);
  void (*assertFail)(Warp *warp, std::uint32_t lane, const char *message, const char *file, std::uint32_t line,
                     const char *function, std::uint64_t charSize);
  void *(*malloc)(Warp *warp, std::uint64_t bytes);
  void (*free)(Warp *warp, void *pointer);

  // Lane mode only: collectives as rendezvous of the lanes in `mask`. `kind` and operands per lane; the
  // call returns when all members have arrived. Kinds and meaning: simt/lane_ir.md, "Collectives".
  std::uint64_t (*laneCollective)(Warp *warp, std::uint32_t kind, std::uint32_t mask, std::uint64_t value,
                                  std::uint32_t b, std::uint32_t c, std::uint32_t *predicate);
};

// One launch; shared by all its blocks, read-only.
struct LaunchState {
  const Runtime *runtime;
  const std::uint8_t *params;  // kernel parameter buffer, laid out as KernelInfo says
  std::uint8_t *globals;       // the module's .global/.const block (ModuleInfo::globalsSize)
  std::uint32_t gridDim[3];
  std::uint32_t blockDim[3];
  std::uint32_t clusterDim[3];  // 1,1,1 without clusters
  std::uint32_t dynamicShared;  // bytes
  std::uint32_t totalShared;    // static + dynamic, bytes
  std::uint32_t smCount;        // %nsmid
  std::uint32_t explicitCluster;
  std::uint64_t gridId;
  // Address of {u32 bytes; u32 barrier}, zeroed for this launch, in the device window; 0 unless the launch is
  // cooperative. Kernels read it as %envreg1 (high word) and %envreg2, as on NVIDIA's driver.
  std::uint64_t gridWorkspace;
  std::uint64_t sharedWindow;  // generic address of shared address 0 is Block::shared; size limit for isspacep
  void *owner;                 // executor's own
  std::uint64_t sharedStride;  // bytes from Block::shared of one cluster rank to the next (mapa); 0 without clusters
  std::uint32_t streamStores;  // not 0: the launch writes so much that its stores had better go past the caches
  std::uint32_t pad;
};

// One block in flight.
struct Block {
  const LaunchState *launch;
  std::uint8_t *shared;  // base of shared memory: 128-byte aligned; static variables first
  std::uint32_t blockIdx[3];
  std::uint32_t threads;  // blockDim.x * y * z
  std::uint32_t warps;    // ceil(threads / 32)
  std::uint32_t smId;     // %smid: the worker's number
  std::uint32_t clusterCtaRank;
  std::uint32_t clusterIdx[3];
  void *owner;  // executor's own: barriers, fibers
};

// One warp (vector mode) or one lane of it (lane mode).
struct Warp {
  const Block *block;
  std::uint32_t index;       // warp in block
  std::uint32_t lanes;       // bit mask of lanes that exist (last warp may be partial)
  std::uint32_t lane;        // lane mode: this lane; vector mode: 0
  std::uint32_t exited;      // lanes that ran `exit` inside a called function
  std::uint32_t sourceLine;  // reserved for the sanitizer
  std::uint32_t pad;
  void *owner;  // executor's own
};

// Entry points. A vector kernel that waits for nothing but barriers of the whole block runs all warps of a block in
// one call (EntryKind::block); one with other waits (named or counted barriers, clusters, spinning) is called once
// per warp, each on its own fiber (EntryKind::warp); lane mode once per lane, each on its own fiber (EntryKind::lane).
enum class EntryKind : std::uint32_t { block, warp, lane };
using BlockEntry = void (*)(Block *block,
                            Warp *scratch);  // scratch: a Warp with block set; the kernel fills index/lanes
using WarpEntry = void (*)(Warp *warp);

}  // namespace strata::simt
