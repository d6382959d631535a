// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "runtime/array.h"
#include "runtime/body.h"
#include "runtime/copy3d.h"

namespace strata::runtime {
namespace {

CUresult copyLegacy(void *dst, const void *src, std::size_t count, cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToDevice: return driver().cuMemcpyHtoD(address(dst), src, count);
    case cudaMemcpyDeviceToHost: return driver().cuMemcpyDtoH(dst, address(src), count);
    case cudaMemcpyDeviceToDevice: return driver().cuMemcpyDtoD(address(dst), address(src), count);
    default: return driver().cuMemcpy(address(dst), address(src), count);
  }
}

CUresult copyAsync(void *dst, const void *src, std::size_t count, cudaMemcpyKind kind, CUstream stream) {
  switch (kind) {
    case cudaMemcpyHostToDevice: return driver().cuMemcpyHtoDAsync(address(dst), src, count, stream);
    case cudaMemcpyDeviceToHost: return driver().cuMemcpyDtoHAsync(dst, address(src), count, stream);
    case cudaMemcpyDeviceToDevice: return driver().cuMemcpyDtoDAsync(address(dst), address(src), count, stream);
    default: return driver().cuMemcpyAsync(address(dst), address(src), count, stream);
  }
}

// A synchronous call of a program whose stream 0 is the thread's own: done there, and waited for.
cudaError_t waitForThread(CUresult enqueued) {
  return toError(enqueued == CUDA_SUCCESS ? driver().cuStreamSynchronize(CU_STREAM_PER_THREAD) : enqueued);
}

cudaError_t region(DefaultStream none, const cudaMemcpy3DParms &params, bool async, cudaStream_t stream) {
  if (cudaError_t error = bindContext()) return error;
  if (params.extent.width == 0 || params.extent.height == 0 || params.extent.depth == 0) return cudaSuccess;
  CUDA_MEMCPY3D copy;
  if (cudaError_t error = toDriver(params, copy)) return error;
  if (async) return toError(driver().cuMemcpy3DAsync(&copy, resolve(none, stream)));
  if (none == DefaultStream::perThread) return waitForThread(driver().cuMemcpy3DAsync(&copy, CU_STREAM_PER_THREAD));
  return toError(driver().cuMemcpy3D(&copy));
}

cudaMemcpy3DParms rows(void *dst, std::size_t dpitch, const void *src, std::size_t spitch, std::size_t width,
                       std::size_t height, cudaMemcpyKind kind) {
  cudaMemcpy3DParms params{};
  params.srcPtr = {const_cast<void *>(src), spitch, spitch, height};
  params.dstPtr = {dst, dpitch, dpitch, height};
  params.extent = {width, height, 1};
  params.kind = kind;
  return params;
}

// Rows to or from an array. Widths and offsets of these entries are in bytes, those of a region with an array
// in elements.
cudaError_t arrayRows(DefaultStream none, cudaMemcpy3DParms params, std::size_t widthInBytes, bool async,
                      cudaStream_t stream) {
  std::size_t bytes = 1;
  if (cudaError_t error = bindContext()) return error;
  if (!params.srcArray && !params.srcPtr.ptr) return cudaErrorInvalidValue;
  if (!params.dstArray && !params.dstPtr.ptr) return cudaErrorInvalidValue;
  if (cudaError_t error = elementSize(params.dstArray ? params.dstArray : params.srcArray, bytes)) return error;
  if (widthInBytes % bytes || params.srcPos.x % bytes || params.dstPos.x % bytes) return cudaErrorInvalidValue;
  params.extent.width = widthInBytes / bytes;
  params.srcPos.x /= bytes;
  params.dstPos.x /= bytes;
  return region(none, params, async, stream);
}

cudaError_t toArray(DefaultStream none, cudaArray_t dst, std::size_t wOffset, std::size_t hOffset, const void *src,
                    std::size_t spitch, std::size_t width, std::size_t height, cudaMemcpyKind kind, bool async,
                    cudaStream_t stream) {
  cudaMemcpy3DParms params{};
  if (!dst) return cudaErrorInvalidValue;
  if (width > spitch) return cudaErrorInvalidPitchValue;
  params.srcPtr = {const_cast<void *>(src), spitch, spitch, height};
  params.dstArray = dst;
  params.dstPos = {wOffset, hOffset, 0};
  params.extent = {0, height, 1};
  params.kind = kind;
  return arrayRows(none, params, width, async, stream);
}

cudaError_t fromArray(DefaultStream none, void *dst, std::size_t dpitch, cudaArray_const_t src, std::size_t wOffset,
                      std::size_t hOffset, std::size_t width, std::size_t height, cudaMemcpyKind kind, bool async,
                      cudaStream_t stream) {
  cudaMemcpy3DParms params{};
  if (!src) return cudaErrorInvalidValue;
  if (width > dpitch) return cudaErrorInvalidPitchValue;
  params.srcArray = const_cast<cudaArray_t>(src);
  params.srcPos = {wOffset, hOffset, 0};
  params.dstPtr = {dst, dpitch, dpitch, height};
  params.extent = {0, height, 1};
  params.kind = kind;
  return arrayRows(none, params, width, async, stream);
}

cudaError_t rowSize(cudaArray_const_t array, std::size_t &bytes) {
  if (!array) return cudaErrorInvalidValue;
  if (cudaError_t error = bindContext()) return error;
  CUDA_ARRAY3D_DESCRIPTOR descriptor;
  if (CUresult result = driver().cuArray3DGetDescriptor(&descriptor, driverArray(array))) return toError(result);
  if (cudaError_t error = elementSize(array, bytes)) return error;
  bytes *= descriptor.Width;
  return cudaSuccess;
}

// Part of a copy of consecutive bytes that forms a rectangle in the array; `done` bytes lie before it.
struct Piece {
  std::size_t x, y, width, rows, done;
};

// Splits `count` bytes from (x bytes, y rows) on into the rest of the first row, whole rows and the last one.
template <class Copy>
cudaError_t flat(cudaArray_const_t array, std::size_t x, std::size_t y, std::size_t count, Copy copy) {
  std::size_t row;
  if (cudaError_t error = rowSize(array, row)) return error;
  if (x >= row) return cudaErrorInvalidValue;
  for (std::size_t done = 0; done < count;) {
    std::size_t left = count - done;
    Piece piece{x, y, std::min(left, row - x), 1, done};
    if (x == 0 && left >= row) piece = {0, y, row, left / row, done};
    if (cudaError_t error = copy(piece)) return error;
    done += piece.width * piece.rows;
    x = 0;
    y += piece.rows;
  }
  return cudaSuccess;
}

cudaError_t peers(int dstDevice, int srcDevice, CUcontext &dst, CUcontext &src) {
  Context *target, *source;
  if (cudaError_t error = primaryContext(dstDevice, target)) return error;
  if (cudaError_t error = primaryContext(srcDevice, source)) return error;
  dst = target->handle;
  src = source->handle;
  return bindContext();
}

// The driver's peer form: the plain one with a context on each side.
cudaError_t toDriver(const cudaMemcpy3DPeerParms &p, CUDA_MEMCPY3D_PEER &copy) {
  cudaMemcpy3DParms params{p.srcArray, p.srcPos, p.srcPtr, p.dstArray,
                           p.dstPos,   p.dstPtr, p.extent, cudaMemcpyDeviceToDevice};
  CUcontext dst, src;
  if (cudaError_t error = peers(p.dstDevice, p.srcDevice, dst, src)) return error;
  CUDA_MEMCPY3D plain;
  if (cudaError_t error = runtime::toDriver(params, plain)) return error;
  static_assert(sizeof plain == sizeof copy &&
                offsetof(CUDA_MEMCPY3D, reserved0) == offsetof(CUDA_MEMCPY3D_PEER, srcContext) &&
                offsetof(CUDA_MEMCPY3D, reserved1) == offsetof(CUDA_MEMCPY3D_PEER, dstContext));
  copy = *as<CUDA_MEMCPY3D_PEER>(&plain);
  copy.srcContext = src;
  copy.dstContext = dst;
  return cudaSuccess;
}

}  // namespace

cudaError_t body::cudaMemcpy(DefaultStream none, void *dst, const void *src, std::size_t count, cudaMemcpyKind kind) {
  if (!validKind(kind)) return cudaErrorInvalidMemcpyDirection;
  if (cudaError_t error = bindContext()) return error;
  if (count == 0) return cudaSuccess;
  if (none == DefaultStream::perThread) return waitForThread(copyAsync(dst, src, count, kind, CU_STREAM_PER_THREAD));
  return toError(copyLegacy(dst, src, count, kind));
}

cudaError_t body::cudaMemcpyAsync(DefaultStream none, void *dst, const void *src, std::size_t count,
                                  cudaMemcpyKind kind, cudaStream_t stream) {
  if (!validKind(kind)) return cudaErrorInvalidMemcpyDirection;
  if (cudaError_t error = bindContext()) return error;
  if (count == 0) return cudaSuccess;
  return toError(copyAsync(dst, src, count, kind, resolve(none, stream)));
}

cudaError_t body::cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, std::size_t count) {
  CUcontext target, source;
  if (cudaError_t error = peers(dstDevice, srcDevice, target, source)) return error;
  if (count == 0) return cudaSuccess;
  return toError(driver().cuMemcpyPeer(address(dst), target, address(src), source, count));
}

cudaError_t body::cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice, std::size_t count,
                                      cudaStream_t stream) {
  CUcontext target, source;
  if (cudaError_t error = peers(dstDevice, srcDevice, target, source)) return error;
  if (count == 0) return cudaSuccess;
  return toError(driver().cuMemcpyPeerAsync(address(dst), target, address(src), source, count, stream));
}

cudaError_t body::cudaMemcpy2D(DefaultStream none, void *dst, std::size_t dpitch, const void *src, std::size_t spitch,
                               std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (width > dpitch || width > spitch) return cudaErrorInvalidPitchValue;
  return region(none, rows(dst, dpitch, src, spitch, width, height, kind), false, nullptr);
}

cudaError_t body::cudaMemcpy2DAsync(DefaultStream none, void *dst, std::size_t dpitch, const void *src,
                                    std::size_t spitch, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                    cudaStream_t stream) {
  if (width > dpitch || width > spitch) return cudaErrorInvalidPitchValue;
  return region(none, rows(dst, dpitch, src, spitch, width, height, kind), true, stream);
}

cudaError_t body::cudaMemcpy3D(DefaultStream none, const cudaMemcpy3DParms *p) {
  return p ? region(none, *p, false, nullptr) : cudaErrorInvalidValue;
}

cudaError_t body::cudaMemcpy3DAsync(DefaultStream none, const cudaMemcpy3DParms *p, cudaStream_t stream) {
  return p ? region(none, *p, true, stream) : cudaErrorInvalidValue;
}

cudaError_t body::cudaMemcpy3DPeer(DefaultStream none, const cudaMemcpy3DPeerParms *p) {
  if (!p) return cudaErrorInvalidValue;
  CUDA_MEMCPY3D_PEER copy;
  if (cudaError_t error = toDriver(*p, copy)) return error;
  if (none == DefaultStream::perThread) return waitForThread(driver().cuMemcpy3DPeerAsync(&copy, CU_STREAM_PER_THREAD));
  return toError(driver().cuMemcpy3DPeer(&copy));
}

cudaError_t body::cudaMemcpy3DPeerAsync(DefaultStream none, const cudaMemcpy3DPeerParms *p, cudaStream_t stream) {
  if (!p) return cudaErrorInvalidValue;
  CUDA_MEMCPY3D_PEER copy;
  if (cudaError_t error = toDriver(*p, copy)) return error;
  return toError(driver().cuMemcpy3DPeerAsync(&copy, resolve(none, stream)));
}

cudaError_t body::cudaMemcpy2DToArray(DefaultStream none, cudaArray_t dst, std::size_t wOffset, std::size_t hOffset,
                                      const void *src, std::size_t spitch, std::size_t width, std::size_t height,
                                      cudaMemcpyKind kind) {
  return toArray(none, dst, wOffset, hOffset, src, spitch, width, height, kind, false, nullptr);
}

cudaError_t body::cudaMemcpy2DToArrayAsync(DefaultStream none, cudaArray_t dst, std::size_t wOffset,
                                           std::size_t hOffset, const void *src, std::size_t spitch, std::size_t width,
                                           std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return toArray(none, dst, wOffset, hOffset, src, spitch, width, height, kind, true, stream);
}

cudaError_t body::cudaMemcpy2DFromArray(DefaultStream none, void *dst, std::size_t dpitch, cudaArray_const_t src,
                                        std::size_t wOffset, std::size_t hOffset, std::size_t width, std::size_t height,
                                        cudaMemcpyKind kind) {
  return fromArray(none, dst, dpitch, src, wOffset, hOffset, width, height, kind, false, nullptr);
}

cudaError_t body::cudaMemcpy2DFromArrayAsync(DefaultStream none, void *dst, std::size_t dpitch, cudaArray_const_t src,
                                             std::size_t wOffset, std::size_t hOffset, std::size_t width,
                                             std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return fromArray(none, dst, dpitch, src, wOffset, hOffset, width, height, kind, true, stream);
}

cudaError_t body::cudaMemcpy2DArrayToArray(DefaultStream none, cudaArray_t dst, std::size_t wOffsetDst,
                                           std::size_t hOffsetDst, cudaArray_const_t src, std::size_t wOffsetSrc,
                                           std::size_t hOffsetSrc, std::size_t width, std::size_t height,
                                           cudaMemcpyKind kind) {
  if (!dst || !src) return cudaErrorInvalidValue;
  cudaMemcpy3DParms params{};
  params.srcArray = const_cast<cudaArray_t>(src);
  params.srcPos = {wOffsetSrc, hOffsetSrc, 0};
  params.dstArray = dst;
  params.dstPos = {wOffsetDst, hOffsetDst, 0};
  params.extent = {0, height, 1};
  params.kind = kind;
  return arrayRows(none, params, width, false, nullptr);
}

cudaError_t body::cudaMemcpyToArray(DefaultStream none, cudaArray_t dst, std::size_t wOffset, std::size_t hOffset,
                                    const void *src, std::size_t count, cudaMemcpyKind kind) {
  return flat(dst, wOffset, hOffset, count, [&](const Piece &p) {
    return toArray(none, dst, p.x, p.y, static_cast<const char *>(src) + p.done, p.width, p.width, p.rows, kind, false,
                   nullptr);
  });
}

cudaError_t body::cudaMemcpyToArrayAsync(DefaultStream none, cudaArray_t dst, std::size_t wOffset, std::size_t hOffset,
                                         const void *src, std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return flat(dst, wOffset, hOffset, count, [&](const Piece &p) {
    return toArray(none, dst, p.x, p.y, static_cast<const char *>(src) + p.done, p.width, p.width, p.rows, kind, true,
                   stream);
  });
}

cudaError_t body::cudaMemcpyFromArray(DefaultStream none, void *dst, cudaArray_const_t src, std::size_t wOffset,
                                      std::size_t hOffset, std::size_t count, cudaMemcpyKind kind) {
  return flat(src, wOffset, hOffset, count, [&](const Piece &p) {
    return fromArray(none, static_cast<char *>(dst) + p.done, p.width, src, p.x, p.y, p.width, p.rows, kind, false,
                     nullptr);
  });
}

cudaError_t body::cudaMemcpyFromArrayAsync(DefaultStream none, void *dst, cudaArray_const_t src, std::size_t wOffset,
                                           std::size_t hOffset, std::size_t count, cudaMemcpyKind kind,
                                           cudaStream_t stream) {
  return flat(src, wOffset, hOffset, count, [&](const Piece &p) {
    return fromArray(none, static_cast<char *>(dst) + p.done, p.width, src, p.x, p.y, p.width, p.rows, kind, true,
                     stream);
  });
}

// Both sides must break into the same pieces, as arrays of one width with one offset in the row do.
cudaError_t body::cudaMemcpyArrayToArray(DefaultStream none, cudaArray_t dst, std::size_t wOffsetDst,
                                         std::size_t hOffsetDst, cudaArray_const_t src, std::size_t wOffsetSrc,
                                         std::size_t hOffsetSrc, std::size_t count, cudaMemcpyKind kind) {
  std::size_t dstRow, srcRow;
  if (cudaError_t error = rowSize(dst, dstRow)) return error;
  if (cudaError_t error = rowSize(src, srcRow)) return error;
  bool oneRow = wOffsetDst + count <= dstRow && wOffsetSrc + count <= srcRow;
  if (!oneRow && (dstRow != srcRow || wOffsetDst != wOffsetSrc))
    return notSupported("cudaMemcpyArrayToArray between rows of different shape");
  return flat(dst, wOffsetDst, hOffsetDst, count, [&](const Piece &p) {
    return cudaMemcpy2DArrayToArray(none, dst, p.x, p.y, src, oneRow ? wOffsetSrc : p.x, hOffsetSrc + p.y - hOffsetDst,
                                    p.width, p.rows, kind);
  });
}

}  // namespace strata::runtime
