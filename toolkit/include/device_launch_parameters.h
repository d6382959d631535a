/* SPDX-License-Identifier: Apache-2.0 */
/* threadIdx, blockIdx, blockDim, gridDim, warpSize, and the cluster's place on sm_90. Each component is a
   property that reads its special register, so that nothing is stored and unused components cost nothing. */
#pragma once
#pragma GCC system_header

#include "vector_types.h"

#if defined(__cplusplus) && defined(__CUDA__)
#include "strata/device/define.h"

#define STRATA_COORDINATE(field, builtin)              \
  __declspec(property(get = get_##field)) unsigned field; \
  static __inline__ __device__ __attribute__((always_inline, nodebug)) unsigned get_##field() { return builtin(); }

#define STRATA_COORDINATES(name, sreg)                              \
  struct name {                                                                \
    STRATA_COORDINATE(x, __nvvm_read_ptx_sreg_##sreg##_x)                      \
    STRATA_COORDINATE(y, __nvvm_read_ptx_sreg_##sreg##_y)                      \
    STRATA_COORDINATE(z, __nvvm_read_ptx_sreg_##sreg##_z)                      \
    __device__ __attribute__((always_inline, nodebug)) operator uint3() const {         \
      return uint3{get_x(), get_y(), get_z()};                                 \
    }                                                                          \
    __device__ __attribute__((always_inline, nodebug)) operator dim3() const {          \
      return dim3(get_x(), get_y(), get_z());                                  \
    }                                                                          \
  };

STRATA_COORDINATES(__strata_threadIdx, tid)
STRATA_COORDINATES(__strata_blockIdx, ctaid)
STRATA_COORDINATES(__strata_blockDim, ntid)
STRATA_COORDINATES(__strata_gridDim, nctaid)
STRATA_COORDINATES(__strata_clusterIdx, clusterid)
STRATA_COORDINATES(__strata_clusterDim, cluster_nctaid)
STRATA_COORDINATES(__strata_clusterRelativeBlockIdx, cluster_ctaid)
STRATA_COORDINATES(__strata_clusterGridDim, nclusterid)
#undef STRATA_COORDINATES
#undef STRATA_COORDINATE

extern const __device__ __attribute__((weak)) __strata_threadIdx threadIdx;
extern const __device__ __attribute__((weak)) __strata_blockIdx blockIdx;
extern const __device__ __attribute__((weak)) __strata_blockDim blockDim;
extern const __device__ __attribute__((weak)) __strata_gridDim gridDim;

// A compile-time constant, as in NVIDIA's headers' effect: every device has warps of 32.
__device__ static const int warpSize = 32;

#else

/* Declared for what merely parses kernels; no host code may use them. */
#if defined(__cplusplus)
extern "C" {
#endif
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
extern const int warpSize;
#if defined(__cplusplus)
}
#endif

#endif
