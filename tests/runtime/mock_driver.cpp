// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/mock_driver.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>

namespace {

MockDriver gMock;
std::mutex gMutex;  // of the recorded calls

struct FakeContext {
  int device;
};
FakeContext gPrimary[2] = {{0}, {1}};
thread_local CUcontext gCurrent = nullptr;

struct FakeModule {
  std::string image;
  std::map<std::string, std::string> functions;
  std::map<std::string, std::array<char, 64>> variables;
};
std::map<CUmodule, std::unique_ptr<FakeModule>> gModules;  // a reset context takes its modules along; here they stay
struct FakeLink {
  std::string image;
};

template <class... Arguments>
CUresult called(const char *name, Arguments... arguments) {
  std::ostringstream line;
  line << name << "(";
  const char *separator = "";
  ((line << separator << arguments, separator = ", "), ...);
  line << ")";
  std::lock_guard lock(gMutex);
  gMock.calls.push_back(line.str());
  return gMock.failing == name ? gMock.failure : CUDA_SUCCESS;
}

CUcontext handle(int device) { return reinterpret_cast<CUcontext>(&gPrimary[device]); }
FakeModule *module(CUmodule handle) { return reinterpret_cast<FakeModule *>(handle); }
const char *streamName(CUstream stream) {
  return !stream                          ? "0"
         : stream == CU_STREAM_LEGACY     ? "legacy"
         : stream == CU_STREAM_PER_THREAD ? "perThread"
                                          : "stream";
}
void *pointer(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

CUresult load(CUmodule *out, const std::string &image) {
  auto loaded = std::make_unique<FakeModule>(FakeModule{image, {}, {}});
  gMock.lastImage = image;
  ++gMock.modulesLoaded;
  ++gMock.modulesAlive;
  *out = reinterpret_cast<CUmodule>(loaded.get());
  gModules[*out] = std::move(loaded);
  return CUDA_SUCCESS;
}

}  // namespace

#define MOCK extern "C" __attribute__((visibility("default"))) CUresult

MOCK cuInit(unsigned) { return CUDA_SUCCESS; }
MOCK cuDriverGetVersion(int *version) { return *version = 13000, CUDA_SUCCESS; }
MOCK cuDeviceGetCount(int *count) { return *count = 2, CUDA_SUCCESS; }
MOCK cuDeviceGet(CUdevice *device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; }
MOCK cuDeviceGetName(char *name, int size, CUdevice) { return std::strncpy(name, "mock", size), CUDA_SUCCESS; }
MOCK cuDeviceTotalMem_v2(size_t *bytes, CUdevice) { return *bytes = 1 << 30, CUDA_SUCCESS; }
MOCK cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) { return std::memset(uuid, device, sizeof *uuid), CUDA_SUCCESS; }
MOCK cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = 0; break;
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID: return CUDA_ERROR_INVALID_VALUE;  // as a driver too old to know it
    default: *value = 1000 + which;
  }
  return CUDA_SUCCESS;
}
MOCK cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  *context = handle(device);
  return called("cuDevicePrimaryCtxRetain", device);
}
MOCK cuDevicePrimaryCtxRelease_v2(CUdevice device) { return called("cuDevicePrimaryCtxRelease", device); }
MOCK cuDevicePrimaryCtxReset_v2(CUdevice device) { return called("cuDevicePrimaryCtxReset", device); }
MOCK cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return called("cuDevicePrimaryCtxSetFlags", device, flags);
}
MOCK cuCtxGetCurrent(CUcontext *context) { return *context = gCurrent, CUDA_SUCCESS; }
MOCK cuCtxSetCurrent(CUcontext context) { return gCurrent = context, CUDA_SUCCESS; }
extern "C" __attribute__((visibility("default"))) MockDriver *mockDriver() {
  gMock.getCurrent = cuCtxGetCurrent;
  gMock.setCurrent = cuCtxSetCurrent;
  return &gMock;
}
MOCK cuCtxGetDevice(CUdevice *device) {
  if (!gCurrent) return CUDA_ERROR_INVALID_CONTEXT;
  *device = reinterpret_cast<FakeContext *>(gCurrent)->device;
  return CUDA_SUCCESS;
}
MOCK cuCtxSynchronize() { return called("cuCtxSynchronize"); }

MOCK cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned, CUjit_option *, void **) {
  if (CUresult result = called("cuModuleLoadDataEx")) return result;
  return load(out, static_cast<const char *>(image));
}
MOCK cuModuleLoadData(CUmodule *out, const void *image) {
  if (CUresult result = called("cuModuleLoadData")) return result;
  return load(out, static_cast<const char *>(image));
}
MOCK cuModuleUnload(CUmodule handle) {
  gModules.erase(handle);
  --gMock.modulesAlive;
  return called("cuModuleUnload");
}
// A name is found if the image contains it.
MOCK cuModuleGetFunction(CUfunction *function, CUmodule handle, const char *name) {
  if (module(handle)->image.find(name) == std::string::npos) return CUDA_ERROR_NOT_FOUND;
  std::string &slot = module(handle)->functions.try_emplace(name, name).first->second;
  *function = reinterpret_cast<CUfunction>(&slot);
  return called("cuModuleGetFunction", name);
}
MOCK cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule handle, const char *name) {
  if (module(handle)->image.find(name) == std::string::npos) return CUDA_ERROR_NOT_FOUND;
  *address = reinterpret_cast<CUdeviceptr>(module(handle)->variables[name].data());
  *bytes = 16;
  return called("cuModuleGetGlobal", name);
}
MOCK cuLinkCreate_v2(unsigned, CUjit_option *, void **, CUlinkState *state) {
  *state = reinterpret_cast<CUlinkState>(new FakeLink);
  return called("cuLinkCreate");
}
MOCK cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name, unsigned,
                      CUjit_option *, void **) {
  reinterpret_cast<FakeLink *>(state)->image.append(static_cast<char *>(data), size - 1);
  return called("cuLinkAddData", type, name);
}
MOCK cuLinkComplete(CUlinkState state, void **image, size_t *size) {
  FakeLink *link = reinterpret_cast<FakeLink *>(state);
  *image = link->image.data();
  *size = link->image.size();
  return called("cuLinkComplete");
}
MOCK cuLinkDestroy(CUlinkState state) {
  delete reinterpret_cast<FakeLink *>(state);
  return called("cuLinkDestroy");
}

MOCK cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                    unsigned shared, CUstream stream, void **arguments, void **) {
  int first = arguments ? *static_cast<int *>(arguments[0]) : 0;
  int device = reinterpret_cast<FakeContext *>(gCurrent)->device;
  return called("cuLaunchKernel", *reinterpret_cast<std::string *>(function), device, gx, gy, gz, bx, by, bz, shared,
                streamName(stream), first);
}

MOCK cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  *address = reinterpret_cast<CUdeviceptr>(std::malloc(bytes));
  return called("cuMemAlloc", bytes);
}
MOCK cuMemFree_v2(CUdeviceptr address) {
  std::free(pointer(address));
  return called("cuMemFree");
}
MOCK cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  std::memcpy(pointer(to), pointer(from), bytes);
  return called("cuMemcpy", bytes);
}
MOCK cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  std::memcpy(pointer(to), from, bytes);
  return called("cuMemcpyHtoD", bytes);
}
MOCK cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  std::memcpy(to, pointer(from), bytes);
  return called("cuMemcpyDtoH", bytes);
}
MOCK cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  std::memcpy(pointer(to), pointer(from), bytes);
  return called("cuMemcpyDtoD", bytes);
}
MOCK cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  std::memcpy(pointer(to), from, bytes);
  return called("cuMemcpyHtoDAsync", bytes, streamName(stream));
}
MOCK cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  std::memcpy(to, pointer(from), bytes);
  return called("cuMemcpyDtoHAsync", bytes, streamName(stream));
}
MOCK cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy) {
  return called("cuMemcpy3D", copy->srcMemoryType, copy->dstMemoryType, copy->srcPitch, copy->dstPitch,
                copy->WidthInBytes, copy->Height, copy->Depth);
}
MOCK cuMemsetD8_v2(CUdeviceptr to, unsigned char byte, size_t bytes) {
  std::memset(pointer(to), byte, bytes);
  return called("cuMemsetD8", int{byte}, bytes);
}
MOCK cuMemsetD8Async(CUdeviceptr to, unsigned char byte, size_t bytes, CUstream stream) {
  std::memset(pointer(to), byte, bytes);
  return called("cuMemsetD8Async", int{byte}, bytes, streamName(stream));
}
MOCK cuMemsetD2D8_v2(CUdeviceptr, size_t pitch, unsigned char byte, size_t width, size_t height) {
  return called("cuMemsetD2D8", pitch, int{byte}, width, height);
}
MOCK cuStreamSynchronize(CUstream stream) { return called("cuStreamSynchronize", streamName(stream)); }
MOCK cuStreamQuery(CUstream stream) { return called("cuStreamQuery", streamName(stream)); }
MOCK cuEventRecord(CUevent, CUstream stream) { return called("cuEventRecord", streamName(stream)); }
#undef cuEventElapsedTime
MOCK cuEventElapsedTime(float *ms, CUevent, CUevent) {  // only the old form
  if (!ms) return CUDA_ERROR_INVALID_VALUE;
  return *ms = 1.5f, CUDA_SUCCESS;
}
MOCK cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                         CUdriverProcAddressQueryResult *status) {
  bool known = std::strcmp(symbol, "cuInit") == 0;
  *function = known ? reinterpret_cast<void *>(&cuInit) : nullptr;
  *status = known ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  CUresult result = called("cuGetProcAddress", symbol, version, flags);
  return result ? result : known ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
