// SPDX-License-Identifier: Apache-2.0
#include "runtime/body.h"
#include "runtime/launch.h"
#include "runtime/registry.h"

namespace strata::runtime {

cudaError_t body::cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func, int blockSize,
                                                                std::size_t dynamicSMemSize) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize,
                                                                cudaOccupancyDefault);
}

cudaError_t body::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func,
                                                                         int blockSize, std::size_t dynamicSMemSize,
                                                                         unsigned int flags) {
  CUfunction function;
  if (cudaError_t error = functionFor(func, function)) return error;
  return toError(driver().cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, function, blockSize,
                                                                               dynamicSMemSize, flags));
}

cudaError_t body::cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t *dynamicSmemSize, const void *func,
                                                            int numBlocks, int blockSize) {
  CUfunction function;
  if (cudaError_t error = functionFor(func, function)) return error;
  return toError(driver().cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, function, numBlocks, blockSize));
}

cudaError_t body::cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
                                                       const cudaLaunchConfig_t *launchConfig) {
  if (!launchConfig) return cudaErrorInvalidValue;
  CUfunction function;
  if (cudaError_t error = functionFor(func, function)) return error;
  CUlaunchConfig config = driverConfig(*launchConfig, launchConfig->stream);
  return toError(driver().cuOccupancyMaxPotentialClusterSize(clusterSize, function, &config));
}

cudaError_t body::cudaOccupancyMaxActiveClusters(int *numClusters, const void *func,
                                                 const cudaLaunchConfig_t *launchConfig) {
  if (!launchConfig) return cudaErrorInvalidValue;
  CUfunction function;
  if (cudaError_t error = functionFor(func, function)) return error;
  CUlaunchConfig config = driverConfig(*launchConfig, launchConfig->stream);
  return toError(driver().cuOccupancyMaxActiveClusters(numClusters, function, &config));
}

}  // namespace strata::runtime
