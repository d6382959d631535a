/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups: sets of threads as values, with the collectives that their members call together.
   Grid-wide synchronisation needs a cooperative launch; multi-device grids do not exist here. */
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_
#pragma GCC system_header

#if defined(__cplusplus) && defined(__CUDA__)

#include "cuda_runtime.h"
#include "strata/cooperative/lanes.h"

namespace cooperative_groups {

namespace details {
// Zeroed by the driver at each cooperative launch; null in other launches. Registers %envreg1 (high word) and
// %envreg2 hold its address.
struct GridWorkspace {
  unsigned bytes;
  unsigned barrier;
};
STRATA_DEVICE GridWorkspace *gridWorkspace() {
  unsigned high, low;
  asm("mov.u32 %0, %%envreg1;" : "=r"(high));
  asm("mov.u32 %0, %%envreg2;" : "=r"(low));
  return reinterpret_cast<GridWorkspace *>(static_cast<unsigned long long>(high) << 32 | low);
}
STRATA_DEVICE unsigned long long gridBlocks() {
  return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
}
STRATA_DEVICE unsigned long long gridBlockRank() {
  return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
STRATA_DEVICE unsigned blockThreads() { return blockDim.x * blockDim.y * blockDim.z; }
STRATA_DEVICE unsigned blockThreadRank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }

// Each block adds 1, the first one adds what is missing to 2^31, so that the top bit flips once all have
// arrived; whatever the counter was, it works again for the next barrier. Called by one thread of a block.
STRATA_DEVICE unsigned gridArrive() {
  GridWorkspace *workspace = gridWorkspace();
  if (!workspace) __trap();
  unsigned step = gridBlockRank() == 0 ? 0x80000000u - static_cast<unsigned>(gridBlocks() - 1) : 1u;
  __threadfence();
  return atomicAdd(&workspace->barrier, step);
}
STRATA_DEVICE void gridWait(unsigned before) {
  volatile unsigned *barrier = &gridWorkspace()->barrier;
  while (((*barrier ^ before) & 0x80000000u) == 0) __nanosleep(64);
  __threadfence();
}
}  // namespace details

// ---- Groups ----------------------------------------------------------------------------------------

// Any group whose kind is known at run time only.
class thread_group {
public:
  __device__ void sync() const;
  __device__ unsigned long long size() const;
  __device__ unsigned long long num_threads() const { return size(); }
  __device__ unsigned long long thread_rank() const;
  __device__ unsigned get_type() const { return kind; }

protected:
  enum Kind : unsigned { block, grid, cluster, lanes };
  __device__ thread_group(Kind kind, details::Lanes members) : kind(kind), members(members) {}
  __device__ explicit thread_group(Kind kind) : kind(kind), members() {}

  Kind kind;
  details::Lanes members;  // of a group within a warp

  friend class coalesced_group;
  template <unsigned, typename>
  friend class thread_block_tile;
  friend __device__ thread_group tiled_partition(const thread_group &parent, unsigned tileSize);
};

class thread_block : public thread_group {
public:
  struct arrival_token {};
  static __device__ void sync() { __syncthreads(); }
  // Waiting waits for all threads to wait, which comes after all have arrived.
  static __device__ arrival_token barrier_arrive() { return {}; }
  static __device__ void barrier_wait(arrival_token &&) { __syncthreads(); }
  static __device__ unsigned size() { return details::blockThreads(); }
  static __device__ unsigned num_threads() { return details::blockThreads(); }
  static __device__ unsigned thread_rank() { return details::blockThreadRank(); }
  static __device__ dim3 group_index() { return blockIdx; }
  static __device__ dim3 thread_index() { return threadIdx; }
  static __device__ dim3 group_dim() { return blockDim; }
  static __device__ dim3 dim_threads() { return blockDim; }

private:
  __device__ thread_block() : thread_group(thread_group::block) {}
  friend __device__ thread_block this_thread_block();
};

class grid_group : public thread_group {
public:
  struct arrival_token {
    unsigned before;
  };
  static __device__ bool is_valid() { return details::gridWorkspace() != nullptr; }
  static __device__ void sync() {
    __syncthreads();
    if (details::blockThreadRank() == 0) details::gridWait(details::gridArrive());
    __syncthreads();
  }
  // All threads of all blocks arrive, then wait.
  static __device__ arrival_token barrier_arrive() {
    arrival_token token = {0};
    __syncthreads();
    if (details::blockThreadRank() == 0) token.before = details::gridArrive();
    return token;
  }
  static __device__ void barrier_wait(arrival_token &&token) {
    if (details::blockThreadRank() == 0) details::gridWait(token.before);
    __syncthreads();
  }
  static __device__ unsigned long long size() { return details::gridBlocks() * details::blockThreads(); }
  static __device__ unsigned long long num_threads() { return size(); }
  static __device__ unsigned long long thread_rank() {
    return details::gridBlockRank() * details::blockThreads() + details::blockThreadRank();
  }
  static __device__ unsigned long long num_blocks() { return details::gridBlocks(); }
  static __device__ unsigned long long block_rank() { return details::gridBlockRank(); }
  static __device__ dim3 group_dim() { return gridDim; }
  static __device__ dim3 dim_blocks() { return gridDim; }
  static __device__ dim3 block_index() { return blockIdx; }
  static __device__ dim3 thread_index() { return threadIdx; }
#if STRATA_DEVICE_ARCH >= 900
  static __device__ unsigned long long num_clusters() {
    dim3 n = __clusterGridDimInClusters();
    return static_cast<unsigned long long>(n.x) * n.y * n.z;
  }
  static __device__ unsigned long long cluster_rank() {
    dim3 n = __clusterGridDimInClusters(), i = __clusterIdx();
    return (static_cast<unsigned long long>(i.z) * n.y + i.y) * n.x + i.x;
  }
  static __device__ dim3 dim_clusters() { return __clusterGridDimInClusters(); }
  static __device__ dim3 cluster_index() { return __clusterIdx(); }
#endif

private:
  __device__ grid_group() : thread_group(thread_group::grid) {}
  friend __device__ grid_group this_grid();
};

#if STRATA_DEVICE_ARCH >= 900
class cluster_group : public thread_group {
public:
  struct arrival_token {};
  static __device__ void sync() {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  }
  static __device__ arrival_token barrier_arrive() {
    __cluster_barrier_arrive();
    return {};
  }
  static __device__ void barrier_wait() { __cluster_barrier_wait(); }
  static __device__ void barrier_wait(arrival_token &&) { __cluster_barrier_wait(); }
  static __device__ unsigned query_shared_rank(const void *address) {
    return static_cast<unsigned>(__nvvm_getctarank(const_cast<void *>(address)));
  }
  template <typename Value>
  static __device__ Value *map_shared_rank(Value *address, int rank) {
    return static_cast<Value *>(__cluster_map_shared_rank(address, static_cast<unsigned>(rank)));
  }
  static __device__ dim3 block_index() { return __clusterRelativeBlockIdx(); }
  static __device__ unsigned block_rank() { return __clusterRelativeBlockRank(); }
  static __device__ unsigned num_blocks() { return __clusterSizeInBlocks(); }
  static __device__ dim3 dim_blocks() { return __clusterDim(); }
  static __device__ dim3 thread_index() {
    dim3 b = block_index();
    return dim3(b.x * blockDim.x + threadIdx.x, b.y * blockDim.y + threadIdx.y, b.z * blockDim.z + threadIdx.z);
  }
  static __device__ unsigned thread_rank() {
    return block_rank() * details::blockThreads() + details::blockThreadRank();
  }
  static __device__ dim3 dim_threads() {
    dim3 d = dim_blocks();
    return dim3(d.x * blockDim.x, d.y * blockDim.y, d.z * blockDim.z);
  }
  static __device__ unsigned size() { return num_blocks() * details::blockThreads(); }
  static __device__ unsigned num_threads() { return size(); }

private:
  __device__ cluster_group() : thread_group(thread_group::cluster) {}
  friend __device__ cluster_group this_cluster();
};
__device__ inline cluster_group this_cluster() { return cluster_group(); }
#endif

__device__ inline thread_block this_thread_block() { return thread_block(); }
__device__ inline grid_group this_grid() { return grid_group(); }

// Threads of one warp that execute together at the call, ranked by lane.
class coalesced_group : public thread_group {
public:
  __device__ explicit coalesced_group(details::Lanes lanes) : thread_group(thread_group::lanes, lanes) {}
  __device__ void sync() const { __syncwarp(members.mask); }
  __device__ unsigned size() const { return members.size(); }
  __device__ unsigned num_threads() const { return members.size(); }
  __device__ unsigned thread_rank() const { return members.rank(); }
  __device__ unsigned meta_group_size() const { return members.groups; }
  __device__ unsigned meta_group_rank() const { return members.group; }
  __device__ int any(int predicate) const { return __any_sync(members.mask, predicate); }
  __device__ int all(int predicate) const { return __all_sync(members.mask, predicate); }
  __device__ unsigned ballot(int predicate) const { return members.pack(__ballot_sync(members.mask, predicate)); }
  template <typename Value>
  __device__ unsigned match_any(Value value) const {
    return members.pack(__match_any_sync(members.mask, value));
  }
  template <typename Value>
  __device__ unsigned match_all(Value value, int &predicate) const {
    return members.pack(__match_all_sync(members.mask, value, &predicate));
  }
  template <typename Value>
  __device__ Value shfl(Value value, int source) const {
    return details::shuffle(members.mask, value, members.laneOf(static_cast<unsigned>(source) % size()));
  }
  template <typename Value>
  __device__ Value shfl_down(Value value, unsigned delta) const {
    unsigned source = thread_rank() + delta;
    return details::shuffle(members.mask, value, members.laneOf(source < size() ? source : thread_rank()));
  }
  template <typename Value>
  __device__ Value shfl_up(Value value, unsigned delta) const {
    unsigned rank = thread_rank();
    return details::shuffle(members.mask, value, members.laneOf(rank >= delta ? rank - delta : rank));
  }
  __device__ details::Lanes strataLanes() const { return members; }
};

// The lanes that are active now.
__device__ inline coalesced_group coalesced_threads() { return coalesced_group(details::Lanes{__activemask(), 0, 1}); }

// Size threads (a power of two, at most a warp) of consecutive ranks.
template <unsigned Size, typename Parent = void>
class thread_block_tile;

template <unsigned Size>
class thread_block_tile<Size, void> {
  static_assert(Size > 0 && Size <= 32 && (Size & (Size - 1)) == 0,
                "Strata: tiles of more than 32 threads, or of a size that is no power of two, are not supported");

public:
  __device__ explicit thread_block_tile(details::Lanes lanes) : members(lanes) {}
  template <typename Other>
  __device__ thread_block_tile(const thread_block_tile<Size, Other> &other) : members(other.strataLanes()) {}

  __device__ void sync() const { __syncwarp(members.mask); }
  static __device__ constexpr unsigned size() { return Size; }
  static __device__ constexpr unsigned num_threads() { return Size; }
  static __device__ unsigned thread_rank() { return __laneid() & (Size - 1); }
  __device__ unsigned long long meta_group_size() const { return members.groups; }
  __device__ unsigned long long meta_group_rank() const { return members.group; }
  __device__ int any(int predicate) const { return __any_sync(members.mask, predicate); }
  __device__ int all(int predicate) const { return __all_sync(members.mask, predicate); }
  __device__ unsigned ballot(int predicate) const { return packed(__ballot_sync(members.mask, predicate)); }
  template <typename Value>
  __device__ unsigned match_any(Value value) const {
    return packed(__match_any_sync(members.mask, value));
  }
  template <typename Value>
  __device__ unsigned match_all(Value value, int &predicate) const {
    return packed(__match_all_sync(members.mask, value, &predicate));
  }
  template <typename Value>
  __device__ Value shfl(Value value, int source) const {
    return details::shuffle(members.mask, value, source, Size);
  }
  template <typename Value>
  __device__ Value shfl_down(Value value, unsigned delta) const {
    return details::shuffleDown(members.mask, value, delta, Size);
  }
  template <typename Value>
  __device__ Value shfl_up(Value value, unsigned delta) const {
    return details::shuffleUp(members.mask, value, delta, Size);
  }
  template <typename Value>
  __device__ Value shfl_xor(Value value, unsigned mask) const {
    return details::shuffleXor(members.mask, value, mask, Size);
  }
  __device__ operator thread_group() const { return thread_group(thread_group::lanes, members); }
  __device__ details::Lanes strataLanes() const { return members; }

private:
  __device__ unsigned packed(unsigned lanes) const {
    return Size == 32 ? lanes : (lanes >> (__laneid() & ~(Size - 1))) & ((1u << (Size & 31)) - 1);
  }
  details::Lanes members;
};

template <unsigned Size, typename Parent>
class thread_block_tile : public thread_block_tile<Size, void> {
public:
  using thread_block_tile<Size, void>::thread_block_tile;
  __device__ operator thread_group() const { return thread_block_tile<Size, void>::operator thread_group(); }
};

// A block as one tile; larger tiles than a warp would need this memory.
template <unsigned MaxBlockSize>
struct block_tile_memory {};
template <unsigned MaxBlockSize>
__device__ inline thread_block this_thread_block(block_tile_memory<MaxBlockSize> &) {
  return this_thread_block();
}

// ---- Partitions ------------------------------------------------------------------------------------

template <unsigned Size, typename Parent>
__device__ inline thread_block_tile<Size, Parent> tiled_partition(const Parent &parent) {
  return thread_block_tile<Size, Parent>(
      details::tileOf(Size, static_cast<unsigned>(parent.thread_rank()), static_cast<unsigned>(parent.size())));
}
// Groups of a coalesced group have no fixed place in the warp.
template <unsigned Size>
__device__ inline coalesced_group tiled_partition(const coalesced_group &parent) {
  return coalesced_group(parent.strataLanes().tile(Size));
}
__device__ inline thread_group tiled_partition(const thread_group &parent, unsigned tileSize) {
  if (parent.kind == thread_group::lanes) return coalesced_group(parent.members.tile(tileSize));
  return coalesced_group(
      details::tileOf(tileSize, static_cast<unsigned>(parent.thread_rank()), static_cast<unsigned>(parent.size())));
}
__device__ inline coalesced_group tiled_partition(const coalesced_group &parent, unsigned tileSize) {
  return coalesced_group(parent.strataLanes().tile(tileSize));
}
// Members with equal labels form a group.
template <typename Group, typename Label>
__device__ inline coalesced_group labeled_partition(const Group &group, Label label) {
  details::Lanes lanes = group.strataLanes();
  unsigned mask = __match_any_sync(lanes.mask, label), leader = __ffs(static_cast<int>(mask)) - 1;
  // groups are numbered by their first lanes
  unsigned leaders = __ballot_sync(lanes.mask, __laneid() == leader);
  return coalesced_group(details::Lanes{mask, static_cast<unsigned>(__popc(leaders & ((1u << leader) - 1))),
                                        static_cast<unsigned>(__popc(leaders))});
}
template <typename Group>
__device__ inline coalesced_group binary_partition(const Group &group, bool predicate) {
  details::Lanes lanes = group.strataLanes();
  unsigned yes = __ballot_sync(lanes.mask, predicate);
  unsigned mask = predicate ? yes : lanes.mask & ~yes;
  return coalesced_group(details::Lanes{mask, predicate ? 1u : 0u, 2u});
}

// ---- Run-time kinds --------------------------------------------------------------------------------

__device__ inline void thread_group::sync() const {
  switch (kind) {
    case block: return thread_block::sync();
    case grid: return grid_group::sync();
    case cluster:
#if STRATA_DEVICE_ARCH >= 900
      return cluster_group::sync();
#endif
    case lanes: return __syncwarp(members.mask);
  }
}
__device__ inline unsigned long long thread_group::size() const {
  switch (kind) {
    case block: return thread_block::size();
    case grid: return grid_group::size();
    case cluster:
#if STRATA_DEVICE_ARCH >= 900
      return cluster_group::size();
#endif
    case lanes: break;
  }
  return members.size();
}
__device__ inline unsigned long long thread_group::thread_rank() const {
  switch (kind) {
    case block: return thread_block::thread_rank();
    case grid: return grid_group::thread_rank();
    case cluster:
#if STRATA_DEVICE_ARCH >= 900
      return cluster_group::thread_rank();
#endif
    case lanes: break;
  }
  return members.rank();
}

// ---- Free functions --------------------------------------------------------------------------------

template <typename Group>
__device__ inline void sync(const Group &group) {
  group.sync();
}
template <typename Group>
__device__ inline auto thread_rank(const Group &group) -> decltype(group.thread_rank()) {
  return group.thread_rank();
}
template <typename Group>
__device__ inline auto group_size(const Group &group) -> decltype(group.size()) {
  return group.size();
}
// One member calls `function`; which one is unspecified, as in CUDA.
template <typename Group, typename Function, typename... Args>
__device__ inline void invoke_one(const Group &group, Function &&function, Args &&...args) {
  if (group.thread_rank() == 0) function(static_cast<Args &&>(args)...);
}
template <typename Group, typename Function, typename... Args>
__device__ inline auto invoke_one_broadcast(const Group &group, Function &&function, Args &&...args)
    -> decltype(function(static_cast<Args &&>(args)...)) {
  decltype(function(static_cast<Args &&>(args)...)) result{};
  if (group.thread_rank() == 0) result = function(static_cast<Args &&>(args)...);
  return group.shfl(result, 0);
}

}  // namespace cooperative_groups

#endif

#endif
