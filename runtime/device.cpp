// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "runtime/body.h"

namespace strata::runtime {
namespace {

// An attribute that an older driver does not know is 0, "not there"; each field is then what it was before.
cudaError_t attribute(int device, CUdevice_attribute which, int &value) {
  value = 0;
  CUresult result = driver().cuDeviceGetAttribute(&value, which, device);
  return result == CUDA_ERROR_INVALID_VALUE ? cudaSuccess : toError(result);
}

cudaError_t fill(cudaDeviceProp &prop, int device) {
  int value = 0;
#define PROPERTY(field, name)                                                                 \
  if (cudaError_t error = attribute(device, CU_DEVICE_ATTRIBUTE_##name, value)) return error; \
  prop.field = value;
#include "runtime/device_properties.def"
#undef PROPERTY
  if (CUresult result = driver().cuDeviceGetName(prop.name, sizeof prop.name, device)) return toError(result);
  if (CUresult result = driver().cuDeviceTotalMem(&prop.totalGlobalMem, device)) return toError(result);
  return toError(driver().cuDeviceGetUuid(&prop.uuid, device));
}

// How well a device fits what the program asks for: the fields that it has set, as far as one can ask for
// them.
int fit(const cudaDeviceProp &wanted, const cudaDeviceProp &have) {
  int score = 0;
  auto atLeast = [&](auto asked, auto got) { score += asked == 0 ? 0 : got >= asked ? 1 : -1; };
  atLeast(wanted.major * 100 + wanted.minor, have.major * 100 + have.minor);
  atLeast(wanted.totalGlobalMem, have.totalGlobalMem);
  atLeast(wanted.sharedMemPerBlock, have.sharedMemPerBlock);
  atLeast(wanted.maxThreadsPerBlock, have.maxThreadsPerBlock);
  atLeast(wanted.multiProcessorCount, have.multiProcessorCount);
  atLeast(wanted.clockRate, have.clockRate);
  return score;
}

cudaError_t primaryFlags(int device, unsigned int &flags) {
  int active = 0;
  return toError(driver().cuDevicePrimaryCtxGetState(device, &flags, &active));
}

}  // namespace

cudaError_t body::cudaDriverGetVersion(int *driverVersion) {
  if (!driverVersion) return cudaErrorInvalidValue;
  *driverVersion = 0;  // no driver: success, as CUDA has it
  return cuda::openDriver() ? toError(driver().cuDriverGetVersion(driverVersion)) : cudaSuccess;
}

cudaError_t body::cudaRuntimeGetVersion(int *runtimeVersion) {
  if (!runtimeVersion) return cudaErrorInvalidValue;
  *runtimeVersion = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t body::cudaGetDeviceCount(int *count) {
  if (!count) return cudaErrorInvalidValue;
  *count = 0;
  if (cudaError_t error = openDevices()) return error;
  return toError(driver().cuDeviceGetCount(count));
}

cudaError_t body::cudaGetDeviceProperties(cudaDeviceProp *prop, int device) {
  if (!prop) return cudaErrorInvalidValue;
  if (cudaError_t error = checkDevice(device)) return error;
  cudaDeviceProp filled;
  std::memset(&filled, 0, sizeof filled);
  if (cudaError_t error = fill(filled, device)) return error;
  *prop = filled;
  return cudaSuccess;
}

cudaError_t body::cudaDeviceGetAttribute(int *value, cudaDeviceAttr attr, int device) {
  if (!value) return cudaErrorInvalidValue;
  if (cudaError_t error = checkDevice(device)) return error;
  return toError(driver().cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attr), device));
}

cudaError_t body::cudaChooseDevice(int *device, const cudaDeviceProp *prop) {
  if (!device || !prop) return cudaErrorInvalidValue;
  int count = 0, best = 0, bestScore = -1000;
  if (cudaError_t error = cudaGetDeviceCount(&count)) return error;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp have;
    if (cudaError_t error = body::cudaGetDeviceProperties(&have, i)) return error;
    if (int score = fit(*prop, have); score > bestScore) best = i, bestScore = score;
  }
  *device = best;
  return cudaSuccess;
}

cudaError_t body::cudaSetDevice(int device) { return selectDevice(device); }

cudaError_t body::cudaGetDevice(int *device) {
  if (!device) return cudaErrorInvalidValue;
  if (cudaError_t error = openDevices()) return error;
  *device = currentDevice();
  return cudaSuccess;
}

cudaError_t body::cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags) {
  if (flags & ~cudaInitDeviceFlagsAreValid) return cudaErrorInvalidValue;
  if (cudaError_t error = checkDevice(device)) return error;
  if (flags & cudaInitDeviceFlagsAreValid) {
    if (CUresult result = driver().cuDevicePrimaryCtxSetFlags(device, deviceFlags & ~cudaDeviceMapHost))
      return toError(result);
  }
  Context *context;
  return primaryContext(device, context);  // initialised, but not selected
}

cudaError_t body::cudaSetValidDevices(int *device_arr, int len) {
  if (len < 0 || (len && !device_arr)) return cudaErrorInvalidValue;
  for (int i = 0; i < len; ++i)
    if (cudaError_t error = checkDevice(device_arr[i])) return error;
  if (len) thread().device = device_arr[0];
  return cudaSuccess;
}

cudaError_t body::cudaSetDeviceFlags(unsigned int flags) {
  if (flags & ~cudaDeviceMask) return cudaErrorInvalidValue;
  if (cudaError_t error = openDevices()) return error;
  // Mapping of host memory is always on, and no flag of a primary context.
  return toError(driver().cuDevicePrimaryCtxSetFlags(currentDevice(), flags & ~cudaDeviceMapHost));
}

cudaError_t body::cudaGetDeviceFlags(unsigned int *flags) {
  if (!flags) return cudaErrorInvalidValue;
  if (cudaError_t error = openDevices()) return error;
  if (cudaError_t error = primaryFlags(currentDevice(), *flags)) return error;
  *flags |= cudaDeviceMapHost;
  return cudaSuccess;
}

cudaError_t body::cudaDeviceReset() {
  if (cudaError_t error = openDevices()) return error;
  return resetDevice(currentDevice());
}

cudaError_t body::cudaThreadExit() { return cudaDeviceReset(); }

cudaError_t body::cudaDeviceGetByPCIBusId(int *device, const char *pciBusId) {
  if (!device || !pciBusId) return cudaErrorInvalidValue;
  if (cudaError_t error = openDevices()) return error;
  return toError(driver().cuDeviceGetByPCIBusId(device, pciBusId));
}

cudaError_t body::cudaDeviceGetPCIBusId(char *pciBusId, int len, int device) {
  if (!pciBusId) return cudaErrorInvalidValue;
  if (cudaError_t error = checkDevice(device)) return error;
  return toError(driver().cuDeviceGetPCIBusId(pciBusId, len, device));
}

// Shared memory has banks of four bytes on every device that CUDA 13 knows, and setting the size is
// documented to do nothing there.
cudaError_t body::cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *pConfig) {
  if (!pConfig) return cudaErrorInvalidValue;
  if (cudaError_t error = bindContext()) return error;
  *pConfig = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}

cudaError_t body::cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  if (config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte) return cudaErrorInvalidValue;
  return bindContext();
}

}  // namespace strata::runtime
