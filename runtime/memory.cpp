// SPDX-License-Identifier: Apache-2.0
#include "runtime/body.h"

namespace strata::runtime {

cudaError_t body::cudaMalloc(void **devPtr, std::size_t size) {
  if (!devPtr) return cudaErrorInvalidValue;
  if (cudaError_t error = bindContext()) return error;
  if (size == 0) {  // unlike the driver, the runtime allows it
    *devPtr = nullptr;
    return cudaSuccess;
  }
  return toError(driver().cuMemAlloc(as<CUdeviceptr>(devPtr), size));
}

cudaError_t body::cudaMallocManaged(void **devPtr, std::size_t size, unsigned int flags) {
  if (!devPtr || size == 0) return cudaErrorInvalidValue;
  return inContext(
      [&](const Driver &driver) { return driver.cuMemAllocManaged(as<CUdeviceptr>(devPtr), size, flags); });
}

cudaError_t body::cudaMallocPitch(void **devPtr, std::size_t *pitch, std::size_t width, std::size_t height) {
  if (!devPtr || !pitch) return cudaErrorInvalidValue;
  if (cudaError_t error = bindContext()) return error;
  if (width == 0 || height == 0) {
    *devPtr = nullptr;
    *pitch = 0;
    return cudaSuccess;
  }
  return toError(driver().cuMemAllocPitch(as<CUdeviceptr>(devPtr), pitch, width, height, 4));
}

cudaError_t body::cudaMalloc3D(cudaPitchedPtr *pitchedDevPtr, cudaExtent extent) {
  if (!pitchedDevPtr) return cudaErrorInvalidValue;
  std::size_t rows;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return cudaErrorMemoryAllocation;
  cudaPitchedPtr allocated{nullptr, 0, extent.width, extent.height};
  if (cudaError_t error = cudaMallocPitch(&allocated.ptr, &allocated.pitch, extent.width, rows)) return error;
  *pitchedDevPtr = allocated;
  return cudaSuccess;
}

cudaError_t body::cudaFree(void *devPtr) {
  if (cudaError_t error = bindContext()) return error;  // cudaFree(0) is how programs initialise the device
  return devPtr ? toError(driver().cuMemFree(address(devPtr))) : cudaSuccess;
}

cudaError_t body::cudaFreeAsync(DefaultStream none, void *devPtr, cudaStream_t hStream) {
  if (cudaError_t error = bindContext()) return error;
  return devPtr ? toError(driver().cuMemFreeAsync(address(devPtr), resolve(none, hStream))) : cudaSuccess;
}

cudaError_t body::cudaHostAlloc(void **pHost, std::size_t size, unsigned int flags) {
  if (!pHost) return cudaErrorInvalidValue;
  if (cudaError_t error = bindContext()) return error;
  if (size == 0) {
    *pHost = nullptr;
    return cudaSuccess;
  }
  return toError(driver().cuMemHostAlloc(pHost, size, flags));
}

cudaError_t body::cudaMallocHost(void **ptr, std::size_t size) {
  return cudaHostAlloc(ptr, size, cudaHostAllocDefault);
}

cudaError_t body::cudaFreeHost(void *ptr) {
  if (cudaError_t error = bindContext()) return error;
  return ptr ? toError(driver().cuMemFreeHost(ptr)) : cudaSuccess;
}

cudaError_t body::cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *ptr) {
  if (!attributes) return cudaErrorInvalidValue;
  if (cudaError_t error = bindContext()) return error;
  CUmemorytype type{};
  unsigned managed = 0;
  int device = -2;
  CUdeviceptr devicePointer = 0;
  void *hostPointer = nullptr;
  CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                 CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void *values[] = {&type, &managed, &device, &devicePointer, &hostPointer};
  // Answers zeros for memory that the driver does not know.
  if (CUresult result = driver().cuPointerGetAttributes(5, names, values, address(ptr))) return toError(result);
  cudaPointerAttributes filled{};
  filled.type = managed                        ? cudaMemoryTypeManaged
                : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                : type == CU_MEMORYTYPE_HOST   ? cudaMemoryTypeHost
                                               : cudaMemoryTypeUnregistered;
  filled.device = device;
  filled.devicePointer = reinterpret_cast<void *>(devicePointer);
  filled.hostPointer = hostPointer;
  if (filled.type == cudaMemoryTypeUnregistered) {
    filled.device = cudaInvalidDeviceId;
    filled.devicePointer = nullptr;
    filled.hostPointer = const_cast<void *>(ptr);
  }
  *attributes = filled;
  return cudaSuccess;
}

}  // namespace strata::runtime
