// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: address ranges are parts of the window, physical memory is a memfd, a mapping is an
// mmap of it, access is mprotect. A memfd's descriptor is what is exported.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <map>
#include <mutex>

#include "driver/entries.h"
#include "driver/memory.h"
#include "driver/scheduler.h"
#include "driver/sealed_file.h"

namespace strata::driver {
namespace {

constexpr std::uint64_t kGranularity = std::uint64_t{2} << 20;
constexpr const char *kFileName = "strata-device-memory";

void *pointer(std::uint64_t address) { return reinterpret_cast<void *>(address); }

// Physical memory, alive while a handle or a mapping refers to it.
class Physical final : public Shared {
public:
  Physical(int file, std::uint64_t size, const CUmemAllocationProp &properties, Device &device)
      : file(file), size(size), properties(properties), device(device) {}
  ~Physical() override {
    close(file);
    device.used.fetch_sub(size);
  }
  const int file;
  const std::uint64_t size;
  const CUmemAllocationProp properties;
  Device &device;
  std::uint32_t handles = 1;  // cuMemCreate and cuMemRetainAllocationHandle; guarded by the state's mutex
  CUmemGenericAllocationHandle handle = 0;
};

using PhysicalTable = HandleTable<Physical, void *>;
PhysicalTable &physicals() { return handles<Physical, void *>(); }
Physical *findPhysical(CUmemGenericAllocationHandle handle) {
  return physicals().find(reinterpret_cast<void *>(handle));
}

struct Mapping {
  std::uint64_t size;
  Ref<Physical> physical;
  std::uint64_t offset;
};

struct State {
  std::mutex mutex;
  std::map<std::uint64_t, std::uint64_t> reservations;  // begin → bytes
  std::map<std::uint64_t, Mapping> mappings;            // begin
};
State &state() {
  static auto &known = *new State;
  return known;
}

// The reservation that holds the whole range.
bool reserved(const State &s, std::uint64_t begin, std::uint64_t size) {
  auto next = s.reservations.upper_bound(begin);
  if (next == s.reservations.begin()) return false;
  --next;
  return begin - next->first <= next->second && size <= next->second - (begin - next->first);
}

bool anyMapped(const State &s, std::uint64_t begin, std::uint64_t size) {
  auto next = s.mappings.lower_bound(begin);
  if (next != s.mappings.end() && next->first < begin + size) return true;
  return next != s.mappings.begin() && std::prev(next)->first + std::prev(next)->second.size > begin;
}

// The mappings that make up the range exactly; empty if the range cuts one or has a hole.
std::vector<std::uint64_t> mappingsOf(const State &s, std::uint64_t begin, std::uint64_t size) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t at = begin; at < begin + size;) {
    auto mapping = s.mappings.find(at);
    if (mapping == s.mappings.end() || mapping->second.size > begin + size - at) return {};
    found.push_back(at);
    at += mapping->second.size;
  }
  return found;
}

CUresult checkProperties(const CUmemAllocationProp &prop) {
  if (prop.type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (prop.requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  if (prop.location.type == CU_MEM_LOCATION_TYPE_INVALID) return CUDA_ERROR_INVALID_VALUE;
  if (prop.location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  return findDevice(prop.location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult addPhysical(int file, std::uint64_t size, const CUmemAllocationProp &prop,
                     CUmemGenericAllocationHandle *handle) {
  Device &device = *findDevice(prop.location.id);
  if (device.used.fetch_add(size) + size > device.totalMemory()) {
    device.used.fetch_sub(size);
    close(file);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  auto physical = makeRef<Physical>(file, size, prop, device);
  void *slot = physicals().add(physical);
  if (!slot) return CUDA_ERROR_OUT_OF_MEMORY;
  physical->handle = *handle = reinterpret_cast<CUmemGenericAllocationHandle>(slot);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult entry::cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                              CUmemAllocationGranularity_flags option) {
  if (!granularity || !prop || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) return CUDA_ERROR_INVALID_VALUE;
  *granularity = kGranularity;
  return CUDA_SUCCESS;
}

CUresult entry::cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                                    unsigned long long flags) {
  if (!ptr || !size || size % kGranularity || flags) return CUDA_ERROR_INVALID_VALUE;
  if (alignment && !std::has_single_bit(alignment)) return CUDA_ERROR_INVALID_VALUE;
  // addr is a wish, which is not followed: the window hands out its own addresses.
  std::uint64_t begin = Memory::get().ranges().reserve(size, std::max<std::uint64_t>(alignment, kGranularity));
  if (!begin) return CUDA_ERROR_OUT_OF_MEMORY;
  std::lock_guard lock(state().mutex);
  state().reservations[begin] = size;
  *ptr = begin;
  return CUDA_SUCCESS;
}

CUresult entry::cuMemAddressFree(CUdeviceptr ptr, size_t size) {
  State &s = state();
  {
    std::lock_guard lock(s.mutex);
    auto found = s.reservations.find(ptr);
    if (found == s.reservations.end() || found->second != size || anyMapped(s, ptr, size))
      return CUDA_ERROR_INVALID_VALUE;
    s.reservations.erase(found);
  }
  Memory::get().ranges().unreserve(ptr, size);
  return CUDA_SUCCESS;
}

CUresult entry::cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                            unsigned long long flags) {
  if (!handle || !prop || !size || size % kGranularity || flags) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = checkProperties(*prop); result != CUDA_SUCCESS) return result;
  if (size > findDevice(prop->location.id)->totalMemory()) return CUDA_ERROR_OUT_OF_MEMORY;
  int file = makeSealedFile(kFileName, size);
  if (file < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  return addPhysical(file, size, *prop, handle);
}

CUresult entry::cuMemRelease(CUmemGenericAllocationHandle handle) {
  std::lock_guard lock(state().mutex);
  Physical *physical = findPhysical(handle);
  if (!physical) return CUDA_ERROR_INVALID_VALUE;
  if (--physical->handles == 0) physicals().remove(reinterpret_cast<void *>(handle));
  return CUDA_SUCCESS;
}

CUresult entry::cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                         unsigned long long flags) {
  if (!ptr || !size || flags || ptr % kGranularity || size % kGranularity || offset % kGranularity)
    return CUDA_ERROR_INVALID_VALUE;
  State &s = state();
  std::lock_guard lock(s.mutex);
  Physical *physical = findPhysical(handle);
  if (!physical || offset > physical->size || size > physical->size - offset) return CUDA_ERROR_INVALID_VALUE;
  if (!reserved(s, ptr, size) || anyMapped(s, ptr, size)) return CUDA_ERROR_INVALID_VALUE;
  void *mapped =
      mmap(pointer(ptr), size, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->file, static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  s.mappings[ptr] = {size, Ref<Physical>(physical), offset};
  Allocation known;
  known.base = ptr;
  known.size = size;
  known.kind = MemoryKind::mapped;
  known.device = &physical->device;
  known.access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  Memory::get().adopt(known);
  return CUDA_SUCCESS;
}

CUresult entry::cuMemUnmap(CUdeviceptr ptr, size_t size) {
  if (!ptr || !size) return CUDA_ERROR_INVALID_VALUE;
  // Work that still uses the mapping ends first, as with cuMemFree.
  if (Context *context = currentContext()) synchronize(*context);
  State &s = state();
  std::lock_guard lock(s.mutex);
  if (!reserved(s, ptr, size)) return CUDA_ERROR_INVALID_VALUE;
  if (!anyMapped(s, ptr, size)) return CUDA_SUCCESS;
  std::vector<std::uint64_t> parts = mappingsOf(s, ptr, size);
  if (parts.empty()) return CUDA_ERROR_INVALID_VALUE;
  for (std::uint64_t part : parts) {
    Memory::get().release(part);
    s.mappings.erase(part);
  }
  mmap(pointer(ptr), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return CUDA_SUCCESS;
}

CUresult entry::cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count) {
  if (!ptr || !size || !count || !validList(desc, count)) return CUDA_ERROR_INVALID_VALUE;
  // All devices of the process share one mapping: the last word of the list holds for all.
  CUmemAccess_flags access = desc[count - 1].flags;
  for (size_t i = 0; i < count; ++i) {
    if (desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE && !findDevice(desc[i].location.id))
      return CUDA_ERROR_INVALID_DEVICE;
    if (desc[i].location.type == CU_MEM_LOCATION_TYPE_INVALID) return CUDA_ERROR_INVALID_VALUE;
  }
  int protection = PROT_NONE;
  if (access == CU_MEM_ACCESS_FLAGS_PROT_READ) protection = PROT_READ;
  else if (access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) protection = PROT_READ | PROT_WRITE;
  else if (access != CU_MEM_ACCESS_FLAGS_PROT_NONE) return CUDA_ERROR_INVALID_VALUE;
  State &s = state();
  std::lock_guard lock(s.mutex);
  std::vector<std::uint64_t> parts = mappingsOf(s, ptr, size);
  if (parts.empty()) return CUDA_ERROR_INVALID_VALUE;
  if (mprotect(pointer(ptr), size, protection) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  for (std::uint64_t part : parts) Memory::get().update(part, [&](Allocation &a) { a.access = access; });
  return CUDA_SUCCESS;
}

CUresult entry::cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr) {
  if (!flags || !location || !ptr) return CUDA_ERROR_INVALID_VALUE;
  auto found = Memory::get().find(ptr);
  if (!found || found->kind != MemoryKind::mapped) return CUDA_ERROR_INVALID_VALUE;
  *flags = static_cast<unsigned long long>(found->access);
  return CUDA_SUCCESS;
}

CUresult entry::cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                             CUmemAllocationHandleType handleType, unsigned long long flags) {
  if (!shareableHandle || flags || handleType == CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(state().mutex);
  Physical *physical = findPhysical(handle);
  if (!physical) return CUDA_ERROR_INVALID_VALUE;
  if (handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  if (!(physical->properties.requestedHandleTypes & handleType)) return CUDA_ERROR_INVALID_VALUE;
  int file = fcntl(physical->file, F_DUPFD_CLOEXEC, 0);
  if (file < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  *static_cast<int *>(shareableHandle) = file;
  return CUDA_SUCCESS;
}

CUresult entry::cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                               CUmemAllocationHandleType shHandleType) {
  if (!handle || shHandleType == CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_INVALID_VALUE;
  if (shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  int file = fcntl(static_cast<int>(reinterpret_cast<std::intptr_t>(osHandle)), F_DUPFD_CLOEXEC, 0);
  struct stat info{};
  if (file < 0) return CUDA_ERROR_INVALID_VALUE;
  // Memory of another process of ours, which it cannot take away any more; no file that happens to be open.
  if (fstat(file, &info) != 0 || info.st_size <= 0 || info.st_size % kGranularity ||
      !isSealedFile(file, static_cast<std::uint64_t>(info.st_size)) || nameOfSealedFile(file) != kFileName) {
    close(file);
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  Context *context = currentContext();
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, context ? context->device.ordinal : 0};
  return addPhysical(file, static_cast<std::uint64_t>(info.st_size), prop, handle);
}

CUresult entry::cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle) {
  if (!prop) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(state().mutex);
  Physical *physical = findPhysical(handle);
  if (!physical) return CUDA_ERROR_INVALID_VALUE;
  *prop = physical->properties;
  return CUDA_SUCCESS;
}

CUresult entry::cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr) {
  if (!handle || !addr) return CUDA_ERROR_INVALID_VALUE;
  State &s = state();
  std::lock_guard lock(s.mutex);
  auto next = s.mappings.upper_bound(reinterpret_cast<std::uint64_t>(addr));
  if (next == s.mappings.begin()) return CUDA_ERROR_INVALID_VALUE;
  --next;
  if (reinterpret_cast<std::uint64_t>(addr) - next->first >= next->second.size) return CUDA_ERROR_INVALID_VALUE;
  Physical &physical = *next->second.physical;
  if (physical.handles == 0) {  // all were released: the object gets a new one
    void *slot = physicals().add(next->second.physical);
    if (!slot) return CUDA_ERROR_OUT_OF_MEMORY;
    physical.handle = reinterpret_cast<CUmemGenericAllocationHandle>(slot);
  }
  ++physical.handles;
  *handle = physical.handle;
  return CUDA_SUCCESS;
}

}  // namespace strata::driver
