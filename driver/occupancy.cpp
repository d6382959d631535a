// SPDX-License-Identifier: Apache-2.0
#include "driver/occupancy.h"

#include <algorithm>

#include "driver/entries.h"
#include "driver/ranges.h"
#include "driver/work.h"

namespace strata::driver {
namespace {

constexpr std::uint32_t kWarp = 32;
constexpr std::uint32_t kRegisterUnit = 256;  // registers are given to a warp in such units

std::uint32_t warpsOf(std::uint32_t threads) { return (threads + kWarp - 1) / kWarp; }

CUresult find(CUfunction handle, Function *&function) { return resolveFunction(handle, *currentContext(), function); }

}  // namespace

std::uint32_t residentBlocks(const Function &function, std::uint32_t blockThreads, std::uint64_t dynamicShared) {
  const simt::KernelInfo &info = function.info;
  if (blockThreads == 0 || blockThreads > std::min(info.maxThreads, sm90::kMaxThreadsPerBlock)) return 0;
  std::uint32_t warps = warpsOf(blockThreads);
  std::uint32_t registersPerWarp =
      static_cast<std::uint32_t>(roundUp(std::max(1u, info.registers) * kWarp, kRegisterUnit));
  std::uint32_t byRegisters = sm90::kRegisters / registersPerWarp / warps;
  std::uint64_t shared = info.staticShared + dynamicShared;
  if (shared > sm90::kSharedOptIn) return 0;
  std::uint64_t byShared = sm90::kShared / (roundUp(shared, 128) + sm90::kSharedReserved);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>({sm90::kMaxBlocks, sm90::kMaxWarps / warps, byRegisters, byShared}));
}

bool fitsResident(const Function &function, const Launch &launch, const Device &device) {
  std::uint64_t blocks = std::uint64_t{launch.gridDim[0]} * launch.gridDim[1] * launch.gridDim[2];
  std::uint32_t threads = launch.blockDim[0] * launch.blockDim[1] * launch.blockDim[2];
  return blocks <= std::uint64_t{device.workers()} * residentBlocks(function, threads, launch.dynamicShared);
}

CUresult entry::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func, int blockSize,
                                                                     size_t dynamicSMemSize, unsigned int flags) {
  if (!numBlocks || blockSize <= 0 || (flags & ~1u)) return CUDA_ERROR_INVALID_VALUE;
  Function *function = nullptr;
  if (CUresult result = find(func, function); result != CUDA_SUCCESS) return result;
  *numBlocks = static_cast<int>(residentBlocks(*function, static_cast<std::uint32_t>(blockSize), dynamicSMemSize));
  return CUDA_SUCCESS;
}

CUresult entry::cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
                                                            size_t dynamicSMemSize) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize, 0);
}

// The block size with the most resident threads; of equals, the largest.
CUresult entry::cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
                                                          CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                          size_t dynamicSMemSize, int blockSizeLimit,
                                                          unsigned int flags) {
  if (!minGridSize || !blockSize || (flags & ~1u)) return CUDA_ERROR_INVALID_VALUE;
  Function *function = nullptr;
  if (CUresult result = find(func, function); result != CUDA_SUCCESS) return result;
  std::uint32_t limit = std::min(function->info.maxThreads, sm90::kMaxThreadsPerBlock);
  if (blockSizeLimit > 0) limit = std::min(limit, static_cast<std::uint32_t>(blockSizeLimit));
  std::uint32_t bestThreads = 0, bestSize = 0, bestBlocks = 0;
  for (std::uint32_t warps = warpsOf(limit); warps > 0; --warps) {
    std::uint32_t size = std::min(limit, warps * kWarp);
    std::size_t shared =
        blockSizeToDynamicSMemSize ? blockSizeToDynamicSMemSize(static_cast<int>(size)) : dynamicSMemSize;
    std::uint32_t blocks = residentBlocks(*function, size, shared);
    if (blocks * size <= bestThreads) continue;
    bestThreads = blocks * size;
    bestSize = size;
    bestBlocks = blocks;
  }
  *blockSize = static_cast<int>(bestSize);
  *minGridSize = static_cast<int>(bestBlocks * currentContext()->device.workers());
  return CUDA_SUCCESS;
}

CUresult entry::cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                                 CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
                                                 int blockSizeLimit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, blockSizeToDynamicSMemSize,
                                                   dynamicSMemSize, blockSizeLimit, 0);
}

CUresult entry::cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func, int numBlocks,
                                                        int blockSize) {
  if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0) return CUDA_ERROR_INVALID_VALUE;
  Function *function = nullptr;
  if (CUresult result = find(func, function); result != CUDA_SUCCESS) return result;
  if (residentBlocks(*function, static_cast<std::uint32_t>(blockSize), 0) < static_cast<std::uint32_t>(numBlocks))
    return CUDA_ERROR_INVALID_VALUE;
  // As NVIDIA's driver answers: the share of a block, from which the part that the system reserves is not taken off.
  std::uint64_t share = sm90::kShared / static_cast<std::uint32_t>(numBlocks);
  std::uint64_t fixed = std::min<std::uint64_t>(share, function->info.staticShared);
  *dynamicSmemSize = std::min<std::uint64_t>(share, sm90::kSharedOptIn) - fixed;
  return CUDA_SUCCESS;
}

CUresult entry::cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func, const CUlaunchConfig *config) {
  if (!clusterSize || !config) return CUDA_ERROR_INVALID_VALUE;
  Function *function = nullptr;
  if (CUresult result = find(func, function); result != CUDA_SUCCESS) return result;
  *clusterSize = static_cast<int>(sm90::kPortableCluster * (function->settings.nonPortableCluster ? 2 : 1));
  return CUDA_SUCCESS;
}

CUresult entry::cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func, const CUlaunchConfig *config) {
  if (!numClusters || !config || !validList(config->attrs, config->numAttrs)) return CUDA_ERROR_INVALID_VALUE;
  Function *function = nullptr;
  if (CUresult result = find(func, function); result != CUDA_SUCCESS) return result;
  std::uint64_t cluster = 1;
  for (int i = 0; i < 3; ++i)
    cluster *= static_cast<std::uint32_t>(std::max(1, function->settings.clusterDim[i].load()));
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    if (config->attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    const auto &dim = config->attrs[i].value.clusterDim;
    cluster = std::uint64_t{dim.x} * dim.y * dim.z;
  }
  std::uint64_t threads = std::uint64_t{config->blockDimX} * config->blockDimY * config->blockDimZ;
  if (cluster == 0 || threads == 0 || threads > sm90::kMaxThreadsPerBlock) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t blocks =
      std::uint64_t{residentBlocks(*function, static_cast<std::uint32_t>(threads), config->sharedMemBytes)} *
      currentContext()->device.workers();
  *numClusters = static_cast<int>(blocks / cluster);
  return CUDA_SUCCESS;
}

}  // namespace strata::driver
