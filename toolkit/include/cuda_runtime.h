/* SPDX-License-Identifier: Apache-2.0 */
/* The header that nvcc includes before every .cu file: the runtime API with its C++ forms, and all that
   device code calls without asking. Device overloads of the C library are declared before <cmath> is read
   for the first time (strata/device/math_declarations.h says why), so this file must come first; the
   compiler driver sees to that. */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__
#pragma GCC system_header

#include <limits.h>
#include <stddef.h>

#include "host_defines.h"

#if defined(__CUDA__)
#include "strata/device/libc.h"
#include "strata/device/math_declarations.h"
#endif

#include "builtin_types.h"
#include "channel_descriptor.h"
#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "library_types.h"
#include "vector_functions.h"

#if defined(__cplusplus)
#include "strata/runtime_templates.h"
#endif

#if defined(__CUDA__)
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <new>
#include <utility>

#include "device_launch_parameters.h"
#include "strata/device/arithmetic.h"
#include "strata/device/atomics.h"
#include "strata/device/integer.h"
#include "strata/device/math.h"
#include "strata/device/memory.h"
#include "strata/device/new.h"
#include "strata/device/nv_atomic.h"
#include "strata/device/simd.h"
#include "strata/device/sync.h"
#include "strata/device/warp.h"
#include "strata/host_math.h"
#include "texture_indirect_functions.h"

// What <<<…>>> calls: the configuration is pushed before the arguments are evaluated, and popped by the
// kernel's stub.
extern "C" unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem = 0,
                                                cudaStream_t stream = 0);
extern "C" cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, void *stream);
#endif

#endif
