/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel may call of the runtime. Launching kernels from kernels (dynamic parallelism) is not supported:
   the host entries of cuda_runtime_api.h are host functions, so a call from device code is refused by the
   compiler. */
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__
#pragma GCC system_header

#include "driver_types.h"

#if defined(__cplusplus) && defined(__CUDA__)

/* Programmatic dependent launch: let the next kernel of the stream start, or wait for the one before. */
static inline __device__ void cudaTriggerProgrammaticLaunchCompletion() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

static inline __device__ void cudaGridDependencySynchronize() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

#endif

#endif
