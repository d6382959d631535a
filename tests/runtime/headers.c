/* SPDX-License-Identifier: Apache-2.0 */
/* The headers are C. Sizes that are part of the binary interface, as CUDA 13 has them. */
#include "toolkit/include/cuda_profiler_api.h"
#include "toolkit/include/cuda_runtime_api.h"
#include "toolkit/include/library_types.h"

_Static_assert(sizeof(struct cudaDeviceProp) == 1008, "cudaDeviceProp");
_Static_assert(sizeof(struct cudaMemcpy3DParms) == 160, "cudaMemcpy3DParms");
_Static_assert(sizeof(cudaLaunchAttribute) == 72, "cudaLaunchAttribute");
_Static_assert(sizeof(struct cudaGraphNodeParams) == 256, "cudaGraphNodeParams");
_Static_assert(sizeof(struct cudaPointerAttributes) == 88, "cudaPointerAttributes");
_Static_assert(sizeof(struct cudaFuncAttributes) == 144, "cudaFuncAttributes");
_Static_assert(_Alignof(float4) == 16 && _Alignof(double4_32a) == 32 && sizeof(uchar3) == 3, "vector types");
