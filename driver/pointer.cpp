// SPDX-License-Identifier: Apache-2.0
// Unified addressing: what is known of a pointer, and advice on managed memory, which is one coherent memory here.
#include <cstring>

#include "driver/entries.h"
#include "driver/memory.h"
#include "driver/pool.h"
#include "driver/stream.h"
#include "driver/work.h"

namespace strata::driver {
namespace {

template <class T>
CUresult give(void *data, T value) {
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

bool hostSide(const Allocation &a) { return !a.onDevice(); }

CUresult attributeOf(const Allocation &a, CUpointer_attribute attribute, std::uint64_t address, void *data) {
  bool reachable = hostSide(a) || a.kind == MemoryKind::managed;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return give(data, a.context ? a.context->handle : nullptr);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give(data, static_cast<unsigned>(hostSide(a) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return give(data, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      give(data, reachable ? address : 0);
      return reachable ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS: return CUDA_ERROR_NOT_SUPPORTED;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return give(data, 1u);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return give(data, static_cast<unsigned long long>(a.id));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return give(data, a.kind == MemoryKind::managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: {
      const Device *device = a.device ? a.device : a.context ? &a.context->device : nullptr;
      return give(data, device ? device->ordinal : static_cast<int>(CU_DEVICE_CPU));
    }
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: return give(data, a.kind == MemoryKind::device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return give(data, a.base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return give(data, a.size);
    case CU_POINTER_ATTRIBUTE_MAPPED: return give(data, true);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return give(data, std::uint64_t{0});
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: return give(data, false);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: return give(data, static_cast<unsigned>(a.access));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return give(data, a.pool ? a.pool->handle : nullptr);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return give(data, a.size);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return give(data, a.base);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return give(data, a.id);
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return give(data, false);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

// For cuPointerGetAttributes, which answers for memory that the driver does not know, too.
void giveUnknown(CUpointer_attribute attribute, void *data) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: give(data, static_cast<int>(CU_DEVICE_INVALID)); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: give(data, 0u); break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: give(data, false); break;
    default: give(data, std::uint64_t{0});
  }
}

bool knownAttribute(CUpointer_attribute attribute) {
  return attribute >= CU_POINTER_ATTRIBUTE_CONTEXT && attribute <= CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE;
}

CUresult checkManaged(CUdeviceptr address, std::size_t bytes) {
  auto found = Memory::get().find(address);
  if (found && found->kind != MemoryKind::managed) return CUDA_ERROR_INVALID_VALUE;
  if (found && !Memory::get().covers(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;  // pageable memory may be advised on, too
}

bool validLocation(const CUmemLocation &location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return findDevice(location.id);
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return true;
    default: return false;
  }
}

CUmemLocation locationOf(CUdevice device) {
  if (device == CU_DEVICE_CPU) return {CU_MEM_LOCATION_TYPE_HOST, 0};
  return {CU_MEM_LOCATION_TYPE_DEVICE, device};
}

}  // namespace

CUresult entry::cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr) {
  if (!data || !ptr || !knownAttribute(attribute)) return CUDA_ERROR_INVALID_VALUE;
  auto found = Memory::get().find(ptr);
  return found ? attributeOf(*found, attribute, ptr, data) : CUDA_ERROR_INVALID_VALUE;
}

CUresult entry::cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
                                       CUdeviceptr ptr) {
  if (!numAttributes || !validList(attributes, numAttributes) || !data) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < numAttributes; ++i)
    if (!knownAttribute(attributes[i]) || !data[i]) return CUDA_ERROR_INVALID_VALUE;
  auto found = Memory::get().find(ptr);
  for (unsigned i = 0; i < numAttributes; ++i) {
    if (found) attributeOf(*found, attributes[i], ptr, data[i]);
    else giveUnknown(attributes[i], data[i]);
  }
  return CUDA_SUCCESS;
}

CUresult entry::cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr) {
  if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
  // Synchronous operations are always synchronised here, which is what the attribute asks for.
  return Memory::get().find(ptr) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult entry::cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location) {
  if (!devPtr || !count || advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
    return CUDA_ERROR_INVALID_VALUE;
  bool needsLocation =
      advice >= CU_MEM_ADVISE_SET_PREFERRED_LOCATION && advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
  if (needsLocation && !validLocation(location)) return CUDA_ERROR_INVALID_DEVICE;
  return checkManaged(devPtr, count);  // one memory serves all: advice changes no placement
}

CUresult entry::cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device) {
  return cuMemAdvise_v2(devPtr, count, advice, locationOf(device));
}

CUresult entry::cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                                      CUstream hStream) {
  if (!devPtr || !count || flags) return CUDA_ERROR_INVALID_VALUE;
  if (!validLocation(location)) return CUDA_ERROR_INVALID_DEVICE;
  if (CUresult result = checkManaged(devPtr, count); result != CUDA_SUCCESS) return result;
  Ref<Stream> stream;
  if (CUresult result = resolveStream(hStream, stream); result != CUDA_SUCCESS) return result;
  return issue(*stream, NoWork{});  // it keeps its place in the stream; there is nowhere else to move the data
}

CUresult entry::cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream) {
  return cuMemPrefetchAsync_v2(devPtr, count, locationOf(dstDevice), 0, hStream);
}

CUresult entry::cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr devPtr,
                                       size_t count) {
  if (!data || !dataSize || !devPtr || !count) return CUDA_ERROR_INVALID_VALUE;
  auto found = Memory::get().find(devPtr);
  if (!found || found->kind != MemoryKind::managed || !Memory::get().covers(devPtr, count))
    return CUDA_ERROR_INVALID_VALUE;
  // Advice is not kept: it would have no effect, so the answers are those of memory without advice.
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: return dataSize == 4 ? give(data, 0) : CUDA_ERROR_INVALID_VALUE;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      return dataSize == 4 ? give(data, static_cast<int>(CU_DEVICE_INVALID)) : CUDA_ERROR_INVALID_VALUE;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: {
      if (dataSize % 4) return CUDA_ERROR_INVALID_VALUE;
      int invalid = CU_DEVICE_INVALID;
      for (size_t i = 0; i < dataSize / 4; ++i) std::memcpy(static_cast<char *>(data) + 4 * i, &invalid, 4);
      return CUDA_SUCCESS;
    }
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      return dataSize == 4 ? give(data, CU_MEM_LOCATION_TYPE_INVALID) : CUDA_ERROR_INVALID_VALUE;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      return dataSize == 4 ? give(data, 0) : CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult entry::cuMemRangeGetAttributes(void **data, size_t *dataSizes, CUmem_range_attribute *attributes,
                                        size_t numAttributes, CUdeviceptr devPtr, size_t count) {
  if (!data || !dataSizes || !numAttributes || !validList(attributes, numAttributes)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < numAttributes; ++i) {
    CUresult result = cuMemRangeGetAttribute(data[i], dataSizes[i], attributes[i], devPtr, count);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

}  // namespace strata::driver
