// SPDX-License-Identifier: Apache-2.0
// What the host code that clang and nvcc generate calls: registration of device code from static
// initialisers, and the hand-over of a launch's configuration between <<<>>> and the kernel's stub.
#include <vector>

#include "base/log.h"
#include "runtime/body.h"
#include "runtime/registry.h"

#define RT_EXPORT extern "C" __attribute__((visibility("default")))

using namespace strata;
using namespace strata::runtime;

namespace {

Module *moduleOf(void **handle) { return reinterpret_cast<Module *>(handle); }

struct Configuration {
  dim3 grid, block;
  std::size_t sharedMemory;
  cudaStream_t stream;
};

// A launch whose arguments launch again needs more than one.
std::vector<Configuration> &configurations() {
  static thread_local std::vector<Configuration> stack;
  return stack;
}

}  // namespace

RT_EXPORT void **__cudaRegisterFatBinary(void *wrapper) {
  return reinterpret_cast<void **>(addModule(static_cast<const fatbin::Wrapper *>(wrapper)));
}

// Nothing waits for the last registration: images are loaded at their first use.
RT_EXPORT void __cudaRegisterFatBinaryEnd(void **) {}

RT_EXPORT void __cudaUnregisterFatBinary(void **handle) { removeModule(moduleOf(handle)); }

RT_EXPORT void __cudaRegisterFunction(void **handle, const char *hostFun, char *, const char *deviceName, int, uint3 *,
                                      uint3 *, dim3 *, dim3 *, int *) {
  addFunction(moduleOf(handle), hostFun, deviceName);
}

RT_EXPORT void __cudaRegisterVar(void **handle, char *hostVar, char *, const char *deviceName, int, std::size_t size,
                                 int, int) {
  addVariable(moduleOf(handle), hostVar, deviceName, size, nullptr);
}

RT_EXPORT void __cudaRegisterManagedVar(void **handle, void **hostVarPtrAddress, char *, const char *deviceName, int,
                                        std::size_t size, int, int) {
  addVariable(moduleOf(handle), hostVarPtrAddress, deviceName, size, hostVarPtrAddress);
}

RT_EXPORT void __cudaRegisterTexture(void **handle, const void *hostVar, const void **, const char *deviceName, int,
                                     int, int) {
  addReference(moduleOf(handle), hostVar, deviceName);
}

RT_EXPORT void __cudaRegisterSurface(void **handle, const void *hostVar, const void **, const char *deviceName, int,
                                     int) {
  addReference(moduleOf(handle), hostVar, deviceName);
}

// Called before host code reads a managed variable. 1: ready.
RT_EXPORT char __cudaInitModule(void **handle) { return record(initModule(moduleOf(handle))) == cudaSuccess; }

RT_EXPORT unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, std::size_t sharedMem,
                                               cudaStream_t stream) {
  return record(guarded("__cudaPushCallConfiguration", [&] {  // an error: the caller does not launch
    configurations().push_back({gridDim, blockDim, sharedMem, stream});
    return cudaSuccess;
  }));
}

RT_EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, std::size_t *sharedMem, void *stream) {
  if (configurations().empty()) return record(cudaErrorMissingConfiguration);
  Configuration top = configurations().back();
  configurations().pop_back();
  *gridDim = top.grid;
  *blockDim = top.block;
  *sharedMem = top.sharedMemory;
  *static_cast<cudaStream_t *>(stream) = top.stream;
  return cudaSuccess;
}

// Stubs that nvcc 13 makes launch through a handle, which they ask for once. The registry finds kernels by their stub
// in each context, so the stub serves as the handle.
RT_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void *>(stub));
  return cudaSuccess;
}

RT_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args,
                                         std::size_t sharedMem, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, gridDim, blockDim, args, sharedMem, stream);
}

extern "C" cudaError_t cudaLaunchKernel_ptsz(const void *, dim3, dim3, void **, std::size_t, cudaStream_t);
RT_EXPORT cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args,
                                              std::size_t sharedMem, cudaStream_t stream) {
  return cudaLaunchKernel_ptsz(kernel, gridDim, blockDim, args, sharedMem, stream);
}
