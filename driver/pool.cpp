// SPDX-License-Identifier: Apache-2.0
#include "driver/pool.h"

#include <cstring>

#include "driver/capture.h"
#include "driver/entries.h"
#include "driver/memory.h"
#include "driver/scheduler.h"
#include "driver/work.h"

namespace strata::driver {

CUresult Pool::allocate(std::uint64_t bytes, std::uint64_t &base) {
  if (maxSize && used.load() + bytes > maxSize) return CUDA_ERROR_OUT_OF_MEMORY;
  Allocation wanted;
  wanted.size = bytes;
  wanted.kind = MemoryKind::pool;
  wanted.device = &device;
  wanted.pool = this;
  CUresult result = Memory::get().allocate(wanted, base);
  if (result != CUDA_SUCCESS) return result;
  std::uint64_t now = used.fetch_add(bytes) + bytes;
  for (std::uint64_t high = usedHigh.load(); now > high && !usedHigh.compare_exchange_weak(high, now);) {}
  retain();  // released with the allocation
  return CUDA_SUCCESS;
}

Pool &Device::defaultPool() {
  std::call_once(poolOnce_, [this] {
    defaultPool_ = makeRef<Pool>(*this, 0u);
    defaultPool_->handle = handles<Pool, CUmemoryPool>().add(defaultPool_);
    currentPool_ = defaultPool_;
  });
  return *defaultPool_;
}

Pool &Device::currentPool() {
  defaultPool();
  std::lock_guard lock(poolMutex_);
  return *currentPool_;
}

CUresult Device::setCurrentPool(Pool &pool) {
  if (&pool.device != this) return CUDA_ERROR_INVALID_VALUE;
  defaultPool();
  std::lock_guard lock(poolMutex_);
  currentPool_ = Ref<Pool>(&pool);
  return CUDA_SUCCESS;
}

namespace {

class FreeOperation final : public Operation {
public:
  explicit FreeOperation(std::uint64_t base) : base_(base) {}
  bool start(Turn &) override {
    Memory::get().release(base_);
    return true;
  }
  void skip(CUresult) override { Memory::get().release(base_); }

private:
  std::uint64_t base_;
};

Pool *findPool(CUmemoryPool handle) { return handles<Pool, CUmemoryPool>().find(handle); }

CUresult allocateAsync(CUdeviceptr *dptr, size_t bytes, Pool &pool, CUstream handle) {
  Ref<Stream> stream;
  if (CUresult result = resolveStream(handle, stream); result != CUDA_SUCCESS) return result;
  if (CUresult result = checkImplicit(*stream); result != CUDA_SUCCESS) return result;
  if (bytes == 0) {
    *dptr = 0;
    return CUDA_SUCCESS;
  }
  if (stream->capturing()) return captureAllocation(*stream, pool, bytes, *dptr);
  std::uint64_t base = 0;
  CUresult result = pool.allocate(bytes, base);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {  // frees that were issued may be on their way
    synchronize(stream->context);
    result = pool.allocate(bytes, base);
  }
  if (result == CUDA_SUCCESS) *dptr = base;
  return result;
}

}  // namespace

OperationPtr makeFree(std::uint64_t base) { return std::make_unique<FreeOperation>(base); }

CUresult entry::cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
  if (!dptr) return CUDA_ERROR_INVALID_VALUE;
  return allocateAsync(dptr, bytesize, currentContext()->device.currentPool(), hStream);
}

CUresult entry::cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream) {
  Pool *found = findPool(pool);
  if (!dptr || !found) return CUDA_ERROR_INVALID_VALUE;
  return allocateAsync(dptr, bytesize, *found, hStream);
}

CUresult entry::cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
  Ref<Stream> stream;
  if (CUresult result = resolveStream(hStream, stream); result != CUDA_SUCCESS) return result;
  if (!dptr) return CUDA_SUCCESS;
  if (CUresult result = checkImplicit(*stream); result != CUDA_SUCCESS) return result;
  if (stream->capturing()) return captureFree(*stream, dptr);
  if (Memory::get().findBase(dptr, bit(MemoryKind::graph))) return CUDA_SUCCESS;  // see graph_memory.h
  constexpr unsigned kKinds = bit(MemoryKind::device) | bit(MemoryKind::managed) | bit(MemoryKind::pool);
  if (!Memory::get().findBase(dptr, kKinds)) return CUDA_ERROR_INVALID_VALUE;
  bool first = false;
  Memory::get().update(dptr, [&](Allocation &allocation) { first = !std::exchange(allocation.freeing, true); });
  if (!first) return CUDA_ERROR_INVALID_VALUE;
  submit(*stream, makeFree(dptr));
  return CUDA_SUCCESS;
}

CUresult entry::cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps) {
  if (!pool || !poolProps) return CUDA_ERROR_INVALID_VALUE;
  if (poolProps->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
  if (poolProps->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  Device *device = findDevice(poolProps->location.id);
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  auto made = makeRef<Pool>(*device, poolProps->maxSize);
  made->handle = handles<Pool, CUmemoryPool>().add(made);
  if (!made->handle) return CUDA_ERROR_OUT_OF_MEMORY;
  *pool = made->handle;
  return CUDA_SUCCESS;
}

CUresult entry::cuMemPoolDestroy(CUmemoryPool pool) {
  Pool *found = findPool(pool);
  if (!found || found == &found->device.defaultPool()) return CUDA_ERROR_INVALID_VALUE;
  if (&found->device.currentPool() == found) found->device.setCurrentPool(found->device.defaultPool());
  handles<Pool, CUmemoryPool>().remove(pool);
  return CUDA_SUCCESS;
}

CUresult entry::cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep) {
  if (!findPool(pool)) return CUDA_ERROR_INVALID_VALUE;
  Memory::get().ranges().trim(minBytesToKeep);
  return CUDA_SUCCESS;
}

CUresult entry::cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value) {
  Pool *found = findPool(pool);
  if (!found || !value) return CUDA_ERROR_INVALID_VALUE;
  switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      found->reuseFlags[attr - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = *static_cast<int *>(value);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      found->releaseThreshold = *static_cast<cuuint64_t *>(value);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      if (*static_cast<cuuint64_t *>(value) != 0) return CUDA_ERROR_INVALID_VALUE;  // it can only be reset
      found->usedHigh = found->used.load();
      return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult entry::cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value) {
  Pool *found = findPool(pool);
  if (!found || !value) return CUDA_ERROR_INVALID_VALUE;
  auto *number = static_cast<cuuint64_t *>(value);
  switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      *static_cast<int *>(value) = found->reuseFlags[attr - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: *number = found->releaseThreshold; return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: *number = found->used; return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: *number = found->usedHigh; return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

// Every device of the process can access every pool; taking the access away is not supported.
CUresult entry::cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count) {
  if (!findPool(pool) || !validList(map, count)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    if (!findDevice(map[i].location.id)) return CUDA_ERROR_INVALID_DEVICE;
    if (map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_SUCCESS;
}

CUresult entry::cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location) {
  if (!flags || !location || !findPool(memPool)) return CUDA_ERROR_INVALID_VALUE;
  if (location->type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
  if (!findDevice(location->id)) return CUDA_ERROR_INVALID_DEVICE;
  *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CUDA_SUCCESS;
}

CUresult entry::cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev) {
  Device *device = findDevice(dev);
  if (!pool_out) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  *pool_out = device->defaultPool().handle;
  return CUDA_SUCCESS;
}

CUresult entry::cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev) {
  Device *device = findDevice(dev);
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  *pool = device->currentPool().handle;
  return CUDA_SUCCESS;
}

CUresult entry::cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
  Device *device = findDevice(dev);
  Pool *found = findPool(pool);
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  return device->setCurrentPool(*found);
}

namespace {

CUresult deviceOf(const CUmemLocation *location, CUmemAllocationType type, Device *&device) {
  if (!location || type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (location->type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  device = findDevice(location->id);
  return device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace

CUresult entry::cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location, CUmemAllocationType type) {
  Device *device = nullptr;
  if (!pool_out) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = deviceOf(location, type, device);
  if (result == CUDA_SUCCESS) *pool_out = device->defaultPool().handle;
  return result;
}

CUresult entry::cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type) {
  Device *device = nullptr;
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = deviceOf(location, type, device);
  if (result == CUDA_SUCCESS) *pool = device->currentPool().handle;
  return result;
}

CUresult entry::cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool) {
  Device *device = nullptr;
  Pool *found = findPool(pool);
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = deviceOf(location, type, device);
  return result == CUDA_SUCCESS ? device->setCurrentPool(*found) : result;
}

}  // namespace strata::driver
