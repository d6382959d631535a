// SPDX-License-Identifier: Apache-2.0
// strata smi: each driver that this machine has, its versions and devices, by the driver API.
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "base/knobs.h"
#include "simt/simt.h"
#include "toolkit/nvcc/toolkit.h"
#include "tools/tools.h"

namespace strata::tools {

namespace {

// The few entries that are called, with the driver API's types in plain C.
struct Driver {
  int (*cuInit)(unsigned);
  int (*cuDriverGetVersion)(int *);
  int (*cuDeviceGetCount)(int *);
  int (*cuDeviceGet)(int *, int);
  int (*cuDeviceGetName)(char *, int, int);
  int (*cuDeviceTotalMem_v2)(std::size_t *, int);
  int (*cuDeviceGetAttribute)(int *, int, int);
  int (*cuGetErrorName)(int, const char **);
};

enum Attribute {
  multiprocessors = 16,
  clockRate = 13,
  capabilityMajor = 75,
  capabilityMinor = 76
};  // CU_DEVICE_ATTRIBUTE_…

bool load(void *library, Driver &driver) {
#define LOAD(name) \
  if (!(driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(library, #name)))) return false;
  LOAD(cuInit)
  LOAD(cuDriverGetVersion)
  LOAD(cuDeviceGetCount)
  LOAD(cuDeviceGet)
  LOAD(cuDeviceGetName)
  LOAD(cuDeviceTotalMem_v2)
  LOAD(cuDeviceGetAttribute)
  LOAD(cuGetErrorName)
#undef LOAD
  return true;
}

void showDevice(const Driver &driver, int index) {
  int device = 0, major = 0, minor = 0, processors = 0, clock = 0;
  char name[256] = "";
  std::size_t memory = 0;
  driver.cuDeviceGet(&device, index);
  driver.cuDeviceGetName(name, sizeof name, device);
  driver.cuDeviceTotalMem_v2(&memory, device);
  driver.cuDeviceGetAttribute(&major, capabilityMajor, device);
  driver.cuDeviceGetAttribute(&minor, capabilityMinor, device);
  driver.cuDeviceGetAttribute(&processors, multiprocessors, device);
  driver.cuDeviceGetAttribute(&clock, clockRate, device);
  std::printf("  device %d  %s\n    compute capability %d.%d, %d multiprocessors, %.2f GHz, %.1f GiB memory\n", index,
              name, major, minor, processors, clock / 1e6, static_cast<double>(memory) / (1ull << 30));
}

// Shows one driver; false if it is not there or has no device.
bool showDriver(const char *title, const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  Driver driver;
  if (!library || !load(library, driver)) {
    std::printf("%s: not found (%s)\n", title, path.c_str());
    return false;
  }
  int version = 0, count = 0;
  int error = driver.cuInit(0);
  if (!error) error = driver.cuDeviceGetCount(&count);
  driver.cuDriverGetVersion(&version);
  std::printf("%s: CUDA %d.%d (%s)\n", title, version / 1000, version % 1000 / 10, path.c_str());
  if (error) {
    const char *name = "unknown error";
    driver.cuGetErrorName(error, &name);
    std::printf("  no device: %s\n", name);
    return false;
  }
  for (int i = 0; i < count; ++i) showDevice(driver, i);
  return count > 0;
}

const char *simdName() {
  Result<simt::Simd> simd = simt::hostSimd();
  if (!simd) return "unsupported";
  return simt::levelOf(*simd).name;
}

}  // namespace

int smi() {
  std::printf("Strata %s, toolkit %d.%d at %s\n", STRATA_VERSION, nvcc::kMajor, nvcc::kMinor, prefix().c_str());
  std::printf("STRATA_DEVICE=%s, SIMD target %s\n", knobs::get().STRATA_DEVICE.c_str(), simdName());
  bool nvidia = showDriver("NVIDIA's driver", "libcuda.so.1");
  bool cpu = showDriver("CPU driver", prefix() + "/lib64/strata/libcuda.so.1");
  return nvidia || cpu ? 0 : 1;
}

}  // namespace strata::tools
