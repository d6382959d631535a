// SPDX-License-Identifier: Apache-2.0
#include "driver/launch.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "base/log.h"
#include "driver/capture.h"
#include "driver/entries.h"
#include "driver/occupancy.h"

namespace strata::driver {
namespace {

CUresult checkShape(const LaunchShape &shape, const Function &function) {
  constexpr std::uint32_t kMaxGrid[3] = {0x7fffffff, 65535, 65535};
  constexpr std::uint32_t kMaxBlock[3] = {1024, 1024, 64};
  std::uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (shape.gridDim[i] == 0 || shape.gridDim[i] > kMaxGrid[i]) return CUDA_ERROR_INVALID_VALUE;
    if (shape.blockDim[i] == 0 || shape.blockDim[i] > kMaxBlock[i]) return CUDA_ERROR_INVALID_VALUE;
    threads *= shape.blockDim[i];
  }
  if (threads > function.info.maxThreads) return CUDA_ERROR_INVALID_VALUE;
  const auto &required = function.info.reqntid;
  if (required[0])
    for (int i = 0; i < 3; ++i)
      if (shape.blockDim[i] != std::max(1u, required[i])) return CUDA_ERROR_INVALID_VALUE;
  return shape.dynamicShared > function.maxDynamicShared() ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

// CU_LAUNCH_PARAM_*: a list of keys and values that ends with CU_LAUNCH_PARAM_END.
CUresult packExtra(const simt::KernelInfo &info, void **extra, simt::Params &packed) {
  const void *buffer = nullptr;
  const std::size_t *size = nullptr;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) size = static_cast<const std::size_t *>(extra[1]);
    else return CUDA_ERROR_INVALID_VALUE;
  }
  if (!buffer && !size) return info.params.empty() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  if (!buffer || !size || (*size == 0 && !info.params.empty())) return CUDA_ERROR_INVALID_VALUE;
  if (*size > info.paramBytes) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  packed.resize(info.paramBytes);
  if (*size) std::memcpy(packed.data(), buffer, *size);
  return CUDA_SUCCESS;
}

CUresult packParams(const simt::KernelInfo &info, void **params, void **extra, simt::Params &packed) {
  if (params && extra) return CUDA_ERROR_INVALID_VALUE;
  if (extra) return packExtra(info, extra, packed);
  if (info.params.empty()) return CUDA_SUCCESS;
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  packed.resize(info.paramBytes);
  for (std::size_t i = 0; i < info.params.size(); ++i) {
    if (!params[i]) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(packed.data() + info.params[i].offset, params[i], info.params[i].size);
  }
  return CUDA_SUCCESS;
}

CUresult checkCluster(const Function &function, const LaunchShape &shape, const std::array<std::uint32_t, 3> &dim) {
  std::uint64_t blocks = 1;
  for (int i = 0; i < 3; ++i) {
    if (dim[i] == 0 || shape.gridDim[i] % dim[i]) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    blocks *= dim[i];
  }
  std::uint64_t most = function.settings.nonPortableCluster ? 2 * sm90::kPortableCluster : sm90::kPortableCluster;
  return blocks > most ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
}

CUresult applyAttributes(std::span<const CUlaunchAttribute> attributes, Launch &launch) {
  for (const CUlaunchAttribute &attribute : attributes) {
    const CUlaunchAttributeValue &value = attribute.value;
    switch (attribute.id) {
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: launch.cooperative = value.cooperative != 0; break;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        launch.clusterDim = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
        launch.explicitCluster = true;
        break;
      case CU_LAUNCH_ATTRIBUTE_PRIORITY: launch.priority = value.priority; break;
      // Hints, or freedoms that the device need not use: work that may overlap with its predecessor does not.
      case CU_LAUNCH_ATTRIBUTE_IGNORE:
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: break;
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        log::once(log::Level::warn, fmt::format("launch attribute {}", static_cast<int>(attribute.id)),
                  fmt::format("launch attribute {} is not supported", static_cast<int>(attribute.id)));
        return CUDA_ERROR_NOT_SUPPORTED;
      default: return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}

void useFunctionCluster(const Function &function, Launch &launch) {
  for (int i = 0; i < 3; ++i) {
    auto set = static_cast<std::uint32_t>(function.settings.clusterDim[i].load());
    if (set == 0) continue;
    launch.clusterDim[i] = set;
    launch.explicitCluster = true;
  }
}

}  // namespace

CUresult prepareLaunch(Context &context, CUfunction handle, const LaunchShape &shape, void **params, void **extra,
                       std::span<const CUlaunchAttribute> attributes, Launch &launch) {
  Function *function = nullptr;
  if (CUresult result = resolveFunction(handle, context, function); result != CUDA_SUCCESS) return result;
  if (CUresult result = checkShape(shape, *function); result != CUDA_SUCCESS) return result;
  if (CUresult result = packParams(function->info, params, extra, launch.params); result != CUDA_SUCCESS) return result;
  launch.function = function;
  launch.module = Ref<Module>(&function->module);
  launch.gridDim = shape.gridDim;
  launch.blockDim = shape.blockDim;
  launch.dynamicShared = shape.dynamicShared;
  useFunctionCluster(*function, launch);
  if (CUresult result = applyAttributes(attributes, launch); result != CUDA_SUCCESS) return result;
  if (launch.explicitCluster)
    if (CUresult result = checkCluster(*function, shape, launch.clusterDim); result != CUDA_SUCCESS) return result;
  if (launch.cooperative && !fitsResident(*function, launch, context.device))
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  auto kernel = function->kernel(launch.blockDim.data());
  if (!kernel) return reportCompileError(kernel.error(), {});
  launch.kernel = std::move(*kernel);
  return CUDA_SUCCESS;
}

namespace {

CUresult launchKernel(CUfunction handle, const LaunchShape &shape, CUstream hStream, void **params, void **extra,
                      std::span<const CUlaunchAttribute> attributes) {
  Ref<Stream> stream;
  if (CUresult result = resolveStream(hStream, stream); result != CUDA_SUCCESS) return result;
  if (CUresult error = stream->context.error(); error != CUDA_SUCCESS) return error;
  if (CUresult result = checkImplicit(*stream); result != CUDA_SUCCESS) return result;
  Launch launch;
  CUresult result = prepareLaunch(stream->context, handle, shape, params, extra, attributes, launch);
  if (result != CUDA_SUCCESS) return result;
  if (&launch.function->module.context != &stream->context) return CUDA_ERROR_INVALID_HANDLE;
  return issue(*stream, std::move(launch));
}

}  // namespace

CUresult entry::cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                               unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                               unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra) {
  LaunchShape shape{{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes};
  return launchKernel(f, shape, hStream, kernelParams, extra, {});
}

CUresult entry::cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                          unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                          unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                          void **kernelParams) {
  LaunchShape shape{{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes};
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  return launchKernel(f, shape, hStream, kernelParams, nullptr, {&cooperative, 1});
}

CUresult entry::cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra) {
  if (!config || !validList(config->attrs, config->numAttrs)) return CUDA_ERROR_INVALID_VALUE;
  LaunchShape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                    {config->blockDimX, config->blockDimY, config->blockDimZ},
                    config->sharedMemBytes};
  return launchKernel(f, shape, config->hStream, kernelParams, extra, {config->attrs, config->numAttrs});
}

}  // namespace strata::driver
