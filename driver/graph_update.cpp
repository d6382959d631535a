// SPDX-License-Identifier: Apache-2.0
// Changing an executable graph: single nodes, or all of them from a graph of the same shape. Launches that were
// submitted keep the plan they were made with.
#include <algorithm>

#include "driver/entries.h"
#include "driver/event.h"
#include "driver/graph_exec.h"

namespace strata::driver {
namespace {

// Lets `change(step)` edit one step of a new plan; null step: the node is not in the graph.
template <class Change>
CUresult changeStep(CUgraphExec handle, CUgraphNode node, Change change) {
  GraphExec *exec = findExec(handle);
  if (!exec || !node) return CUDA_ERROR_INVALID_VALUE;
  auto found = exec->plan->stepOf.find(node);
  if (found == exec->plan->stepOf.end()) return CUDA_ERROR_INVALID_VALUE;
  auto plan = std::make_shared<Plan>(*exec->plan);
  CUresult result = change(plan->steps[found->second]);
  if (result != CUDA_SUCCESS) return result;
  plan->noteHostCopies();
  exec->plan = std::move(plan);
  return result;
}

CUresult setWork(CUgraphExec exec, CUgraphNode node, CUresult made, Work work) {
  return changeStep(exec, node, [&](Plan::Step &step) {
    if (made != CUDA_SUCCESS) return made;
    return replaceWork(step.work, std::move(work));
  });
}

struct Difference {
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  CUgraphNode node = nullptr;
};

// The nodes' places in their graphs' lists stand for their identity: shapes are equal if each node has its
// counterpart's dependencies.
Difference compare(const Graph &before, const Graph &after) {
  if (before.nodes.size() != after.nodes.size()) return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr};
  std::unordered_map<const Node *, const Node *> counterpart;
  for (std::size_t i = 0; i < before.nodes.size(); ++i) counterpart[before.nodes[i].get()] = after.nodes[i].get();
  for (std::size_t i = 0; i < before.nodes.size(); ++i) {
    const Node &a = *before.nodes[i], &b = *after.nodes[i];
    if (typeOf(a.work) != typeOf(b.work)) return {CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, b.handle};
    if (a.dependencies.size() != b.dependencies.size()) return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, b.handle};
    for (const Node *dependency : a.dependencies)
      if (std::find(b.dependencies.begin(), b.dependencies.end(), counterpart[dependency]) == b.dependencies.end())
        return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, b.handle};
    if (const auto *launch = std::get_if<Launch>(&a.work)) {
      const auto &other = std::get<Launch>(b.work);
      if (&launch->module->context != &other.module->context)
        return {CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE, b.handle};
      if (launch->cooperative != other.cooperative) return {CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, b.handle};
    }
    if (std::holds_alternative<AllocateMemory>(a.work)) return {CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, b.handle};
    if (const auto *child = std::get_if<ChildGraph>(&a.work))
      if (Difference inner = compare(*child->graph, *std::get<ChildGraph>(b.work).graph);
          inner.result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
        return inner;
  }
  return {};
}

CUresult update(CUgraphExec hExec, CUgraph hGraph, Difference &difference) {
  GraphExec *exec = findExec(hExec);
  Graph *graph = findGraph(hGraph);
  if (!exec || !graph) return CUDA_ERROR_INVALID_VALUE;
  difference = compare(*exec->source, *graph);
  if (difference.result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  auto plan = std::make_shared<Plan>();
  if (CUresult result = makePlan(*graph, *plan); result != CUDA_SUCCESS) return result;
  // Nodes of the graph that the executable one was made from keep naming their steps.
  std::unordered_map<const Node *, CUgraphNode> newHandle;
  for (std::size_t i = 0; i < graph->nodes.size(); ++i)
    newHandle[exec->source->nodes[i].get()] = graph->nodes[i]->handle;
  for (const auto &[handle, copy] : exec->copyOf) {
    std::uint32_t step = plan->stepOf[newHandle[copy]];
    plan->stepOf[handle] = step;
    plan->steps[step].enabled = exec->plan->steps[exec->plan->stepOf.at(handle)].enabled;
  }
  exec->plan = std::move(plan);
  return CUDA_SUCCESS;
}

CUDA_KERNEL_NODE_PARAMS newest(const CUDA_KERNEL_NODE_PARAMS_v1 &old) {
  CUDA_KERNEL_NODE_PARAMS params{};
  std::copy_n(reinterpret_cast<const char *>(&old), sizeof old, reinterpret_cast<char *>(&params));
  return params;
}

}  // namespace

CUresult entry::cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo) {
  if (!resultInfo) return CUDA_ERROR_INVALID_VALUE;
  Difference difference;
  CUresult result = update(hGraphExec, hGraph, difference);
  *resultInfo = {difference.result, difference.node, nullptr};
  return result;
}

CUresult entry::cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                                  CUgraphExecUpdateResult *updateResult_out) {
  if (!updateResult_out) return CUDA_ERROR_INVALID_VALUE;
  Difference difference;
  CUresult result = update(hGraphExec, hGraph, difference);
  if (hErrorNode_out) *hErrorNode_out = difference.node;
  *updateResult_out = difference.result;
  return result;
}

CUresult entry::cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                  const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  CUresult result = kernelWork(*nodeParams, work);
  return setWork(hGraphExec, hNode, result, std::move(work));
}

CUresult entry::cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                               const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUDA_KERNEL_NODE_PARAMS params = newest(*nodeParams);
  return cuGraphExecKernelNodeSetParams_v2(hGraphExec, hNode, &params);
}

CUresult entry::cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                               const CUDA_MEMCPY3D *copyParams, CUcontext ctx) {
  if (!copyParams) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  CUresult result = copyWork(*copyParams, work);
  return setWork(hGraphExec, hNode, result, std::move(work));
}

CUresult entry::cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                               const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx) {
  if (!memsetParams) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  CUresult result = fillWork(*memsetParams, work);
  return setWork(hGraphExec, hNode, result, std::move(work));
}

CUresult entry::cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                             const CUDA_HOST_NODE_PARAMS *nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  CUresult result = hostWork(*nodeParams, work);
  return setWork(hGraphExec, hNode, result, std::move(work));
}

CUresult entry::cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {
  Event *found = findEvent(event);
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  return setWork(hGraphExec, hNode, CUDA_SUCCESS, RecordEvent{Ref<Event>(found)});
}

CUresult entry::cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {
  Event *found = findEvent(event);
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  return setWork(hGraphExec, hNode, CUDA_SUCCESS, WaitEvent{Ref<Event>(found)});
}

CUresult entry::cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams) {
  if (!nodeParams || !findExec(hGraphExec)) return CUDA_ERROR_INVALID_VALUE;
  if (nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_FREE ||
      nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return CUDA_ERROR_NOT_SUPPORTED;
  Work work;
  CUresult result = workOf(*nodeParams, work);
  return setWork(hGraphExec, hNode, result, std::move(work));
}

CUresult entry::cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled) {
  return changeStep(hGraphExec, hNode, [&](Plan::Step &step) {
    CUgraphNodeType type = typeOf(step.work);
    bool can =
        type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_MEMCPY;
    if (!can) return CUDA_ERROR_INVALID_VALUE;
    step.enabled = isEnabled != 0;
    return CUDA_SUCCESS;
  });
}

CUresult entry::cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int *isEnabled) {
  GraphExec *exec = findExec(hGraphExec);
  if (!exec || !hNode || !isEnabled) return CUDA_ERROR_INVALID_VALUE;
  auto found = exec->plan->stepOf.find(hNode);
  if (found == exec->plan->stepOf.end()) return CUDA_ERROR_INVALID_VALUE;
  *isEnabled = exec->plan->steps[found->second].enabled;
  return CUDA_SUCCESS;
}

}  // namespace strata::driver
