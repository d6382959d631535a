// SPDX-License-Identifier: Apache-2.0
#include "driver/device.h"

#include <fmt/format.h>
#include <pthread.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include "base/environment.h"
#include "base/knobs.h"
#include "base/log.h"
#include "driver/context.h"
#include "driver/cpu.h"
#include "driver/entries.h"
#include "driver/entry.h"
#include "driver/machine_memory.h"
#include "driver/memory.h"
#include "driver/pool.h"
#include "driver/visible_devices.h"

namespace strata::driver {
namespace {

std::uint64_t fnv(std::uint64_t hash, std::string_view text) {
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

CUuuid uuidOf(int number) {
  std::string seed = cpu().machineId + cpu().model + std::to_string(number);
  std::uint64_t words[2] = {fnv(0xcbf29ce484222325, seed), fnv(0x9e3779b97f4a7c15, seed)};
  CUuuid uuid;
  static_assert(sizeof words == sizeof uuid.bytes);
  std::memcpy(uuid.bytes, words, sizeof words);
  uuid.bytes[6] = static_cast<char>((uuid.bytes[6] & 0x0f) | 0x50);  // RFC 4122: version 5, from a name
  uuid.bytes[8] = static_cast<char>((uuid.bytes[8] & 0x3f) | 0x80);
  return uuid;
}

void makeDevices() {
  const char *wanted = environment("CUDA_VISIBLE_DEVICES");
  std::vector<CUuuid> uuids;
  for (int i = 0; i < knobs::get().STRATA_DEVICE_COUNT; ++i) uuids.push_back(uuidOf(i));
  for (int number : visibleDevices(wanted, uuids))
    devices().push_back(new Device(static_cast<int>(devices().size()), number));
  if (devices().empty() && !uuids.empty())
    log::info(fmt::format("CUDA_VISIBLE_DEVICES={} hides all CPU devices", wanted));
}

}  // namespace

Device::Device(int ordinal, int number) : ordinal(ordinal), number(number) {
  const auto &knobs = knobs::get();
  totalMemory_ = knobs.STRATA_MEMORY > 0 ? static_cast<std::uint64_t>(knobs.STRATA_MEMORY) : machineMemory() / 4 * 3;
  workers_ = knobs.STRATA_WORKERS > 0 ? static_cast<std::uint32_t>(knobs.STRATA_WORKERS)
                                      : std::max(1u, std::thread::hardware_concurrency());
  name_ = fmt::format("Strata CPU ({})", cpu().model);
}

CUuuid Device::uuid() const { return uuidOf(number); }

simt::Engine &Device::engine() {
  std::call_once(engineOnce_, [this] { engine_ = simt::makeEngine(workers_, Memory::get().ranges().window()); });
  return *engine_;
}

Context &Device::primary() {
  std::call_once(primaryOnce_, [this] {
    primary_ = makeRef<Context>(*this, 0u, true);
    primary_->handle = handles<Context, CUcontext>().add(primary_);
  });
  return *primary_;
}

std::vector<Device *> &devices() {
  static auto &all = *new std::vector<Device *>;
  return all;
}

Device *findDevice(CUdevice device) {
  auto &all = devices();
  return device >= 0 && static_cast<std::size_t>(device) < all.size() ? all[device] : nullptr;
}

CUresult entry::cuInit(unsigned int Flags) {
  if (processState.load() == ProcessState::forked) return CUDA_ERROR_NOT_INITIALIZED;
  if (Flags) return CUDA_ERROR_INVALID_VALUE;
  static std::once_flag once;
  std::call_once(once, [] {
    knobs::report();
    makeDevices();
    pthread_atfork(nullptr, nullptr, [] { processState.store(ProcessState::forked); });
    if (!devices().empty()) processState.store(ProcessState::ready);
  });
  return devices().empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

CUresult entry::cuDriverGetVersion(int *driverVersion) {
  if (!driverVersion) return CUDA_ERROR_INVALID_VALUE;
  *driverVersion = CUDA_VERSION;
  return CUDA_SUCCESS;
}

CUresult entry::cuDeviceGet(CUdevice *device, int ordinal) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  if (!findDevice(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult entry::cuDeviceGetCount(int *count) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(devices().size());
  return CUDA_SUCCESS;
}

CUresult entry::cuDeviceGetName(char *name, int len, CUdevice dev) {
  Device *device = findDevice(dev);
  if (!name || len <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(name, static_cast<std::size_t>(len), "%s", device->name().c_str());
  return CUDA_SUCCESS;
}

CUresult entry::cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev) {
  Device *device = findDevice(dev);
  if (!uuid) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  *uuid = device->uuid();
  return CUDA_SUCCESS;
}

CUresult entry::cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev) {
  Device *device = findDevice(dev);
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = device->totalMemory();
  return CUDA_SUCCESS;
}

CUresult entry::cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev) {
  Device *device = findDevice(dev);
  if (!pi) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  return deviceAttribute(*device, attrib, *pi) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult entry::cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev) {
  if (!pi || type >= CU_EXEC_AFFINITY_TYPE_MAX) return CUDA_ERROR_INVALID_VALUE;
  if (!findDevice(dev)) return CUDA_ERROR_INVALID_DEVICE;
  *pi = 0;
  return CUDA_SUCCESS;
}

CUresult entry::cuDeviceGetProperties(CUdevprop *prop, CUdevice dev) {
  Device *device = findDevice(dev);
  if (!prop) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  struct Field {
    int *place;
    CUdevice_attribute attribute;
  };
  const Field fields[] = {
      {&prop->maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
      {&prop->maxThreadsDim[0], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X},
      {&prop->maxThreadsDim[1], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y},
      {&prop->maxThreadsDim[2], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
      {&prop->maxGridSize[0], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X},
      {&prop->maxGridSize[1], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y},
      {&prop->maxGridSize[2], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z},
      {&prop->sharedMemPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
      {&prop->totalConstantMemory, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
      {&prop->SIMDWidth, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
      {&prop->memPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH},
      {&prop->regsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
      {&prop->clockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
      {&prop->textureAlign, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT},
  };
  for (const Field &field : fields) deviceAttribute(*device, field.attribute, *field.place);
  return CUDA_SUCCESS;
}

CUresult entry::cuDeviceComputeCapability(int *major, int *minor, CUdevice dev) {
  Device *device = findDevice(dev);
  if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  deviceAttribute(*device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, *major);
  deviceAttribute(*device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, *minor);
  return CUDA_SUCCESS;
}

// Addresses "domain:bus:device.function" that name no real slot: bus numbers count the devices from 1.
CUresult entry::cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev) {
  Device *device = findDevice(dev);
  if (!pciBusId) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  std::string text = fmt::format("0000:{:02X}:00.0", device->ordinal + 1);
  if (len <= static_cast<int>(text.size())) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(pciBusId, text.c_str(), text.size() + 1);
  return CUDA_SUCCESS;
}

CUresult entry::cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId) {
  if (!dev || !pciBusId) return CUDA_ERROR_INVALID_VALUE;
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  if (std::sscanf(pciBusId, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4) {
    domain = 0;
    if (std::sscanf(pciBusId, "%x:%x.%x", &bus, &slot, &function) < 2) return CUDA_ERROR_INVALID_VALUE;
  }
  if (domain || slot || bus < 1 || bus > devices().size()) return CUDA_ERROR_INVALID_DEVICE;
  *dev = static_cast<int>(bus) - 1;
  return CUDA_SUCCESS;
}

CUresult entry::cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev) {
  if (!canAccessPeer) return CUDA_ERROR_INVALID_VALUE;
  if (!findDevice(dev) || !findDevice(peerDev)) return CUDA_ERROR_INVALID_DEVICE;
  *canAccessPeer = dev != peerDev;
  return CUDA_SUCCESS;
}

CUresult entry::cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                        CUdevice dstDevice) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if (!findDevice(srcDevice) || !findDevice(dstDevice) || srcDevice == dstDevice) return CUDA_ERROR_INVALID_DEVICE;
  switch (attrib) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK: *value = 0; return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED: *value = 1; return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED: *value = 0; return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace strata::driver
