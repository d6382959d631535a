// SPDX-License-Identifier: Apache-2.0
// Nodes' parameters: from what a program gives to work, and back.
#include <algorithm>

#include "driver/copy.h"
#include "driver/entries.h"
#include "driver/event.h"
#include "driver/graph.h"
#include "driver/graph_memory.h"
#include "driver/launch.h"
#include "driver/memory.h"

namespace strata::driver {
namespace {

Context *contextFor(CUcontext handle) { return handle ? findContext(handle) : currentContext(); }

void keepParamPointers(Launch &launch) {
  launch.paramPointers.clear();
  for (const auto &param : launch.function->info.params)
    launch.paramPointers.push_back(launch.params.data() + param.offset);
}

}  // namespace

CUresult kernelWork(const CUDA_KERNEL_NODE_PARAMS &params, Work &work) {
  Context *context = contextFor(params.ctx);
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  CUfunction function = params.func ? params.func : reinterpret_cast<CUfunction>(params.kern);
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  LaunchShape shape{{params.gridDimX, params.gridDimY, params.gridDimZ},
                    {params.blockDimX, params.blockDimY, params.blockDimZ},
                    params.sharedMemBytes};
  Launch launch;
  CUresult result = prepareLaunch(*context, function, shape, params.kernelParams, params.extra, {}, launch);
  if (result != CUDA_SUCCESS) return result;
  keepParamPointers(launch);
  work = std::move(launch);
  return CUDA_SUCCESS;
}

CUresult copyWork(const CUDA_MEMCPY3D &params, Work &work) {
  Copy copy;
  CUresult result = planCopy(params, copy);
  if (result == CUDA_SUCCESS) work = copy;
  return result;
}

CUresult fillWork(const CUDA_MEMSET_NODE_PARAMS &params, Work &work) {
  if (params.elementSize != 1 && params.elementSize != 2 && params.elementSize != 4) return CUDA_ERROR_INVALID_VALUE;
  if (!params.width || !params.height) return CUDA_ERROR_INVALID_VALUE;
  Fill fill{params.dst, params.pitch, params.width, params.height, params.value, params.elementSize};
  CUresult result = checkFill(fill);
  if (result == CUDA_SUCCESS) work = fill;
  return result;
}

CUresult hostWork(const CUDA_HOST_NODE_PARAMS &params, Work &work) {
  if (!params.fn) return CUDA_ERROR_INVALID_VALUE;
  work = HostCall{params.fn, params.userData};
  return CUDA_SUCCESS;
}

CUresult allocationWork(CUDA_MEM_ALLOC_NODE_PARAMS &params, Work &work) {
  if (!params.bytesize || params.poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (params.poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
  Device *device = params.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE
                       ? findDevice(params.poolProps.location.id)
                       : nullptr;
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  AllocateMemory allocate;
  CUresult result = GraphMemory::create(*device, params.bytesize, allocate.memory);
  if (result != CUDA_SUCCESS) return result;
  params.dptr = allocate.memory->base();
  allocate.described = params;
  allocate.described.accessDescs = nullptr;  // the program's array need not live on
  allocate.described.accessDescCount = 0;
  work = std::move(allocate);
  return CUDA_SUCCESS;
}

CUresult freeWork(CUdeviceptr dptr, Work &work) {
  if (!Memory::get().findBase(dptr, bit(MemoryKind::graph))) return CUDA_ERROR_INVALID_VALUE;
  work = FreeMemory{dptr};
  return CUDA_SUCCESS;
}

CUresult workOf(CUgraphNodeParams &params, Work &work) {
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_EMPTY: work = NoWork{}; return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      CUDA_KERNEL_NODE_PARAMS kernel;
      static_assert(sizeof kernel == sizeof params.kernel);
      std::copy_n(reinterpret_cast<const char *>(&params.kernel), sizeof kernel, reinterpret_cast<char *>(&kernel));
      return kernelWork(kernel, work);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copyWork(params.memcpy.copyParams, work);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const auto &m = params.memset;
      return fillWork({m.dst, m.pitch, m.value, m.elementSize, m.width, m.height}, work);
    }
    case CU_GRAPH_NODE_TYPE_HOST: return hostWork({params.host.fn, params.host.userData}, work);
    case CU_GRAPH_NODE_TYPE_GRAPH: {
      Graph *child = findGraph(params.graph.graph);
      if (!child) return CUDA_ERROR_INVALID_VALUE;
      if (params.graph.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE) return CUDA_ERROR_NOT_SUPPORTED;
      work = ChildGraph{child->clone()};
      return CUDA_SUCCESS;
    }
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: {
      bool record = params.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
      Event *event = findEvent(record ? params.eventRecord.event : params.eventWait.event);
      if (!event) return CUDA_ERROR_INVALID_VALUE;
      if (record) work = RecordEvent{Ref<Event>(event)};
      else work = WaitEvent{Ref<Event>(event)};
      return CUDA_SUCCESS;
    }
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
      CUDA_MEM_ALLOC_NODE_PARAMS alloc{};
      alloc.poolProps = params.alloc.poolProps;
      alloc.bytesize = params.alloc.bytesize;
      CUresult result = allocationWork(alloc, work);
      params.alloc.dptr = alloc.dptr;
      return result;
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return freeWork(params.free.dptr, work);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult replaceWork(Work &old, Work work) {
  if (old.index() != work.index()) return CUDA_ERROR_INVALID_VALUE;
  if (auto *before = std::get_if<Launch>(&old)) {
    auto &launch = std::get<Launch>(work);
    launch.cooperative = before->cooperative;
    launch.priority = before->priority;
    if (before->explicitCluster && !launch.explicitCluster) {
      launch.explicitCluster = true;
      launch.clusterDim = before->clusterDim;
    }
  }
  old = std::move(work);
  if (auto *launch = std::get_if<Launch>(&old)) keepParamPointers(*launch);
  return CUDA_SUCCESS;
}

namespace {

// The node's work of one kind; null if it has another.
template <class T>
T *workAs(CUgraphNode handle) {
  Node *node = findNode(handle);
  return node ? std::get_if<T>(&node->work) : nullptr;
}

CUresult addNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, std::size_t count,
                 Work work) {
  Graph *graph = findGraph(hGraph);
  if (!phGraphNode || !graph || (count && !dependencies)) return CUDA_ERROR_INVALID_VALUE;
  std::vector<Node *> after;
  for (std::size_t i = 0; i < count; ++i) {
    Node *node = findNode(dependencies[i]);
    if (!node || &node->graph != graph || std::find(after.begin(), after.end(), node) != after.end())
      return CUDA_ERROR_INVALID_VALUE;
    after.push_back(node);
  }
  Node *added = graph->add(std::move(work), after);
  if (!added) return CUDA_ERROR_OUT_OF_MEMORY;
  if (auto *launch = std::get_if<Launch>(&added->work)) keepParamPointers(*launch);
  *phGraphNode = added->handle;
  return CUDA_SUCCESS;
}

CUDA_KERNEL_NODE_PARAMS newest(const CUDA_KERNEL_NODE_PARAMS_v1 &old) {
  CUDA_KERNEL_NODE_PARAMS params{};
  std::copy_n(reinterpret_cast<const char *>(&old), sizeof old, reinterpret_cast<char *>(&params));
  return params;
}

CUresult setWork(CUgraphNode handle, CUresult made, Work work) {
  Node *node = findNode(handle);
  if (!node) return CUDA_ERROR_INVALID_VALUE;
  return made == CUDA_SUCCESS ? replaceWork(node->work, std::move(work)) : made;
}

}  // namespace

CUresult entry::cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                    size_t numDependencies) {
  return addNode(phGraphNode, hGraph, dependencies, numDependencies, NoWork{});
}

CUresult entry::cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                        size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  CUresult result = kernelWork(*nodeParams, work);
  if (result != CUDA_SUCCESS) return result;
  return addNode(phGraphNode, hGraph, dependencies, numDependencies, std::move(work));
}

CUresult entry::cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                     size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUDA_KERNEL_NODE_PARAMS params = newest(*nodeParams);
  return cuGraphAddKernelNode_v2(phGraphNode, hGraph, dependencies, numDependencies, &params);
}

CUresult entry::cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams) {
  Launch *launch = workAs<Launch>(hNode);
  if (!launch || !nodeParams) return CUDA_ERROR_INVALID_VALUE;
  *nodeParams = {};
  nodeParams->func = launch->function->handle;
  nodeParams->gridDimX = launch->gridDim[0];
  nodeParams->gridDimY = launch->gridDim[1];
  nodeParams->gridDimZ = launch->gridDim[2];
  nodeParams->blockDimX = launch->blockDim[0];
  nodeParams->blockDimY = launch->blockDim[1];
  nodeParams->blockDimZ = launch->blockDim[2];
  nodeParams->sharedMemBytes = launch->dynamicShared;
  nodeParams->kernelParams = launch->paramPointers.empty() ? nullptr : launch->paramPointers.data();
  nodeParams->ctx = launch->module->context.handle;
  return CUDA_SUCCESS;
}

CUresult entry::cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams) {
  CUDA_KERNEL_NODE_PARAMS params;
  CUresult result = nodeParams ? cuGraphKernelNodeGetParams_v2(hNode, &params) : CUDA_ERROR_INVALID_VALUE;
  if (result == CUDA_SUCCESS)
    std::copy_n(reinterpret_cast<const char *>(&params), sizeof *nodeParams, reinterpret_cast<char *>(nodeParams));
  return result;
}

CUresult entry::cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  CUresult result = kernelWork(*nodeParams, work);
  return setWork(hNode, result, std::move(work));
}

CUresult entry::cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUDA_KERNEL_NODE_PARAMS params = newest(*nodeParams);
  return cuGraphKernelNodeSetParams_v2(hNode, &params);
}

CUresult entry::cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                              CUkernelNodeAttrValue *value_out) {
  Launch *launch = workAs<Launch>(hNode);
  if (!launch || !value_out) return CUDA_ERROR_INVALID_VALUE;
  switch (attr) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: value_out->cooperative = launch->cooperative; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: value_out->priority = launch->priority; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      value_out->clusterDim = {launch->clusterDim[0], launch->clusterDim[1], launch->clusterDim[2]};
      return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult entry::cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                              const CUkernelNodeAttrValue *value) {
  Launch *launch = workAs<Launch>(hNode);
  if (!launch || !value) return CUDA_ERROR_INVALID_VALUE;
  switch (attr) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: launch->cooperative = value->cooperative != 0; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: launch->priority = value->priority; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: return CUDA_SUCCESS;  // a hint, see cuStreamSetAttribute
    default: return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult entry::cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                     size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext ctx) {
  if (!copyParams) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  CUresult result = copyWork(*copyParams, work);
  if (result != CUDA_SUCCESS) return result;
  return addNode(phGraphNode, hGraph, dependencies, numDependencies, std::move(work));
}

CUresult entry::cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams) {
  Copy *copy = workAs<Copy>(hNode);
  if (!copy || !nodeParams) return CUDA_ERROR_INVALID_VALUE;
  *nodeParams = copy->described;
  return CUDA_SUCCESS;
}

CUresult entry::cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  CUresult result = copyWork(*nodeParams, work);
  return setWork(hNode, result, std::move(work));
}

CUresult entry::cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                     size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                                     CUcontext ctx) {
  if (!memsetParams) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  CUresult result = fillWork(*memsetParams, work);
  if (result != CUDA_SUCCESS) return result;
  return addNode(phGraphNode, hGraph, dependencies, numDependencies, std::move(work));
}

CUresult entry::cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams) {
  Fill *fill = workAs<Fill>(hNode);
  if (!fill || !nodeParams) return CUDA_ERROR_INVALID_VALUE;
  *nodeParams = {fill->destination, fill->pitch, fill->value, fill->elementSize, fill->width, fill->height};
  return CUDA_SUCCESS;
}

CUresult entry::cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  CUresult result = fillWork(*nodeParams, work);
  return setWork(hNode, result, std::move(work));
}

CUresult entry::cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                   size_t numDependencies, const CUDA_HOST_NODE_PARAMS *nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  CUresult result = hostWork(*nodeParams, work);
  if (result != CUDA_SUCCESS) return result;
  return addNode(phGraphNode, hGraph, dependencies, numDependencies, std::move(work));
}

CUresult entry::cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams) {
  HostCall *call = workAs<HostCall>(hNode);
  if (!call || !nodeParams) return CUDA_ERROR_INVALID_VALUE;
  *nodeParams = {call->function, call->data};
  return CUDA_SUCCESS;
}

CUresult entry::cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  CUresult result = hostWork(*nodeParams, work);
  return setWork(hNode, result, std::move(work));
}

CUresult entry::cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                         size_t numDependencies, CUgraph childGraph) {
  Graph *child = findGraph(childGraph);
  if (!child || childGraph == hGraph) return CUDA_ERROR_INVALID_VALUE;
  return addNode(phGraphNode, hGraph, dependencies, numDependencies, ChildGraph{child->clone()});
}

CUresult entry::cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph) {
  ChildGraph *child = workAs<ChildGraph>(hNode);
  if (!child || !phGraph) return CUDA_ERROR_INVALID_VALUE;
  if (!child->graph->handle) child->graph->handle = handles<Graph, CUgraph>().add(child->graph);
  *phGraph = child->graph->handle;
  return CUDA_SUCCESS;
}

namespace {

template <class T>
CUresult addEventNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, std::size_t count,
                      CUevent handle) {
  Event *event = findEvent(handle);
  if (!event) return CUDA_ERROR_INVALID_VALUE;
  return addNode(phGraphNode, hGraph, dependencies, count, T{Ref<Event>(event)});
}

template <class T>
CUresult getEvent(CUgraphNode hNode, CUevent *event_out) {
  T *work = workAs<T>(hNode);
  if (!work || !event_out) return CUDA_ERROR_INVALID_VALUE;
  *event_out = work->event->handle;
  return CUDA_SUCCESS;
}

template <class T>
CUresult setEvent(CUgraphNode hNode, CUevent handle) {
  T *work = workAs<T>(hNode);
  Event *event = findEvent(handle);
  if (!work || !event) return CUDA_ERROR_INVALID_VALUE;
  work->event = Ref<Event>(event);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult entry::cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                          size_t numDependencies, CUevent event) {
  return addEventNode<RecordEvent>(phGraphNode, hGraph, dependencies, numDependencies, event);
}
CUresult entry::cuGraphAddEventWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                        size_t numDependencies, CUevent event) {
  return addEventNode<WaitEvent>(phGraphNode, hGraph, dependencies, numDependencies, event);
}
CUresult entry::cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent *event_out) {
  return getEvent<RecordEvent>(hNode, event_out);
}
CUresult entry::cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent *event_out) {
  return getEvent<WaitEvent>(hNode, event_out);
}
CUresult entry::cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) {
  return setEvent<RecordEvent>(hNode, event);
}
CUresult entry::cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) {
  return setEvent<WaitEvent>(hNode, event);
}

CUresult entry::cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                       size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams) {
  if (!nodeParams || !phGraphNode || !findGraph(hGraph)) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  CUresult result = allocationWork(*nodeParams, work);
  if (result != CUDA_SUCCESS) return result;
  return addNode(phGraphNode, hGraph, dependencies, numDependencies, std::move(work));
}

CUresult entry::cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS *params_out) {
  AllocateMemory *allocate = workAs<AllocateMemory>(hNode);
  if (!allocate || !params_out) return CUDA_ERROR_INVALID_VALUE;
  *params_out = allocate->described;
  return CUDA_SUCCESS;
}

CUresult entry::cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                      size_t numDependencies, CUdeviceptr dptr) {
  Work work;
  CUresult result = freeWork(dptr, work);
  if (result != CUDA_SUCCESS) return result;
  return addNode(phGraphNode, hGraph, dependencies, numDependencies, std::move(work));
}

CUresult entry::cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out) {
  FreeMemory *free = workAs<FreeMemory>(hNode);
  if (!free || !dptr_out) return CUDA_ERROR_INVALID_VALUE;
  *dptr_out = free->base;
  return CUDA_SUCCESS;
}

CUresult entry::cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                  const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                  CUgraphNodeParams *nodeParams) {
  if (!phGraphNode || !findGraph(hGraph) || !nodeParams) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; dependencyData && i < numDependencies; ++i)
    if (dependencyData[i].from_port || dependencyData[i].to_port || dependencyData[i].type)
      return CUDA_ERROR_NOT_SUPPORTED;
  Work work;
  CUresult result = workOf(*nodeParams, work);
  if (result != CUDA_SUCCESS) return result;
  return addNode(phGraphNode, hGraph, dependencies, numDependencies, std::move(work));
}

CUresult entry::cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                               size_t numDependencies, CUgraphNodeParams *nodeParams) {
  return cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, nullptr, numDependencies, nodeParams);
}

CUresult entry::cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams) {
  Node *node = findNode(hNode);
  if (!node || !nodeParams || typeOf(node->work) != nodeParams->type) return CUDA_ERROR_INVALID_VALUE;
  if (nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_FREE ||
      nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return CUDA_ERROR_NOT_SUPPORTED;
  Work work;
  CUresult result = workOf(*nodeParams, work);
  return setWork(hNode, result, std::move(work));
}

}  // namespace strata::driver
