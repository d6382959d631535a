// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "runtime/body.h"
#include "runtime/registry.h"

namespace strata::runtime {

// Options have the driver's numbers.
cudaError_t body::cudaLibraryLoadData(cudaLibrary_t *library, const void *code, cudaJitOption *jitOptions,
                                      void **jitOptionsValues, unsigned int numJitOptions,
                                      cudaLibraryOption *libraryOptions, void **libraryOptionValues,
                                      unsigned int numLibraryOptions) {
  if (!library || !code) return cudaErrorInvalidValue;
  return inContext([&](const Driver &driver) {
    return driver.cuLibraryLoadData(library, code, as<CUjit_option>(jitOptions), jitOptionsValues, numJitOptions,
                                    as<CUlibraryOption>(libraryOptions), libraryOptionValues, numLibraryOptions);
  });
}

cudaError_t body::cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *fileName, cudaJitOption *jitOptions,
                                          void **jitOptionsValues, unsigned int numJitOptions,
                                          cudaLibraryOption *libraryOptions, void **libraryOptionValues,
                                          unsigned int numLibraryOptions) {
  if (!library || !fileName) return cudaErrorInvalidValue;
  return inContext([&](const Driver &driver) {
    return driver.cuLibraryLoadFromFile(library, fileName, as<CUjit_option>(jitOptions), jitOptionsValues,
                                        numJitOptions, as<CUlibraryOption>(libraryOptions), libraryOptionValues,
                                        numLibraryOptions);
  });
}

cudaError_t body::cudaLibraryUnload(cudaLibrary_t library) {
  if (cudaError_t error = bindContext()) return error;
  // Its kernels must not be found any more, once the driver may give their handles to others.
  unsigned count = 0;
  std::vector<CUkernel> kernels;
  if (driver().cuLibraryGetKernelCount(&count, library) == CUDA_SUCCESS) {
    kernels.resize(count);
    if (count && driver().cuLibraryEnumerateKernels(kernels.data(), count, library) != CUDA_SUCCESS) kernels.clear();
  }
  CUresult result = driver().cuLibraryUnload(library);
  if (result == CUDA_SUCCESS)
    for (CUkernel kernel : kernels) removeKernel(kernel);
  return toError(result);
}

cudaError_t body::cudaLibraryGetKernel(cudaKernel_t *pKernel, cudaLibrary_t library, const char *name) {
  if (!pKernel || !name) return cudaErrorInvalidValue;
  cudaError_t error =
      inContext([&](const Driver &driver) { return driver.cuLibraryGetKernel(pKernel, library, name); });
  if (error == cudaSuccess) addKernel(*pKernel);
  return error;
}

cudaError_t body::cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int numKernels, cudaLibrary_t lib) {
  if (!kernels) return cudaErrorInvalidValue;
  if (cudaError_t error = bindContext()) return error;
  unsigned count = 0;
  if (CUresult result = driver().cuLibraryGetKernelCount(&count, lib)) return toError(result);
  if (CUresult result = driver().cuLibraryEnumerateKernels(kernels, numKernels, lib)) return toError(result);
  for (unsigned i = 0; i < std::min(count, numKernels); ++i) addKernel(kernels[i]);
  return cudaSuccess;
}

}  // namespace strata::runtime
