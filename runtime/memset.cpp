// SPDX-License-Identifier: Apache-2.0
#include "runtime/body.h"

namespace strata::runtime {
namespace {

// A fill of the legacy default stream is the driver's synchronous one; of a thread's own it is enqueued there
// and, like the synchronous one on device memory, not waited for.
CUresult fill(DefaultStream none, void *devPtr, int value, std::size_t count) {
  CUdeviceptr at = address(devPtr);
  auto byte = static_cast<unsigned char>(value);
  if (none == DefaultStream::legacy) return driver().cuMemsetD8(at, byte, count);
  return driver().cuMemsetD8Async(at, byte, count, CU_STREAM_PER_THREAD);
}

CUresult fill2D(void *devPtr, std::size_t pitch, int value, std::size_t width, std::size_t height, bool async,
                CUstream stream) {
  CUdeviceptr at = address(devPtr);
  auto byte = static_cast<unsigned char>(value);
  if (!async) return driver().cuMemsetD2D8(at, pitch, byte, width, height);
  return driver().cuMemsetD2D8Async(at, pitch, byte, width, height, stream);
}

cudaError_t rows(void *devPtr, std::size_t pitch, int value, std::size_t width, std::size_t height, bool async,
                 CUstream stream) {
  if (cudaError_t error = bindContext()) return error;
  if (width == 0 || height == 0) return cudaSuccess;
  if (height > 1 && width > pitch) return cudaErrorInvalidPitchValue;
  return toError(fill2D(devPtr, pitch, value, width, height, async, stream));
}

// Slices whose rows follow each other without a gap are one region of rows; others are filled one by one.
cudaError_t slices(cudaPitchedPtr region, int value, cudaExtent extent, bool async, CUstream stream) {
  if (extent.depth == 0) return bindContext();
  if (extent.height == region.ysize || extent.depth == 1)
    return rows(region.ptr, region.pitch, value, extent.width, extent.height * extent.depth, async, stream);
  if (extent.height > region.ysize) return cudaErrorInvalidValue;
  for (std::size_t z = 0; z < extent.depth; ++z) {
    char *slice = static_cast<char *>(region.ptr) + z * region.pitch * region.ysize;
    if (cudaError_t error = rows(slice, region.pitch, value, extent.width, extent.height, async, stream)) return error;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t body::cudaMemset(DefaultStream none, void *devPtr, int value, std::size_t count) {
  if (cudaError_t error = bindContext()) return error;
  return count ? toError(fill(none, devPtr, value, count)) : cudaSuccess;
}

cudaError_t body::cudaMemsetAsync(DefaultStream none, void *devPtr, int value, std::size_t count, cudaStream_t stream) {
  if (cudaError_t error = bindContext()) return error;
  if (count == 0) return cudaSuccess;
  return toError(
      driver().cuMemsetD8Async(address(devPtr), static_cast<unsigned char>(value), count, resolve(none, stream)));
}

cudaError_t body::cudaMemset2D(DefaultStream none, void *devPtr, std::size_t pitch, int value, std::size_t width,
                               std::size_t height) {
  return rows(devPtr, pitch, value, width, height, none == DefaultStream::perThread, CU_STREAM_PER_THREAD);
}

cudaError_t body::cudaMemset2DAsync(DefaultStream none, void *devPtr, std::size_t pitch, int value, std::size_t width,
                                    std::size_t height, cudaStream_t stream) {
  return rows(devPtr, pitch, value, width, height, true, resolve(none, stream));
}

cudaError_t body::cudaMemset3D(DefaultStream none, cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent) {
  return slices(pitchedDevPtr, value, extent, none == DefaultStream::perThread, CU_STREAM_PER_THREAD);
}

cudaError_t body::cudaMemset3DAsync(DefaultStream none, cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent,
                                    cudaStream_t stream) {
  return slices(pitchedDevPtr, value, extent, true, resolve(none, stream));
}

}  // namespace strata::runtime
