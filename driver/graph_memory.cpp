// SPDX-License-Identifier: Apache-2.0
#include "driver/graph_memory.h"

#include "driver/entries.h"
#include "driver/memory.h"

namespace strata::driver {
namespace {

struct Usage {
  std::atomic<std::uint64_t> current{0}, high{0};  // bytes
};
Usage &usageOf(const Device &device) {
  static auto &all = *new std::vector<Usage>(devices().size());
  return all[static_cast<std::size_t>(device.ordinal)];
}

}  // namespace

CUresult GraphMemory::create(Device &device, std::uint64_t bytes, Ref<GraphMemory> &memory) {
  Allocation wanted;
  wanted.size = bytes;
  wanted.kind = MemoryKind::graph;
  wanted.device = &device;
  std::uint64_t base = 0;
  if (CUresult result = Memory::get().allocate(wanted, base); result != CUDA_SUCCESS) return result;
  Usage &usage = usageOf(device);
  usage.high = std::max(usage.high.load(), usage.current += bytes);
  memory = Ref<GraphMemory>::adopt(new GraphMemory(base));
  return CUDA_SUCCESS;
}

GraphMemory::~GraphMemory() {
  auto released = Memory::get().release(base_);
  if (released) usageOf(*released->device).current -= released->size;
}

CUresult entry::cuDeviceGraphMemTrim(CUdevice device) {
  if (!findDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  Memory::get().ranges().trim(0);
  return CUDA_SUCCESS;
}

CUresult entry::cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value) {
  Device *found = findDevice(device);
  if (!value || attr > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) return CUDA_ERROR_INVALID_VALUE;
  if (!found) return CUDA_ERROR_INVALID_DEVICE;
  bool current = attr == CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT || attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT;
  Usage &usage = usageOf(*found);
  *static_cast<cuuint64_t *>(value) = current ? usage.current : usage.high;
  return CUDA_SUCCESS;
}

CUresult entry::cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value) {
  Device *found = findDevice(device);
  bool high = attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
  if (!value || !high || *static_cast<cuuint64_t *>(value) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!found) return CUDA_ERROR_INVALID_DEVICE;
  usageOf(*found).high = usageOf(*found).current.load();
  return CUDA_SUCCESS;
}

}  // namespace strata::driver
