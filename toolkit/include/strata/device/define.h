// SPDX-License-Identifier: Apache-2.0
// Qualifiers of Strata's own device functions. They are static and always inlined, so that they leave no
// symbol behind with -rdc=true and cost nothing with -O0; nodebug: their instructions count as the caller's line, which
// is what a fault message should name.
#pragma once
#pragma GCC system_header

#include "host_defines.h"

#if defined(__CUDA__)
#define STRATA_DEVICE static __inline__ __device__ __attribute__((always_inline, nodebug))
#define STRATA_HOST_DEVICE static __inline__ __host__ __device__ __attribute__((always_inline, nodebug))
#define STRATA_HOST static __inline__ __host__
#define STRATA_INLINE __host__ __device__ __attribute__((always_inline, nodebug))
#else
// Any C++ compiler's file without CUDA: it sees the functions of both sides only, as its own.
#define STRATA_HOST_DEVICE static inline
#define STRATA_INLINE inline
#endif

// Architecture of the device pass; the host pass sees every function, whatever it needs.
#ifdef __CUDA_ARCH__
#define STRATA_DEVICE_ARCH __CUDA_ARCH__
#else
#define STRATA_DEVICE_ARCH 9999
#endif
