// SPDX-License-Identifier: Apache-2.0
#include "runtime/body.h"
#include "runtime/registry.h"

namespace strata::runtime {
namespace {

template <class Body>
cudaError_t withFunction(const void *func, Body body) {
  CUfunction function;
  if (cudaError_t error = functionFor(func, function)) return error;
  return toError(body(function));
}

}  // namespace

cudaError_t body::cudaFuncGetAttributes(cudaFuncAttributes *attr, const void *func) {
  if (!attr) return cudaErrorInvalidValue;
  return withFunction(func, [&](CUfunction function) {
    cudaFuncAttributes filled{};
    // Cluster attributes are unknown to older drivers; what a driver does not know is 0.
    auto read = [&](auto &field, CUfunction_attribute which) {
      int value = 0;
      CUresult result = driver().cuFuncGetAttribute(&value, which, function);
      field = value;
      return result == CUDA_ERROR_INVALID_VALUE ? CUDA_SUCCESS : result;
    };
    CUresult result = read(filled.sharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    if (!result) result = read(filled.constSizeBytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
    if (!result) result = read(filled.localSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    if (!result) result = read(filled.maxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    if (!result) result = read(filled.numRegs, CU_FUNC_ATTRIBUTE_NUM_REGS);
    if (!result) result = read(filled.ptxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION);
    if (!result) result = read(filled.binaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    if (!result) result = read(filled.cacheModeCA, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
    if (!result) result = read(filled.maxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    if (!result) result = read(filled.preferredShmemCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    if (!result) result = read(filled.clusterDimMustBeSet, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
    if (!result) result = read(filled.requiredClusterWidth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
    if (!result) result = read(filled.requiredClusterHeight, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
    if (!result) result = read(filled.requiredClusterDepth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
    if (!result)
      result = read(filled.nonPortableClusterSizeAllowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
    if (!result)
      result = read(filled.clusterSchedulingPolicyPreference, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
    if (!result) *attr = filled;
    return result;
  });
}

cudaError_t body::cudaFuncSetAttribute(const void *func, cudaFuncAttribute attr, int value) {
  return withFunction(func, [&](CUfunction function) {
    return driver().cuFuncSetAttribute(function, static_cast<CUfunction_attribute>(attr), value);
  });
}

cudaError_t body::cudaFuncSetCacheConfig(const void *func, cudaFuncCache cacheConfig) {
  return withFunction(func, [&](CUfunction function) {
    return driver().cuFuncSetCacheConfig(function, static_cast<CUfunc_cache>(cacheConfig));
  });
}

// As cudaDeviceSetSharedMemConfig: documented to do nothing.
cudaError_t body::cudaFuncSetSharedMemConfig(const void *func, cudaSharedMemConfig config) {
  if (config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte) return cudaErrorInvalidValue;
  CUfunction function;
  return functionFor(func, function);
}

cudaError_t body::cudaFuncGetName(const char **name, const void *func) {
  if (!name) return cudaErrorInvalidValue;
  return withFunction(func, [&](CUfunction function) { return driver().cuFuncGetName(name, function); });
}

cudaError_t body::cudaFuncGetParamInfo(const void *func, std::size_t paramIndex, std::size_t *paramOffset,
                                       std::size_t *paramSize) {
  return withFunction(func, [&](CUfunction function) {
    return driver().cuFuncGetParamInfo(function, paramIndex, paramOffset, paramSize);
  });
}

cudaError_t body::cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr) {
  if (!functionPtr) return cudaErrorInvalidValue;
  return functionFor(symbolPtr, *functionPtr);
}

}  // namespace strata::runtime
