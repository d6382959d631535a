// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "toolkit/include/cuda.h"
#include "toolkit/include/driver_types.h"

namespace strata::runtime {

// Arrays are the driver's, under another type.
inline CUarray driverArray(cudaArray_const_t array) {
  return reinterpret_cast<CUarray>(const_cast<cudaArray_t>(array));
}
inline CUmipmappedArray driverMipmap(cudaMipmappedArray_const_t array) {
  return reinterpret_cast<CUmipmappedArray>(const_cast<cudaMipmappedArray_t>(array));
}
inline cudaArray_t runtimeArray(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }

// Bytes of one channel; 0 for formats without one (block-compressed, planar).
std::size_t formatSize(CUarray_format format);

// The driver's format and number of channels of a descriptor, and back. Error:
// cudaErrorInvalidChannelDescriptor.
cudaError_t toFormat(const cudaChannelFormatDesc &desc, CUarray_format &format, unsigned &channels);
cudaError_t fromFormat(CUarray_format format, unsigned channels, cudaChannelFormatDesc &desc);

}  // namespace strata::runtime
