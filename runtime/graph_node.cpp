// SPDX-License-Identifier: Apache-2.0
// cudaGraphAddNode and its kin: nodes of any type by one structure.
#include "runtime/body.h"
#include "runtime/copy3d.h"
#include "runtime/registry.h"

namespace strata::runtime {
namespace {

cudaError_t kernelNode(const cudaKernelNodeParamsV2 &from, CUDA_KERNEL_NODE_PARAMS_v3 &to, CUcontext context) {
  if (cudaError_t error = functionFor(from.func, to.func)) return error;
  to.gridDimX = from.gridDim.x;
  to.gridDimY = from.gridDim.y;
  to.gridDimZ = from.gridDim.z;
  to.blockDimX = from.blockDim.x;
  to.blockDimY = from.blockDim.y;
  to.blockDimZ = from.blockDim.z;
  to.sharedMemBytes = from.sharedMemBytes;
  to.kernelParams = from.kernelParams;
  to.extra = from.extra;
  to.ctx = context;
  return cudaSuccess;
}

cudaError_t toDriver(const cudaGraphNodeParams &from, CUgraphNodeParams &to, CUcontext context) {
  to = {};
  to.type = static_cast<CUgraphNodeType>(from.type);
  switch (from.type) {
    case cudaGraphNodeTypeKernel: return kernelNode(from.kernel, to.kernel, context);
    case cudaGraphNodeTypeMemcpy:
      to.memcpy.flags = from.memcpy.flags;
      to.memcpy.copyCtx = context;
      return runtime::toDriver(from.memcpy.copyParams, to.memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      to.memset = {address(from.memset.dst),
                   from.memset.pitch,
                   from.memset.value,
                   from.memset.elementSize,
                   from.memset.width,
                   from.memset.height,
                   context};
      return cudaSuccess;
    case cudaGraphNodeTypeHost:
      to.host.fn = from.host.fn;
      to.host.userData = from.host.userData;
      return cudaSuccess;
    case cudaGraphNodeTypeGraph:
      to.graph.graph = from.graph.graph;
      to.graph.ownership = static_cast<CUgraphChildGraphNodeOwnership>(from.graph.ownership);
      return cudaSuccess;
    case cudaGraphNodeTypeEmpty: return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent: to.eventWait.event = from.eventWait.event; return cudaSuccess;
    case cudaGraphNodeTypeEventRecord: to.eventRecord.event = from.eventRecord.event; return cudaSuccess;
    case cudaGraphNodeTypeMemAlloc: to.alloc = *as<CUDA_MEM_ALLOC_NODE_PARAMS_v2>(&from.alloc); return cudaSuccess;
    case cudaGraphNodeTypeMemFree: to.free.dptr = address(from.free.dptr); return cudaSuccess;
    case cudaGraphNodeTypeConditional:
      to.conditional.handle = from.conditional.handle;
      to.conditional.type = static_cast<CUgraphConditionalNodeType>(from.conditional.type);
      to.conditional.size = from.conditional.size;
      to.conditional.ctx = context;
      return cudaSuccess;
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait: return notSupported("graph nodes with external semaphores");
    default: return cudaErrorInvalidValue;
  }
}

// What the driver answers in the parameters.
void answer(const CUgraphNodeParams &from, cudaGraphNodeParams &to) {
  if (to.type == cudaGraphNodeTypeMemAlloc) to.alloc.dptr = reinterpret_cast<void *>(from.alloc.dptr);
  if (to.type == cudaGraphNodeTypeConditional) to.conditional.phGraph_out = from.conditional.phGraph_out;
}

template <class Use>
cudaError_t withParams(cudaGraphNodeParams *params, Use use) {
  if (!params) return cudaErrorInvalidValue;
  Context *context;
  if (cudaError_t error = bindContext(context)) return error;
  CUgraphNodeParams forDriver;
  if (cudaError_t error = toDriver(*params, forDriver, context->handle)) return error;
  CUresult result = use(driver(), &forDriver);
  if (result == CUDA_SUCCESS) answer(forDriver, *params);
  return toError(result);
}

}  // namespace

cudaError_t body::cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                   const cudaGraphEdgeData *dependencyData, std::size_t numDependencies,
                                   cudaGraphNodeParams *nodeParams) {
  return withParams(nodeParams, [&](const Driver &driver, CUgraphNodeParams *params) {
    return driver.cuGraphAddNode(pGraphNode, graph, pDependencies, as<CUgraphEdgeData>(dependencyData), numDependencies,
                                 params);
  });
}

cudaError_t body::cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams *nodeParams) {
  return withParams(nodeParams, [&](const Driver &driver, CUgraphNodeParams *params) {
    return driver.cuGraphNodeSetParams(node, params);
  });
}

cudaError_t body::cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                             cudaGraphNodeParams *nodeParams) {
  return withParams(nodeParams, [&](const Driver &driver, CUgraphNodeParams *params) {
    return driver.cuGraphExecNodeSetParams(graphExec, node, params);
  });
}

}  // namespace strata::runtime
