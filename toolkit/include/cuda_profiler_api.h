/* SPDX-License-Identifier: Apache-2.0 */
/* Marks the part of a program that a profiler should record. */
#ifndef __CUDA_PROFILER_API_H__
#define __CUDA_PROFILER_API_H__
#pragma GCC system_header

#include "driver_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

cudaError_t CUDARTAPI cudaProfilerStart(void);
cudaError_t CUDARTAPI cudaProfilerStop(void);

#if defined(__cplusplus)
}
#endif

#endif
