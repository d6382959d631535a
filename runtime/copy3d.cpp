// SPDX-License-Identifier: Apache-2.0
#include "runtime/copy3d.h"

#include <algorithm>

#include "runtime/array.h"
#include "runtime/body.h"

namespace strata::runtime {
namespace {

CUmemorytype sourceType(cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return CU_MEMORYTYPE_UNIFIED;
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

CUmemorytype targetType(cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return CU_MEMORYTYPE_UNIFIED;
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

// An array side contradicts a direction that calls it host memory.
bool arrayAllowed(CUmemorytype type) { return type != CU_MEMORYTYPE_HOST; }

void setSource(CUDA_MEMCPY3D &copy, const cudaPitchedPtr &pointer, CUmemorytype type) {
  copy.srcMemoryType = type;
  if (type == CU_MEMORYTYPE_HOST) copy.srcHost = pointer.ptr;
  else copy.srcDevice = address(pointer.ptr);
  copy.srcPitch = pointer.pitch;
  copy.srcHeight = pointer.ysize;
}

void setTarget(CUDA_MEMCPY3D &copy, const cudaPitchedPtr &pointer, CUmemorytype type) {
  copy.dstMemoryType = type;
  if (type == CU_MEMORYTYPE_HOST) copy.dstHost = pointer.ptr;
  else copy.dstDevice = address(pointer.ptr);
  copy.dstPitch = pointer.pitch;
  copy.dstHeight = pointer.ysize;
}

cudaPitchedPtr pitched(CUmemorytype type, const void *host, CUdeviceptr device, std::size_t pitch, std::size_t height) {
  void *pointer = type == CU_MEMORYTYPE_HOST ? const_cast<void *>(host) : reinterpret_cast<void *>(device);
  return {pointer, pitch, pitch, height};
}

}  // namespace

bool validKind(cudaMemcpyKind kind) { return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault; }

cudaError_t elementSize(cudaArray_const_t array, std::size_t &bytes) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor;
  CUresult result = driver().cuArray3DGetDescriptor(&descriptor, driverArray(array));
  if (result != CUDA_SUCCESS) return toError(result);
  bytes = formatSize(descriptor.Format) * descriptor.NumChannels;
  return bytes ? cudaSuccess : notSupported("copies of arrays with a block-compressed or planar format");
}

cudaError_t toDriver(const cudaMemcpy3DParms &p, CUDA_MEMCPY3D &copy) {
  copy = {};
  if (!validKind(p.kind)) return cudaErrorInvalidMemcpyDirection;
  if (!p.srcArray == !p.srcPtr.ptr || !p.dstArray == !p.dstPtr.ptr) return cudaErrorInvalidValue;
  std::size_t sourceElement = 1, targetElement = 1;
  if (p.srcArray)
    if (cudaError_t error = elementSize(p.srcArray, sourceElement)) return error;
  if (p.dstArray)
    if (cudaError_t error = elementSize(p.dstArray, targetElement)) return error;
  if (p.srcArray && p.dstArray && sourceElement != targetElement) return cudaErrorInvalidValue;

  CUmemorytype from = sourceType(p.kind), to = targetType(p.kind);
  if ((p.srcArray && !arrayAllowed(from)) || (p.dstArray && !arrayAllowed(to))) return cudaErrorInvalidMemcpyDirection;
  if (p.srcArray) {
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = driverArray(p.srcArray);
  } else {
    setSource(copy, p.srcPtr, from);
  }
  if (p.dstArray) {
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = driverArray(p.dstArray);
  } else {
    setTarget(copy, p.dstPtr, to);
  }
  copy.srcXInBytes = p.srcPos.x * sourceElement;
  copy.srcY = p.srcPos.y;
  copy.srcZ = p.srcPos.z;
  copy.dstXInBytes = p.dstPos.x * targetElement;
  copy.dstY = p.dstPos.y;
  copy.dstZ = p.dstPos.z;
  copy.WidthInBytes = p.extent.width * std::max(sourceElement, targetElement);
  copy.Height = p.extent.height;
  copy.Depth = p.extent.depth;
  bool rows = copy.Height > 1 || copy.Depth > 1;
  if (rows && !p.srcArray && copy.WidthInBytes > copy.srcPitch) return cudaErrorInvalidPitchValue;
  if (rows && !p.dstArray && copy.WidthInBytes > copy.dstPitch) return cudaErrorInvalidPitchValue;
  return cudaSuccess;
}

cudaError_t fromDriver(const CUDA_MEMCPY3D &copy, cudaMemcpy3DParms &p) {
  p = {};
  std::size_t sourceElement = 1, targetElement = 1;
  if (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY) {
    p.srcArray = runtimeArray(copy.srcArray);
    if (cudaError_t error = elementSize(p.srcArray, sourceElement)) return error;
  } else {
    p.srcPtr = pitched(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcPitch, copy.srcHeight);
  }
  if (copy.dstMemoryType == CU_MEMORYTYPE_ARRAY) {
    p.dstArray = runtimeArray(copy.dstArray);
    if (cudaError_t error = elementSize(p.dstArray, targetElement)) return error;
  } else {
    p.dstPtr = pitched(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstPitch, copy.dstHeight);
  }
  p.srcPos = {copy.srcXInBytes / sourceElement, copy.srcY, copy.srcZ};
  p.dstPos = {copy.dstXInBytes / targetElement, copy.dstY, copy.dstZ};
  p.extent = {copy.WidthInBytes / std::max(sourceElement, targetElement), copy.Height, copy.Depth};
  bool fromHost = copy.srcMemoryType == CU_MEMORYTYPE_HOST, toHost = copy.dstMemoryType == CU_MEMORYTYPE_HOST;
  if (copy.srcMemoryType == CU_MEMORYTYPE_UNIFIED || copy.dstMemoryType == CU_MEMORYTYPE_UNIFIED)
    p.kind = cudaMemcpyDefault;
  else
    p.kind = fromHost ? (toHost ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
                      : (toHost ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice);
  return cudaSuccess;
}

CUDA_MEMCPY3D copy1D(void *dst, const void *src, std::size_t count, cudaMemcpyKind kind) {
  CUDA_MEMCPY3D copy{};
  setSource(copy, {const_cast<void *>(src), count, count, 1}, sourceType(kind));
  setTarget(copy, {dst, count, count, 1}, targetType(kind));
  copy.WidthInBytes = count;
  copy.Height = copy.Depth = 1;
  return copy;
}

}  // namespace strata::runtime
