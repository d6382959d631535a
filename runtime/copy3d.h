// SPDX-License-Identifier: Apache-2.0
// Copies of regions in the driver's form, for copies and for graph nodes.
#pragma once

#include "toolkit/include/cuda.h"
#include "toolkit/include/driver_types.h"

namespace strata::runtime {

// Extents and positions of linear memory are in bytes; as soon as one side is an array they are in its
// elements. Errors: a side with neither or both of array and pointer, a bad direction, a row longer than its
// pitch.
cudaError_t toDriver(const cudaMemcpy3DParms &params, CUDA_MEMCPY3D &copy);
// Back: what the driver answers for a node. The direction is found from the sides.
cudaError_t fromDriver(const CUDA_MEMCPY3D &copy, cudaMemcpy3DParms &params);

// Bytes of one element of an array.
cudaError_t elementSize(cudaArray_const_t array, std::size_t &bytes);

// A copy of `count` contiguous bytes.
CUDA_MEMCPY3D copy1D(void *dst, const void *src, std::size_t count, cudaMemcpyKind kind);

bool validKind(cudaMemcpyKind kind);

}  // namespace strata::runtime
