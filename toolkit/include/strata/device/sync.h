// SPDX-License-Identifier: Apache-2.0
// Barriers, fences, time and traps.
#pragma once
#pragma GCC system_header

#include <time.h>

#include "strata/device/define.h"
#include "vector_types.h"

// __syncthreads() itself is a builtin of clang.
STRATA_DEVICE int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
STRATA_DEVICE int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
STRATA_DEVICE int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
STRATA_DEVICE void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
STRATA_DEVICE void __barrier_sync(unsigned id) { __nvvm_barrier_sync(id); }
STRATA_DEVICE void __barrier_sync_count(unsigned id, unsigned threads) { __nvvm_barrier_sync_cnt(id, threads); }

STRATA_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
STRATA_DEVICE void __threadfence() { __nvvm_membar_gl(); }
STRATA_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }

STRATA_DEVICE clock_t clock() { return static_cast<clock_t>(static_cast<int>(__nvvm_read_ptx_sreg_clock())); }
STRATA_DEVICE long long clock64() { return static_cast<long long>(__nvvm_read_ptx_sreg_clock64()); }
STRATA_DEVICE unsigned long long __globaltimer() { return __nvvm_read_ptx_sreg_globaltimer(); }
STRATA_DEVICE void __nanosleep(unsigned nanoseconds) {
#if STRATA_DEVICE_ARCH >= 700
  asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds) : "memory");
#endif
}
STRATA_DEVICE void __trap() { asm volatile("trap;"); }
STRATA_DEVICE void __brkpt() { asm volatile("brkpt;"); }
STRATA_DEVICE void __prof_trigger(int counter) { asm volatile("pmevent %0;" ::"n"(0)); }
STRATA_DEVICE unsigned __smid() { return __nvvm_read_ptx_sreg_smid(); }
STRATA_DEVICE unsigned __laneid() { return __nvvm_read_ptx_sreg_laneid(); }

// Clusters (sm_90).
STRATA_DEVICE void __cluster_barrier_arrive() { __nvvm_barrier_cluster_arrive(); }
STRATA_DEVICE void __cluster_barrier_arrive_relaxed() { __nvvm_barrier_cluster_arrive_relaxed(); }
STRATA_DEVICE void __cluster_barrier_wait() { __nvvm_barrier_cluster_wait(); }
STRATA_DEVICE dim3 __clusterDim() {
  return dim3(__nvvm_read_ptx_sreg_cluster_nctaid_x(), __nvvm_read_ptx_sreg_cluster_nctaid_y(),
              __nvvm_read_ptx_sreg_cluster_nctaid_z());
}
STRATA_DEVICE dim3 __clusterGridDimInClusters() {
  return dim3(__nvvm_read_ptx_sreg_nclusterid_x(), __nvvm_read_ptx_sreg_nclusterid_y(),
              __nvvm_read_ptx_sreg_nclusterid_z());
}
STRATA_DEVICE dim3 __clusterIdx() {
  return dim3(__nvvm_read_ptx_sreg_clusterid_x(), __nvvm_read_ptx_sreg_clusterid_y(),
              __nvvm_read_ptx_sreg_clusterid_z());
}
STRATA_DEVICE dim3 __clusterRelativeBlockIdx() {
  return dim3(__nvvm_read_ptx_sreg_cluster_ctaid_x(), __nvvm_read_ptx_sreg_cluster_ctaid_y(),
              __nvvm_read_ptx_sreg_cluster_ctaid_z());
}
STRATA_DEVICE unsigned __clusterRelativeBlockRank() { return __nvvm_read_ptx_sreg_cluster_ctarank(); }
STRATA_DEVICE unsigned __clusterSizeInBlocks() { return __nvvm_read_ptx_sreg_cluster_nctarank(); }
STRATA_DEVICE void *__cluster_map_shared_rank(const void *address, unsigned rank) {
  return __nvvm_mapa(const_cast<void *>(address), static_cast<int>(rank));
}
