// SPDX-License-Identifier: Apache-2.0
// Graph nodes whose parameters differ from the driver's: kernels by stub, copies by region or symbol, fills.
// The driver's forms also name the context; it is the current one.
#include "runtime/body.h"
#include "runtime/copy3d.h"
#include "runtime/registry.h"
#include "runtime/symbol.h"

namespace strata::runtime {
namespace {

cudaError_t toDriver(const cudaKernelNodeParams &from, CUDA_KERNEL_NODE_PARAMS &to) {
  to = {};
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
  return cudaSuccess;
}

CUDA_MEMSET_NODE_PARAMS toDriver(const cudaMemsetParams &from) {
  return {address(from.dst), from.pitch, from.value, from.elementSize, from.width, from.height};
}

// Binds the context and hands `use` the copy in the driver's form and the context.
template <class Use>
cudaError_t withCopy(const CUDA_MEMCPY3D &copy, Use use) {
  Context *context;
  if (cudaError_t error = bindContext(context)) return error;
  return toError(use(driver(), &copy, context->handle));
}

template <class Use>
cudaError_t withRegion(const cudaMemcpy3DParms *params, Use use) {
  if (!params) return cudaErrorInvalidValue;
  if (cudaError_t error = bindContext()) return error;
  CUDA_MEMCPY3D copy;
  if (cudaError_t error = runtime::toDriver(*params, copy)) return error;
  return withCopy(copy, use);
}

template <class Use>
cudaError_t with1D(void *dst, const void *src, std::size_t count, cudaMemcpyKind kind, Use use) {
  if (!validKind(kind)) return cudaErrorInvalidMemcpyDirection;
  return withCopy(copy1D(dst, src, count, kind), use);
}

template <class Use>
cudaError_t withTarget(const void *symbol, const void *src, std::size_t count, std::size_t offset, cudaMemcpyKind kind,
                       Use use) {
  void *dst;
  if (cudaError_t error = symbolRange(symbol, offset, count, dst)) return error;
  return with1D(dst, src, count, kind, use);
}

template <class Use>
cudaError_t withSource(void *dst, const void *symbol, std::size_t count, std::size_t offset, cudaMemcpyKind kind,
                       Use use) {
  void *src;
  if (cudaError_t error = symbolRange(symbol, offset, count, src)) return error;
  return with1D(dst, src, count, kind, use);
}

// What the entries do with a copy once it has the driver's form.
auto adding(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, std::size_t count) {
  return [=](const Driver &driver, const CUDA_MEMCPY3D *copy, CUcontext context) {
    return driver.cuGraphAddMemcpyNode(node, graph, dependencies, count, copy, context);
  };
}
auto setting(cudaGraphNode_t node) {
  return [=](const Driver &driver, const CUDA_MEMCPY3D *copy, CUcontext) {
    return driver.cuGraphMemcpyNodeSetParams(node, copy);
  };
}
auto settingIn(cudaGraphExec_t exec, cudaGraphNode_t node) {
  return [=](const Driver &driver, const CUDA_MEMCPY3D *copy, CUcontext context) {
    return driver.cuGraphExecMemcpyNodeSetParams(exec, node, copy, context);
  };
}

}  // namespace

cudaError_t body::cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                         const cudaGraphNode_t *pDependencies, std::size_t numDependencies,
                                         const cudaKernelNodeParams *pNodeParams) {
  if (!pNodeParams) return cudaErrorInvalidValue;
  CUDA_KERNEL_NODE_PARAMS params;
  if (cudaError_t error = toDriver(*pNodeParams, params)) return error;
  return toError(driver().cuGraphAddKernelNode(pGraphNode, graph, pDependencies, numDependencies, &params));
}

cudaError_t body::cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *pNodeParams) {
  if (!pNodeParams) return cudaErrorInvalidValue;
  if (cudaError_t error = bindContext()) return error;
  CUDA_KERNEL_NODE_PARAMS params;
  if (CUresult result = driver().cuGraphKernelNodeGetParams(node, &params)) return toError(result);
  const void *stub = stubOf(params.func);
  pNodeParams->func = stub ? const_cast<void *>(stub) : static_cast<void *>(params.func);
  pNodeParams->gridDim = dim3(params.gridDimX, params.gridDimY, params.gridDimZ);
  pNodeParams->blockDim = dim3(params.blockDimX, params.blockDimY, params.blockDimZ);
  pNodeParams->sharedMemBytes = params.sharedMemBytes;
  pNodeParams->kernelParams = params.kernelParams;
  pNodeParams->extra = params.extra;
  return cudaSuccess;
}

cudaError_t body::cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *pNodeParams) {
  if (!pNodeParams) return cudaErrorInvalidValue;
  CUDA_KERNEL_NODE_PARAMS params;
  if (cudaError_t error = toDriver(*pNodeParams, params)) return error;
  return toError(driver().cuGraphKernelNodeSetParams(node, &params));
}

cudaError_t body::cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                   const cudaKernelNodeParams *pNodeParams) {
  if (!pNodeParams) return cudaErrorInvalidValue;
  CUDA_KERNEL_NODE_PARAMS params;
  if (cudaError_t error = toDriver(*pNodeParams, params)) return error;
  return toError(driver().cuGraphExecKernelNodeSetParams(hGraphExec, node, &params));
}

cudaError_t body::cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                                  cudaLaunchAttributeValue *value_out) {
  return inContext([&](const Driver &driver) {
    return driver.cuGraphKernelNodeGetAttribute(hNode, static_cast<CUkernelNodeAttrID>(attr),
                                                as<CUkernelNodeAttrValue>(value_out));
  });
}

cudaError_t body::cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                                  const cudaLaunchAttributeValue *value) {
  return inContext([&](const Driver &driver) {
    return driver.cuGraphKernelNodeSetAttribute(hNode, static_cast<CUkernelNodeAttrID>(attr),
                                                as<CUkernelNodeAttrValue>(value));
  });
}

cudaError_t body::cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                         const cudaGraphNode_t *pDependencies, std::size_t numDependencies,
                                         const cudaMemcpy3DParms *pCopyParams) {
  return withRegion(pCopyParams, adding(pGraphNode, graph, pDependencies, numDependencies));
}

cudaError_t body::cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                 const cudaGraphNode_t *pDependencies, std::size_t numDependencies,
                                                 const void *symbol, const void *src, std::size_t count,
                                                 std::size_t offset, cudaMemcpyKind kind) {
  return withTarget(symbol, src, count, offset, kind, adding(pGraphNode, graph, pDependencies, numDependencies));
}

cudaError_t body::cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                                   const cudaGraphNode_t *pDependencies, std::size_t numDependencies,
                                                   void *dst, const void *symbol, std::size_t count, std::size_t offset,
                                                   cudaMemcpyKind kind) {
  return withSource(dst, symbol, count, offset, kind, adding(pGraphNode, graph, pDependencies, numDependencies));
}

cudaError_t body::cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                           const cudaGraphNode_t *pDependencies, std::size_t numDependencies, void *dst,
                                           const void *src, std::size_t count, cudaMemcpyKind kind) {
  return with1D(dst, src, count, kind, adding(pGraphNode, graph, pDependencies, numDependencies));
}

cudaError_t body::cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms *pNodeParams) {
  if (!pNodeParams) return cudaErrorInvalidValue;
  if (cudaError_t error = bindContext()) return error;
  CUDA_MEMCPY3D copy;
  if (CUresult result = driver().cuGraphMemcpyNodeGetParams(node, &copy)) return toError(result);
  return fromDriver(copy, *pNodeParams);
}

cudaError_t body::cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms *pNodeParams) {
  return withRegion(pNodeParams, setting(node));
}

cudaError_t body::cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *src,
                                                       std::size_t count, std::size_t offset, cudaMemcpyKind kind) {
  return withTarget(symbol, src, count, offset, kind, setting(node));
}

cudaError_t body::cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst, const void *symbol,
                                                         std::size_t count, std::size_t offset, cudaMemcpyKind kind) {
  return withSource(dst, symbol, count, offset, kind, setting(node));
}

cudaError_t body::cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src, std::size_t count,
                                                 cudaMemcpyKind kind) {
  return with1D(dst, src, count, kind, setting(node));
}

cudaError_t body::cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                   const cudaMemcpy3DParms *pNodeParams) {
  return withRegion(pNodeParams, settingIn(hGraphExec, node));
}

cudaError_t body::cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                           const void *symbol, const void *src, std::size_t count,
                                                           std::size_t offset, cudaMemcpyKind kind) {
  return withTarget(symbol, src, count, offset, kind, settingIn(hGraphExec, node));
}

cudaError_t body::cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                             void *dst, const void *symbol, std::size_t count,
                                                             std::size_t offset, cudaMemcpyKind kind) {
  return withSource(dst, symbol, count, offset, kind, settingIn(hGraphExec, node));
}

cudaError_t body::cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void *dst,
                                                     const void *src, std::size_t count, cudaMemcpyKind kind) {
  return with1D(dst, src, count, kind, settingIn(hGraphExec, node));
}

cudaError_t body::cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                         const cudaGraphNode_t *pDependencies, std::size_t numDependencies,
                                         const cudaMemsetParams *pMemsetParams) {
  if (!pMemsetParams) return cudaErrorInvalidValue;
  Context *context;
  if (cudaError_t error = bindContext(context)) return error;
  CUDA_MEMSET_NODE_PARAMS params = toDriver(*pMemsetParams);
  return toError(
      driver().cuGraphAddMemsetNode(pGraphNode, graph, pDependencies, numDependencies, &params, context->handle));
}

cudaError_t body::cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams *pNodeParams) {
  if (!pNodeParams) return cudaErrorInvalidValue;
  if (cudaError_t error = bindContext()) return error;
  CUDA_MEMSET_NODE_PARAMS params;
  if (CUresult result = driver().cuGraphMemsetNodeGetParams(node, &params)) return toError(result);
  *pNodeParams = {reinterpret_cast<void *>(params.dst),
                  params.pitch,
                  params.value,
                  params.elementSize,
                  params.width,
                  params.height};
  return cudaSuccess;
}

cudaError_t body::cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams *pNodeParams) {
  if (!pNodeParams) return cudaErrorInvalidValue;
  CUDA_MEMSET_NODE_PARAMS params = toDriver(*pNodeParams);
  return inContext([&](const Driver &driver) { return driver.cuGraphMemsetNodeSetParams(node, &params); });
}

cudaError_t body::cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                   const cudaMemsetParams *pNodeParams) {
  if (!pNodeParams) return cudaErrorInvalidValue;
  Context *context;
  if (cudaError_t error = bindContext(context)) return error;
  CUDA_MEMSET_NODE_PARAMS params = toDriver(*pNodeParams);
  return toError(driver().cuGraphExecMemsetNodeSetParams(hGraphExec, node, &params, context->handle));
}

cudaError_t body::cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *pType) {
  return inContext([&](const Driver &driver) { return driver.cuGraphNodeGetType(node, as<CUgraphNodeType>(pType)); });
}

cudaError_t body::cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *pHandle_out, cudaGraph_t graph,
                                                   unsigned int defaultLaunchValue, unsigned int flags) {
  Context *context;
  if (cudaError_t error = bindContext(context)) return error;
  return toError(driver().cuGraphConditionalHandleCreate(as<CUgraphConditionalHandle>(pHandle_out), graph,
                                                         context->handle, defaultLaunchValue, flags));
}

}  // namespace strata::runtime
