// SPDX-License-Identifier: Apache-2.0
// The slow path of trampolines.S: finds an entry of the driver by its number.
#include <dlfcn.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "base/log.h"
#include "cuda/driver.h"

using namespace strata;

extern "C" {
extern void *strataCudaSlots[];       // one for each entry
extern const char strataCudaNames[];  // their names, one after the other
__attribute__((visibility("hidden"))) void *strataCudaResolve(std::size_t index);
}

namespace {

// Stands for an entry that cannot be called. All entries return CUresult.
CUresult notFound() { return CUDA_ERROR_NOT_FOUND; }
CUresult noDriver() { return CUDA_ERROR_NO_DEVICE; }

const char *nameOf(std::size_t index) {
  const char *name = strataCudaNames;
  for (; index; --index) name += std::strlen(name) + 1;
  return name;
}

// A driver that could be loaded answers itself, also when it has no device.
void *driverHandle() {
  cuda::openDriver();
  const std::string &path = cuda::driverPath();
  return path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

void *strataCudaResolve(std::size_t index) {
  static void *const handle = driverHandle();
  if (!handle) return reinterpret_cast<void *>(&noDriver);
  void *found = dlsym(handle, nameOf(index));
  if (!found) {
    log::once(log::Level::warn, nameOf(index), "the driver at " + cuda::driverPath() + " has no " + nameOf(index));
    return reinterpret_cast<void *>(&notFound);
  }
  // Threads that race here write the same value.
  __atomic_store_n(&strataCudaSlots[index], found, __ATOMIC_RELEASE);
  return found;
}
