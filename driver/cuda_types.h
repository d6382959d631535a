// SPDX-License-Identifier: Apache-2.0
// CUDA's types for the driver's own sources: without the version map, so that a name means exactly the
// symbol of that name, and without prototypes, which api.def has.
#pragma once

#define __CUDA_API_VERSION_INTERNAL
#include "toolkit/include/cudaProfiler.h"

// The 32-bit API of CUDA 2, whose entries are absent: only their prototypes need these names.
using CUdeviceptr_v1 = unsigned int;
struct CUDA_MEMCPY2D_v1;
struct CUDA_MEMCPY3D_v1;
struct CUDA_ARRAY_DESCRIPTOR_v1;
struct CUDA_ARRAY3D_DESCRIPTOR_v1;
