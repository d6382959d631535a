// SPDX-License-Identifier: Apache-2.0
// cuMemAlloc and its kin, host memory, what is known of pointers.
#include <cstring>

#include "driver/capture.h"
#include "driver/entries.h"
#include "driver/memory.h"
#include "driver/scheduler.h"
#include "driver/stream.h"
#include "driver/work.h"

namespace strata::driver {
namespace {

CUresult allocate(CUdeviceptr *dptr, std::size_t bytes, MemoryKind kind, unsigned flags) {
  if (!dptr || !bytes) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = checkUnsafeCall(); result != CUDA_SUCCESS) return result;
  Allocation wanted;
  wanted.size = bytes;
  wanted.kind = kind;
  wanted.context = currentContext();
  wanted.device = kind == MemoryKind::host ? nullptr : &currentContext()->device;
  wanted.flags = flags;
  std::uint64_t base = 0;
  CUresult result = Memory::get().allocate(wanted, base);
  if (result == CUDA_SUCCESS) *dptr = base;
  return result;
}

CUresult allocateHost(void **pp, std::size_t bytes, unsigned flags) {
  constexpr unsigned kFlags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if (!pp || (flags & ~kFlags)) return CUDA_ERROR_INVALID_VALUE;
  if (bytes == 0) {
    *pp = nullptr;
    return CUDA_SUCCESS;
  }
  CUdeviceptr address = 0;
  CUresult result = allocate(&address, bytes, MemoryKind::host, flags | CU_MEMHOSTALLOC_DEVICEMAP);
  if (result == CUDA_SUCCESS) *pp = reinterpret_cast<void *>(address);
  return result;
}

// Memory that is being freed must no longer be in use: like a GPU's driver, wait for the context's work.
CUresult freeMemory(std::uint64_t base, unsigned kinds) {
  auto found = Memory::get().findBase(base, kinds);
  if (!found || found->freeing) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = checkUnsafeCall(); result != CUDA_SUCCESS) return result;
  Context *context = found->context ? found->context : currentContext();
  if (CUresult error = synchronize(*context); error != CUDA_SUCCESS) return error;
  return Memory::get().release(base) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

std::uint64_t asAddress(const void *pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

}  // namespace

CUresult entry::cuMemGetInfo_v2(size_t *free, size_t *total) {
  Device &device = currentContext()->device;
  std::uint64_t used = device.used.load();
  if (free) *free = device.totalMemory() - std::min<std::uint64_t>(used, device.totalMemory());
  if (total) *total = device.totalMemory();
  return CUDA_SUCCESS;
}

CUresult entry::cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) {
  return allocate(dptr, bytesize, MemoryKind::device, 0);
}

CUresult entry::cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                                   unsigned int ElementSizeBytes) {
  if (!dptr || !pPitch || !WidthInBytes || !Height) return CUDA_ERROR_INVALID_VALUE;
  if (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16) return CUDA_ERROR_INVALID_VALUE;
  std::size_t pitch = roundUp(WidthInBytes, kAlignment);
  if (pitch < WidthInBytes || Height > SIZE_MAX / pitch) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult result = allocate(dptr, pitch * Height, MemoryKind::device, 0);
  if (result == CUDA_SUCCESS) *pPitch = pitch;
  return result;
}

CUresult entry::cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) return CUDA_ERROR_INVALID_VALUE;
  return allocate(dptr, bytesize, MemoryKind::managed, flags);
}

CUresult entry::cuMemFree_v2(CUdeviceptr dptr) {
  if (!dptr) return CUDA_SUCCESS;
  if (Memory::get().findBase(dptr, bit(MemoryKind::graph))) return synchronize(*currentContext());
  return freeMemory(dptr, bit(MemoryKind::device) | bit(MemoryKind::managed) | bit(MemoryKind::pool));
}

CUresult entry::cuMemAllocHost_v2(void **pp, size_t bytesize) { return allocateHost(pp, bytesize, 0); }

CUresult entry::cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags) {
  return allocateHost(pp, bytesize, Flags);
}

CUresult entry::cuMemFreeHost(void *p) { return p ? freeMemory(asAddress(p), bit(MemoryKind::host)) : CUDA_SUCCESS; }

CUresult entry::cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags) {
  constexpr unsigned kFlags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_IOMEMORY |
                              CU_MEMHOSTREGISTER_READ_ONLY;
  if (!p || !bytesize || (Flags & ~kFlags) || asAddress(p) + bytesize < asAddress(p)) return CUDA_ERROR_INVALID_VALUE;
  if (Flags & CU_MEMHOSTREGISTER_IOMEMORY) return CUDA_ERROR_NOT_SUPPORTED;
  if (!isMapped(asAddress(p), bytesize)) return CUDA_ERROR_INVALID_VALUE;
  Allocation known;
  known.base = asAddress(p);
  known.size = bytesize;
  known.kind = MemoryKind::registered;
  known.context = currentContext();
  known.flags = Flags | CU_MEMHOSTALLOC_DEVICEMAP;
  return Memory::get().adopt(known) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

CUresult entry::cuMemHostUnregister(void *p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  auto found = Memory::get().find(asAddress(p));
  if (!found || found->kind != MemoryKind::registered) return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  if (found->base != asAddress(p)) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = synchronize(*found->context); error != CUDA_SUCCESS) return error;
  Memory::get().release(found->base);
  return CUDA_SUCCESS;
}

CUresult entry::cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags) {
  if (!pdptr || !p || Flags) return CUDA_ERROR_INVALID_VALUE;
  auto found = Memory::get().find(asAddress(p));
  if (!found || found->onDevice()) return CUDA_ERROR_INVALID_VALUE;
  *pdptr = asAddress(p);
  return CUDA_SUCCESS;
}

CUresult entry::cuMemHostGetFlags(unsigned int *pFlags, void *p) {
  if (!pFlags || !p) return CUDA_ERROR_INVALID_VALUE;
  auto found = Memory::get().find(asAddress(p));
  if (!found || found->onDevice()) return CUDA_ERROR_INVALID_VALUE;
  *pFlags = found->flags;
  return CUDA_SUCCESS;
}

CUresult entry::cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr) {
  if (!pbase && !psize) return CUDA_SUCCESS;
  auto found = Memory::get().find(dptr);
  if (!found) return CUDA_ERROR_NOT_FOUND;
  if (pbase) *pbase = found->base;
  if (psize) *psize = found->size;
  return CUDA_SUCCESS;
}

}  // namespace strata::driver
