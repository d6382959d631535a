// SPDX-License-Identifier: Apache-2.0
// Structures and numbers of the runtime API that are handed to the driver as they are: here the compiler
// checks that both headers mean the same.
#include <cstddef>

#include "toolkit/include/cuda.h"
#include "toolkit/include/cuda_runtime_api.h"

namespace {

#define SAME_SIZE(ours, drivers) \
  static_assert(sizeof(ours) == sizeof(drivers) && alignof(ours) == alignof(drivers))
#define SAME_PLACE(ours, field, drivers, driversField) \
  static_assert(offsetof(ours, field) == offsetof(drivers, driversField))
#define SAME_NUMBER(ours, drivers) static_assert(static_cast<int>(ours) == static_cast<int>(drivers))

SAME_SIZE(cudaGraphEdgeData, CUgraphEdgeData);
SAME_SIZE(cudaGraphExecUpdateResultInfo, CUgraphExecUpdateResultInfo);
SAME_PLACE(cudaGraphExecUpdateResultInfo, errorFromNode, CUgraphExecUpdateResultInfo, errorFromNode);
SAME_SIZE(cudaGraphInstantiateParams, CUDA_GRAPH_INSTANTIATE_PARAMS);
SAME_PLACE(cudaGraphInstantiateParams, result_out, CUDA_GRAPH_INSTANTIATE_PARAMS, result_out);
SAME_SIZE(cudaHostNodeParams, CUDA_HOST_NODE_PARAMS);
SAME_SIZE(cudaMemAllocNodeParams, CUDA_MEM_ALLOC_NODE_PARAMS);
SAME_SIZE(cudaMemAllocNodeParamsV2, CUDA_MEM_ALLOC_NODE_PARAMS_v2);
SAME_PLACE(cudaMemAllocNodeParams, dptr, CUDA_MEM_ALLOC_NODE_PARAMS, dptr);
SAME_SIZE(cudaMemPoolProps, CUmemPoolProps);
SAME_PLACE(cudaMemPoolProps, usage, CUmemPoolProps, usage);
SAME_SIZE(cudaMemAccessDesc, CUmemAccessDesc);
SAME_SIZE(cudaMemLocation, CUmemLocation);
SAME_SIZE(cudaMemPoolPtrExportData, CUmemPoolPtrExportData);
SAME_SIZE(cudaIpcEventHandle_t, CUipcEventHandle);
SAME_SIZE(cudaIpcMemHandle_t, CUipcMemHandle);
SAME_SIZE(cudaMemcpyAttributes, CUmemcpyAttributes);
SAME_PLACE(cudaMemcpyAttributes, flags, CUmemcpyAttributes, flags);
SAME_SIZE(cudaLaunchAttribute, CUlaunchAttribute);
SAME_PLACE(cudaLaunchAttribute, val, CUlaunchAttribute, value);
SAME_SIZE(cudaLaunchAttributeValue, CUlaunchAttributeValue);
SAME_PLACE(cudaLaunchAttributeValue, deviceUpdatableKernelNode.devNode, CUlaunchAttributeValue,
           deviceUpdatableKernelNode.devNode);
SAME_SIZE(cudaArraySparseProperties, CUDA_ARRAY_SPARSE_PROPERTIES);
SAME_SIZE(cudaArrayMemoryRequirements, CUDA_ARRAY_MEMORY_REQUIREMENTS);
SAME_SIZE(cudaResourceViewDesc, CUDA_RESOURCE_VIEW_DESC);
SAME_PLACE(cudaResourceViewDesc, lastLayer, CUDA_RESOURCE_VIEW_DESC, lastLayer);
SAME_SIZE(cudaTextureObject_t, CUtexObject);
SAME_SIZE(cudaGraphConditionalHandle, CUgraphConditionalHandle);

SAME_NUMBER(cudaLaunchAttributeCooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME_NUMBER(cudaLaunchAttributeClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME_NUMBER(cudaLaunchAttributePriority, CU_LAUNCH_ATTRIBUTE_PRIORITY);
SAME_NUMBER(cudaFuncAttributeMaxDynamicSharedMemorySize, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_NUMBER(cudaFuncAttributeClusterSchedulingPolicyPreference, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
SAME_NUMBER(cudaLimitPersistingL2CacheSize, CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
SAME_NUMBER(cudaLimitMallocHeapSize, CU_LIMIT_MALLOC_HEAP_SIZE);
SAME_NUMBER(cudaMemAdviseUnsetAccessedBy, CU_MEM_ADVISE_UNSET_ACCESSED_BY);
SAME_NUMBER(cudaMemRangeAttributeLastPrefetchLocationId, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID);
SAME_NUMBER(cudaMemPoolAttrUsedMemHigh, CU_MEMPOOL_ATTR_USED_MEM_HIGH);
SAME_NUMBER(cudaDevAttrHostNumaId, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
SAME_NUMBER(cudaDevAttrMaxTexture2DMipmappedHeight, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT);
SAME_NUMBER(cudaDevP2PAttrNativeAtomicSupported, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED);
SAME_NUMBER(cudaAtomicOperationFloatMax, CU_ATOMIC_OPERATION_FLOAT_MAX);
SAME_NUMBER(cudaStreamCaptureModeRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME_NUMBER(cudaGraphNodeTypeConditional, CU_GRAPH_NODE_TYPE_CONDITIONAL);
SAME_NUMBER(cudaGraphNodeTypeMemFree, CU_GRAPH_NODE_TYPE_MEM_FREE);
SAME_NUMBER(cudaGraphMemAttrReservedMemHigh, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);
SAME_NUMBER(cudaFuncCachePreferEqual, CU_FUNC_CACHE_PREFER_EQUAL);
SAME_NUMBER(cudaJitOverrideDirectiveValues, CU_JIT_OVERRIDE_DIRECTIVE_VALUES);
SAME_NUMBER(cudaLibraryBinaryIsPreserved, CU_LIBRARY_BINARY_IS_PRESERVED);
SAME_NUMBER(cudaAddressModeBorder, CU_TR_ADDRESS_MODE_BORDER);
SAME_NUMBER(cudaFilterModeLinear, CU_TR_FILTER_MODE_LINEAR);
SAME_NUMBER(cudaDriverEntryPointVersionNotSufficent, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
SAME_NUMBER(cudaEnablePerThreadDefaultStream, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);

}  // namespace
