// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "driver/entries.h"
#include "driver/module.h"

namespace strata::driver {

// Block shapes whose kernel a function remembers; a program that computes its shapes may have very many.
static constexpr std::size_t kMostShapes = 64;

Function::Function(Module &module, const simt::KernelInfo &info) : module(module), info(info) {
  for (int i = 0; i < 3; ++i) settings.clusterDim[i] = static_cast<int>(info.clusterDim[i]);
}

Result<std::shared_ptr<const simt::Kernel>> Function::kernel(const std::uint32_t blockDim[3]) {
  const BlockShape shape{blockDim[0], blockDim[1], blockDim[2]};
  if (const auto *latest = latest_.load(std::memory_order_acquire); latest && latest->first == shape)
    return latest->second;
  {
    std::lock_guard lock(mutex_);
    if (auto found = loaded_.find(shape); found != loaded_.end()) {
      latest_.store(&*found, std::memory_order_release);
      return found->second;
    }
  }
  auto kernel = simt::loadKernel(module.code, info.name, blockDim);  // one of several threads compiles
  if (!kernel) return kernel.error();
  std::lock_guard lock(mutex_);
  if (loaded_.size() >= kMostShapes) return *kernel;  // the engine has it at hand
  latest_.store(&*loaded_.try_emplace(shape, *kernel).first, std::memory_order_release);
  return *kernel;
}

std::uint32_t Function::maxDynamicShared() const {
  int byDefault = static_cast<int>(sm90::kSharedDefault) - static_cast<int>(info.staticShared);
  return static_cast<std::uint32_t>(std::max({settings.maxDynamicShared.load(), byDefault, 0}));
}

CUresult Function::attribute(CUfunction_attribute attribute, int &value) const {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: value = static_cast<int>(info.maxThreads); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: value = static_cast<int>(info.staticShared); break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: value = 0; break;  // constants lie in the module's globals
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: value = static_cast<int>(info.localBytes); break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: value = static_cast<int>(info.registers); break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: value = static_cast<int>(module.ptxVersion); break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: value = 90; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: value = 0; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
      int set = settings.maxDynamicShared;
      value = set >= 0 ? set : static_cast<int>(maxDynamicShared());
      break;
    }
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: value = settings.carveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: value = info.clusterDim[0] != 0; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: value = settings.clusterDim[0]; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: value = settings.clusterDim[1]; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: value = settings.clusterDim[2]; break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: value = settings.nonPortableCluster; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: value = settings.clusterPolicy; break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult Function::setAttribute(CUfunction_attribute attribute, int value) {
  auto within = [&](int least, int most) { return value >= least && value <= most; };
  auto set = [&](std::atomic<int> &place, bool valid) {
    if (!valid) return CUDA_ERROR_INVALID_VALUE;
    place = value;
    return CUDA_SUCCESS;
  };
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return set(settings.maxDynamicShared,
                 within(0, static_cast<int>(sm90::kSharedOptIn) - static_cast<int>(info.staticShared)));
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return set(settings.carveout, within(-1, 100));
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: return set(settings.clusterDim[0], value >= 0);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: return set(settings.clusterDim[1], value >= 0);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: return set(settings.clusterDim[2], value >= 0);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: return set(settings.nonPortableCluster, true);
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return set(settings.clusterPolicy, within(0, CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING));
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult entry::cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc) {
  if (!pi) return CUDA_ERROR_INVALID_VALUE;
  Function *function = nullptr;
  CUresult result = resolveFunction(hfunc, *currentContext(), function);
  return result == CUDA_SUCCESS ? function->attribute(attrib, *pi) : result;
}

CUresult entry::cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
  Function *function = nullptr;
  CUresult result = resolveFunction(hfunc, *currentContext(), function);
  return result == CUDA_SUCCESS ? function->setAttribute(attrib, value) : result;
}

CUresult entry::cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
  Function *function = nullptr;
  CUresult result = resolveFunction(hfunc, *currentContext(), function);
  if (result == CUDA_SUCCESS && config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
  return result;  // a hint, as in cuCtxSetCacheConfig
}

CUresult entry::cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config) {
  Function *function = nullptr;
  CUresult result = resolveFunction(hfunc, *currentContext(), function);
  if (result == CUDA_SUCCESS && config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE) return CUDA_ERROR_INVALID_VALUE;
  return result;
}

CUresult entry::cuFuncGetModule(CUmodule *hmod, CUfunction hfunc) {
  if (!hmod) return CUDA_ERROR_INVALID_VALUE;
  Function *function = nullptr;
  CUresult result = resolveFunction(hfunc, *currentContext(), function);
  if (result == CUDA_SUCCESS) *hmod = function->module.handle;
  return result;
}

CUresult entry::cuFuncGetName(const char **name, CUfunction hfunc) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  Function *function = nullptr;
  CUresult result = resolveFunction(hfunc, *currentContext(), function);
  if (result == CUDA_SUCCESS) *name = function->info.name.c_str();
  return result;
}

CUresult entry::cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize) {
  if (!paramOffset) return CUDA_ERROR_INVALID_VALUE;
  Function *function = nullptr;
  CUresult result = resolveFunction(func, *currentContext(), function);
  if (result != CUDA_SUCCESS) return result;
  if (paramIndex >= function->info.params.size()) return CUDA_ERROR_INVALID_VALUE;
  *paramOffset = function->info.params[paramIndex].offset;
  if (paramSize) *paramSize = function->info.params[paramIndex].size;
  return CUDA_SUCCESS;
}

CUresult entry::cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function) {
  if (!state) return CUDA_ERROR_INVALID_VALUE;
  Function *found = nullptr;
  CUresult result = resolveFunction(function, *currentContext(), found);
  if (result == CUDA_SUCCESS) *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return result;
}

// Machine code depends on the block's shape, so it is made at the first launch: what can be loaded before is.
CUresult entry::cuFuncLoad(CUfunction function) {
  Function *found = nullptr;
  return resolveFunction(function, *currentContext(), found);
}

}  // namespace strata::driver
