// SPDX-License-Identifier: Apache-2.0
#include "runtime/body.h"

namespace strata::runtime {

cudaError_t body::cudaGetDriverEntryPoint(DefaultStream none, const char *symbol, void **funcPtr,
                                          unsigned long long flags, cudaDriverEntryPointQueryResult *driverStatus) {
  return cudaGetDriverEntryPointByVersion(none, symbol, funcPtr, CUDART_VERSION, flags, driverStatus);
}

cudaError_t body::cudaGetDriverEntryPointByVersion(DefaultStream none, const char *symbol, void **funcPtr,
                                                   unsigned int cudaVersion, unsigned long long flags,
                                                   cudaDriverEntryPointQueryResult *driverStatus) {
  if (!symbol || !funcPtr) return cudaErrorInvalidValue;
  if (cudaError_t error = openDevices()) return error;
  // cudaEnableDefault means the kind of stream 0 that the caller was compiled for.
  if (flags == cudaEnableDefault && none == DefaultStream::perThread) flags = cudaEnablePerThreadDefaultStream;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
  CUresult result = driver().cuGetProcAddress(symbol, funcPtr, static_cast<int>(cudaVersion), flags, &found);
  if (driverStatus) *driverStatus = static_cast<cudaDriverEntryPointQueryResult>(found);
  // That there is no such entry is told by the status where the caller reads it.
  if (result == CUDA_ERROR_NOT_FOUND && driverStatus) {
    *funcPtr = nullptr;
    return cudaSuccess;
  }
  return toError(result);
}

}  // namespace strata::runtime
