// SPDX-License-Identifier: Apache-2.0
#include "runtime/context.h"

#include <array>
#include <mutex>

#include "base/log.h"
#include "runtime/error.h"
#include "runtime/registry.h"

namespace strata::runtime {
namespace {

struct Contexts {
  std::mutex mutex;
  std::array<Context *, kMaxContexts> slots{};
  int count = 0;
  // Primary contexts by device; null or not alive: to be retained.
  std::array<std::atomic<Context *>, kMaxContexts> primary{};
};
Contexts &contexts() {
  static Contexts &instance = *new Contexts;
  return instance;
}

// Initial-exec: a launch must not pay for a call to find its thread.
[[gnu::tls_model("initial-exec")]] constinit thread_local Thread gThread;

// A slot for `handle`, which is alive: the one it has, a dead one, or a new one. Under the mutex.
Context *slotFor(CUcontext handle, CUdevice device) {
  Contexts &all = contexts();
  for (int i = 0; i < all.count; ++i)
    if (all.slots[i]->alive && all.slots[i]->handle == handle) return all.slots[i];
  for (int i = 0; i < all.count; ++i) {
    Context *slot = all.slots[i];
    if (slot->alive) continue;
    slot->handle = handle;
    slot->device = device;
    slot->alive = true;
    return slot;
  }
  if (all.count == kMaxContexts) return nullptr;
  Context *slot = new Context{handle, device, all.count};
  all.slots[all.count++] = slot;
  return slot;
}

cudaError_t tooManyContexts() {
  log::once(log::Level::error, "contexts", "more than " + std::to_string(kMaxContexts) + " contexts in one process");
  return cudaErrorDevicesUnavailable;
}

// The current context was made by the program, or is one that has been reset.
cudaError_t adoptContext(CUcontext current, Context *&context) {
  CUdevice device;
  if (driver().cuCtxGetDevice(&device) != CUDA_SUCCESS) return cudaErrorContextIsDestroyed;
  std::lock_guard lock(contexts().mutex);
  context = slotFor(current, device);
  return context ? cudaSuccess : tooManyContexts();
}

cudaError_t rebind(CUcontext current, Context *&context) {
  Thread &t = gThread;
  // A handle that belongs to a context which was reset counts as none, whatever the driver still says of it.
  bool dead = t.context && !t.context->alive && t.context->handle == current;
  if (!current || dead || adoptContext(current, context) != cudaSuccess) {
    if (cudaError_t error = primaryContext(t.device, context)) return error;
    if (CUresult result = driver().cuCtxSetCurrent(context->handle)) return toError(result);
  }
  t.context = context;
  t.device = context->device;
  return cudaSuccess;
}

}  // namespace

Thread &thread() { return gThread; }

cudaError_t openDevices() {
  if (cuda::openDriver()) return cudaSuccess;
  CUresult error = cuda::driverError();
  // No libcuda at all.
  return error == CUDA_ERROR_NOT_INITIALIZED ? cudaErrorInsufficientDriver : toError(error);
}

cudaError_t checkDevice(int device) {
  if (cudaError_t error = openDevices()) return error;
  int count = 0;
  if (CUresult result = driver().cuDeviceGetCount(&count)) return toError(result);
  return device >= 0 && device < count && device < kMaxContexts ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t bindContext(Context *&context) {
  if (!cuda::gDriver.load(std::memory_order_acquire))
    if (cudaError_t error = openDevices()) return error;
  CUcontext current = nullptr;
  if (CUresult result = driver().cuCtxGetCurrent(&current)) return toError(result);
  context = gThread.context;
  if (context && context->handle == current && context->alive.load(std::memory_order_acquire)) return cudaSuccess;
  return rebind(current, context);
}

cudaError_t primaryContext(int device, Context *&context) {
  if (cudaError_t error = checkDevice(device)) return error;
  std::atomic<Context *> &primary = contexts().primary[device];
  context = primary.load(std::memory_order_acquire);
  if (context && context->alive.load(std::memory_order_acquire)) return cudaSuccess;
  std::lock_guard lock(contexts().mutex);
  context = primary.load();
  if (context && context->alive) return cudaSuccess;
  CUdevice handle;
  CUcontext retained;
  if (CUresult result = driver().cuDeviceGet(&handle, device)) return toError(result);
  if (CUresult result = driver().cuDevicePrimaryCtxRetain(&retained, handle)) return toError(result);
  context = slotFor(retained, handle);
  if (!context) return tooManyContexts();
  primary = context;
  return cudaSuccess;
}

cudaError_t selectDevice(int device) {
  Context *context;
  if (cudaError_t error = primaryContext(device, context)) return error;
  if (CUresult result = driver().cuCtxSetCurrent(context->handle)) return toError(result);
  gThread.device = device;
  gThread.context = context;
  return cudaSuccess;
}

int currentDevice() {
  CUcontext current = nullptr;
  CUdevice device;
  if (!cuda::gDriver.load(std::memory_order_acquire)) return gThread.device;
  if (driver().cuCtxGetCurrent(&current) != CUDA_SUCCESS || !current) return gThread.device;
  return driver().cuCtxGetDevice(&device) == CUDA_SUCCESS ? device : gThread.device;
}

cudaError_t resetDevice(int device) {
  if (cudaError_t error = checkDevice(device)) return error;
  CUdevice handle;
  if (CUresult result = driver().cuDeviceGet(&handle, device)) return toError(result);
  std::lock_guard lock(contexts().mutex);
  Context *context = contexts().primary[device].exchange(nullptr);
  if (context) {
    dropLoaded(*context);
    context->alive = false;
    driver().cuDevicePrimaryCtxRelease(handle);
  }
  CUresult result = driver().cuDevicePrimaryCtxReset(handle);
  if (gThread.context == context) driver().cuCtxSetCurrent(nullptr);
  return toError(result);
}

}  // namespace strata::runtime
