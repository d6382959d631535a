// SPDX-License-Identifier: Apache-2.0
// Primary contexts: one per device, counted. It is destroyed when its last user releases it, or when it is
// reset, and lives again at the next retain, under the same handle.
#include "driver/context.h"
#include "driver/entries.h"
#include "driver/stream.h"

namespace strata::driver {
namespace {

bool validFlags(unsigned flags) {
  unsigned schedule = flags & CU_CTX_SCHED_MASK;
  return !(flags & ~CU_CTX_FLAGS_MASK) && (schedule & (schedule - 1)) == 0;
}

}  // namespace

CUresult entry::cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev) {
  Device *device = findDevice(dev);
  if (!pctx) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  device->engine();
  Context &primary = device->primary();
  std::lock_guard lock(device->primaryMutex);
  if (!primary.alive()) primary.revive();
  ++device->primaryUses;
  primary.flags = device->primaryFlags | CU_CTX_MAP_HOST;
  *pctx = primary.handle;
  return CUDA_SUCCESS;
}

CUresult entry::cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
  Device *device = findDevice(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  std::lock_guard lock(device->primaryMutex);
  if (!device->primaryUses) return CUDA_ERROR_INVALID_CONTEXT;
  if (--device->primaryUses == 0 && device->primary().alive()) device->primary().destroy();
  return CUDA_SUCCESS;
}

CUresult entry::cuDevicePrimaryCtxReset_v2(CUdevice dev) {
  Device *device = findDevice(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  std::lock_guard lock(device->primaryMutex);
  if (device->primaryUses && device->primary().alive()) device->primary().destroy();
  device->primaryFlags = 0;
  return CUDA_SUCCESS;
}

CUresult entry::cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags) {
  Device *device = findDevice(dev);
  if (!validFlags(flags)) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  std::lock_guard lock(device->primaryMutex);
  device->primaryFlags = flags;
  if (device->primaryUses) device->primary().flags = flags | CU_CTX_MAP_HOST;
  return CUDA_SUCCESS;
}

CUresult entry::cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active) {
  Device *device = findDevice(dev);
  if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  std::lock_guard lock(device->primaryMutex);
  *flags = device->primaryFlags;
  *active = device->primaryUses && device->primary().alive();
  return CUDA_SUCCESS;
}

}  // namespace strata::driver
