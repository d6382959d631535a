// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch.h"

#include "runtime/body.h"
#include "runtime/registry.h"

namespace strata::runtime {
namespace {

// The driver calls every bad argument of a launch an invalid value; the runtime has a code for a bad shape.
cudaError_t launchError(CUresult result, dim3 grid, dim3 block) {
  if (result != CUDA_ERROR_INVALID_VALUE) return toError(result);
  CUdevice device;
  if (driver().cuCtxGetDevice(&device) != CUDA_SUCCESS) return cudaErrorInvalidValue;
  auto exceeds = [&](std::size_t asked, CUdevice_attribute which) {
    int limit = 0;
    return asked == 0 || (driver().cuDeviceGetAttribute(&limit, which, device) == CUDA_SUCCESS &&
                          asked > static_cast<std::size_t>(limit));
  };
  std::size_t threads = std::size_t{block.x} * block.y * block.z;
  bool badShape =
      exceeds(grid.x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) || exceeds(grid.y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) ||
      exceeds(grid.z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) || exceeds(block.x, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) ||
      exceeds(block.y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y) || exceeds(block.z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) ||
      exceeds(threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  return badShape ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue;
}

}  // namespace

CUlaunchConfig driverConfig(const cudaLaunchConfig_t &config, CUstream stream) {
  CUlaunchConfig driverConfig{};
  driverConfig.gridDimX = config.gridDim.x;
  driverConfig.gridDimY = config.gridDim.y;
  driverConfig.gridDimZ = config.gridDim.z;
  driverConfig.blockDimX = config.blockDim.x;
  driverConfig.blockDimY = config.blockDim.y;
  driverConfig.blockDimZ = config.blockDim.z;
  driverConfig.sharedMemBytes = static_cast<unsigned>(config.dynamicSmemBytes);
  driverConfig.hStream = stream;
  driverConfig.attrs = as<CUlaunchAttribute>(config.attrs);
  driverConfig.numAttrs = config.numAttrs;
  return driverConfig;
}

cudaError_t body::cudaLaunchKernel(DefaultStream none, const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                   std::size_t sharedMem, cudaStream_t stream) {
  CUfunction function;
  if (cudaError_t error = functionFor(func, function)) return error;
  if (sharedMem > UINT32_MAX) return cudaErrorInvalidValue;
  CUresult result =
      driver().cuLaunchKernel(function, gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y, blockDim.z,
                              static_cast<unsigned>(sharedMem), resolve(none, stream), args, nullptr);
  return result == CUDA_SUCCESS ? cudaSuccess : launchError(result, gridDim, blockDim);
}

cudaError_t body::cudaLaunchCooperativeKernel(DefaultStream none, const void *func, dim3 gridDim, dim3 blockDim,
                                              void **args, std::size_t sharedMem, cudaStream_t stream) {
  CUfunction function;
  if (cudaError_t error = functionFor(func, function)) return error;
  if (sharedMem > UINT32_MAX) return cudaErrorInvalidValue;
  CUresult result =
      driver().cuLaunchCooperativeKernel(function, gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y, blockDim.z,
                                         static_cast<unsigned>(sharedMem), resolve(none, stream), args);
  return result == CUDA_SUCCESS ? cudaSuccess : launchError(result, gridDim, blockDim);
}

cudaError_t body::cudaLaunchKernelExC(DefaultStream none, const cudaLaunchConfig_t *config, const void *func,
                                      void **args) {
  if (!config || config->dynamicSmemBytes > UINT32_MAX) return cudaErrorInvalidValue;
  CUfunction function;
  if (cudaError_t error = functionFor(func, function)) return error;
  CUlaunchConfig forDriver = driverConfig(*config, resolve(none, config->stream));
  CUresult result = driver().cuLaunchKernelEx(&forDriver, function, args, nullptr);
  return result == CUDA_SUCCESS ? cudaSuccess : launchError(result, config->gridDim, config->blockDim);
}

}  // namespace strata::runtime
