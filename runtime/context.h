// SPDX-License-Identifier: Apache-2.0
// Devices and contexts. The runtime works in the calling thread's current context; a thread without one gets
// the primary context of its selected device, retained at the first use. A program may make any context
// current through the driver API.
#pragma once

#include <atomic>

#include "cuda/driver.h"
#include "toolkit/include/cuda.h"
#include "toolkit/include/driver_types.h"

namespace strata::runtime {

using cuda::driver;
using cuda::Driver;

inline constexpr int kMaxContexts = 64;

// A context that the runtime has seen. Slots are never freed; what is cached per context is indexed by
// `slot`.
struct Context {
  CUcontext handle;
  CUdevice device;
  int slot;
  std::atomic<bool> alive{true};  // false after cudaDeviceReset: handle and everything in it are gone
};

struct Thread {
  int device = 0;              // selected by cudaSetDevice
  Context *context = nullptr;  // the last bound one
};
Thread &thread();

// Makes sure that the driver is open and the calling thread has a living context; `context` receives it.
cudaError_t bindContext(Context *&context);
inline cudaError_t bindContext() {
  Context *context;
  return bindContext(context);
}

// Opens the driver; no context. Devices are numbered as the driver numbers them.
cudaError_t openDevices();
cudaError_t checkDevice(int device);

// The primary context of a device, retained once per process and life of the context.
cudaError_t primaryContext(int device, Context *&context);

cudaError_t selectDevice(int device);
// The device of the current context, or the selected one if there is none.
int currentDevice();
cudaError_t resetDevice(int device);

}  // namespace strata::runtime
