// SPDX-License-Identifier: Apache-2.0
// The shape of graphs: creation, dependencies, queries, clones.
#include "driver/graph.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "driver/entries.h"

namespace strata::driver {

Graph::~Graph() {
  for (const auto &node : nodes) handles<Node, CUgraphNode>().remove(node->handle);
}

Node *Graph::add(Work work, std::span<Node *const> dependencies) {
  auto node = makeRef<Node>(*this, std::move(work));
  node->handle = handles<Node, CUgraphNode>().add(node);
  if (!node->handle) return nullptr;
  for (Node *dependency : dependencies) connect(*dependency, *node);
  nodes.push_back(node);
  return node.get();
}

void Graph::connect(Node &from, Node &to) {
  from.dependents.push_back(&to);
  to.dependencies.push_back(&from);
}

bool Graph::disconnect(Node &from, Node &to) {
  auto at = std::find(from.dependents.begin(), from.dependents.end(), &to);
  if (at == from.dependents.end()) return false;
  from.dependents.erase(at);
  to.dependencies.erase(std::find(to.dependencies.begin(), to.dependencies.end(), &from));
  return true;
}

void Graph::remove(Node &node) {
  while (!node.dependencies.empty()) disconnect(*node.dependencies.back(), node);
  while (!node.dependents.empty()) disconnect(node, *node.dependents.back());
  handles<Node, CUgraphNode>().remove(node.handle);
  std::erase_if(nodes, [&](const Ref<Node> &known) { return known.get() == &node; });
}

Ref<Graph> Graph::clone() const {
  auto copy = makeRef<Graph>();
  std::unordered_map<const Node *, Node *> made;
  for (const auto &node : nodes) {
    Work work = node->work;
    if (auto *child = std::get_if<ChildGraph>(&work)) child->graph = child->graph->clone();
    Node *added = copy->add(std::move(work), {});
    added->original = node.get();
    made[node.get()] = added;
  }
  for (const auto &node : nodes)
    for (const Node *dependency : node->dependencies) copy->connect(*made[dependency], *made[node.get()]);
  return copy;
}

std::vector<Node *> Graph::sorted() const {
  std::unordered_map<const Node *, std::size_t> open;
  std::vector<Node *> order;
  for (const auto &node : nodes)
    if (!(open[node.get()] = node->dependencies.size())) order.push_back(node.get());
  for (std::size_t i = 0; i < order.size(); ++i)
    for (Node *dependent : order[i]->dependents)
      if (--open[dependent] == 0) order.push_back(dependent);
  if (order.size() != nodes.size()) order.clear();
  return order;
}

bool Graph::reaches(const Node &from, const Node &to) {
  std::vector<const Node *> open{&from};
  std::unordered_set<const Node *> seen{&from};
  while (!open.empty()) {
    const Node *node = open.back();
    open.pop_back();
    if (node == &to) return true;
    for (const Node *next : node->dependents)
      if (seen.insert(next).second) open.push_back(next);
  }
  return false;
}

CUgraphNodeType typeOf(const Work &work) {
  struct Types {
    CUgraphNodeType operator()(const NoWork &) const { return CU_GRAPH_NODE_TYPE_EMPTY; }
    CUgraphNodeType operator()(const Launch &) const { return CU_GRAPH_NODE_TYPE_KERNEL; }
    CUgraphNodeType operator()(const Copy &) const { return CU_GRAPH_NODE_TYPE_MEMCPY; }
    CUgraphNodeType operator()(const Fill &) const { return CU_GRAPH_NODE_TYPE_MEMSET; }
    CUgraphNodeType operator()(const HostCall &) const { return CU_GRAPH_NODE_TYPE_HOST; }
    CUgraphNodeType operator()(const Callback &) const { return CU_GRAPH_NODE_TYPE_HOST; }
    CUgraphNodeType operator()(const RecordEvent &) const { return CU_GRAPH_NODE_TYPE_EVENT_RECORD; }
    CUgraphNodeType operator()(const WaitEvent &) const { return CU_GRAPH_NODE_TYPE_WAIT_EVENT; }
    CUgraphNodeType operator()(const MemoryOps &) const { return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP; }
    CUgraphNodeType operator()(const FreeMemory &) const { return CU_GRAPH_NODE_TYPE_MEM_FREE; }
    CUgraphNodeType operator()(const ChildGraph &) const { return CU_GRAPH_NODE_TYPE_GRAPH; }
    CUgraphNodeType operator()(const AllocateMemory &) const { return CU_GRAPH_NODE_TYPE_MEM_ALLOC; }
  };
  return std::visit(Types{}, work);
}

namespace {

// Only plain edges exist: a kernel's programmatic ports would ask for overlap that is not offered.
bool plain(const CUgraphEdgeData *edges, std::size_t count) {
  for (std::size_t i = 0; edges && i < count; ++i)
    if (edges[i].from_port || edges[i].to_port || edges[i].type) return false;
  return true;
}

// A list that the caller may ask for twice: with a null array for its length, then for its contents, where
// surplus places become null.
CUresult giveList(const std::vector<Node *> &found, CUgraphNode *out, std::size_t *count) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  if (out)
    for (std::size_t i = 0; i < *count; ++i) out[i] = i < found.size() ? found[i]->handle : nullptr;
  *count = out ? std::min(*count, found.size()) : found.size();
  return CUDA_SUCCESS;
}

CUresult changeDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                            const CUgraphEdgeData *edges, std::size_t count, bool add) {
  Graph *graph = findGraph(hGraph);
  if (!graph || (count && (!from || !to))) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    Node *a = findNode(from[i]), *b = findNode(to[i]);
    if (!a || !b || a == b || &a->graph != graph || &b->graph != graph) return CUDA_ERROR_INVALID_VALUE;
    bool connected = std::find(a->dependents.begin(), a->dependents.end(), b) != a->dependents.end();
    if (connected == add) return CUDA_ERROR_INVALID_VALUE;
  }
  if (!plain(edges, count)) return CUDA_ERROR_NOT_SUPPORTED;
  for (std::size_t i = 0; i < count; ++i) {
    if (add) graph->connect(*findNode(from[i]), *findNode(to[i]));
    else graph->disconnect(*findNode(from[i]), *findNode(to[i]));
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult entry::cuGraphCreate(CUgraph *phGraph, unsigned int flags) {
  if (!phGraph || flags) return CUDA_ERROR_INVALID_VALUE;
  auto graph = makeRef<Graph>();
  graph->handle = handles<Graph, CUgraph>().add(graph);
  if (!graph->handle) return CUDA_ERROR_OUT_OF_MEMORY;
  *phGraph = graph->handle;
  return CUDA_SUCCESS;
}

CUresult entry::cuGraphDestroy(CUgraph hGraph) {
  return handles<Graph, CUgraph>().remove(hGraph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult entry::cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph) {
  Graph *graph = findGraph(originalGraph);
  if (!phGraphClone || !graph) return CUDA_ERROR_INVALID_VALUE;
  Ref<Graph> copy = graph->clone();
  copy->handle = handles<Graph, CUgraph>().add(copy);
  if (!copy->handle) return CUDA_ERROR_OUT_OF_MEMORY;
  *phGraphClone = copy->handle;
  return CUDA_SUCCESS;
}

CUresult entry::cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph) {
  Node *original = findNode(hOriginalNode);
  Graph *clone = findGraph(hClonedGraph);
  if (!phNode || !original || !clone) return CUDA_ERROR_INVALID_VALUE;
  for (const auto &node : clone->nodes) {
    if (node->original != original) continue;
    *phNode = node->handle;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult entry::cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type) {
  Node *node = findNode(hNode);
  if (!node || !type) return CUDA_ERROR_INVALID_VALUE;
  *type = typeOf(node->work);
  return CUDA_SUCCESS;
}

CUresult entry::cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes) {
  Graph *graph = findGraph(hGraph);
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  std::vector<Node *> all;
  for (const auto &node : graph->nodes) all.push_back(node.get());
  return giveList(all, nodes, numNodes);
}

CUresult entry::cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes) {
  Graph *graph = findGraph(hGraph);
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  std::vector<Node *> roots;
  for (const auto &node : graph->nodes)
    if (node->dependencies.empty()) roots.push_back(node.get());
  return giveList(roots, rootNodes, numRootNodes);
}

CUresult entry::cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData,
                                   size_t *numEdges) {
  Graph *graph = findGraph(hGraph);
  if (!graph || !numEdges || !from != !to) return CUDA_ERROR_INVALID_VALUE;
  std::size_t given = 0, total = 0;
  for (const auto &node : graph->nodes)
    for (Node *dependent : node->dependents) {
      ++total;
      if (!from || given >= *numEdges) continue;
      from[given] = node->handle;
      to[given] = dependent->handle;
      if (edgeData) edgeData[given] = {};
      ++given;
    }
  if (from)
    for (std::size_t i = given; i < *numEdges; ++i) from[i] = to[i] = nullptr;
  *numEdges = from ? given : total;
  return CUDA_SUCCESS;
}

CUresult entry::cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges) {
  return cuGraphGetEdges_v2(hGraph, from, to, nullptr, numEdges);
}

CUresult entry::cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies, CUgraphEdgeData *edgeData,
                                              size_t *numDependencies) {
  Node *node = findNode(hNode);
  if (!node || !numDependencies) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; edgeData && i < *numDependencies; ++i) edgeData[i] = {};
  return giveList(node->dependencies, dependencies, numDependencies);
}

CUresult entry::cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies, size_t *numDependencies) {
  return cuGraphNodeGetDependencies_v2(hNode, dependencies, nullptr, numDependencies);
}

CUresult entry::cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                                CUgraphEdgeData *edgeData, size_t *numDependentNodes) {
  Node *node = findNode(hNode);
  if (!node || !numDependentNodes) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; edgeData && i < *numDependentNodes; ++i) edgeData[i] = {};
  return giveList(node->dependents, dependentNodes, numDependentNodes);
}

CUresult entry::cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                             size_t *numDependentNodes) {
  return cuGraphNodeGetDependentNodes_v2(hNode, dependentNodes, nullptr, numDependentNodes);
}

CUresult entry::cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                          const CUgraphEdgeData *edgeData, size_t numDependencies) {
  return changeDependencies(hGraph, from, to, edgeData, numDependencies, true);
}
CUresult entry::cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                       size_t numDependencies) {
  return changeDependencies(hGraph, from, to, nullptr, numDependencies, true);
}
CUresult entry::cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                             const CUgraphEdgeData *edgeData, size_t numDependencies) {
  return changeDependencies(hGraph, from, to, edgeData, numDependencies, false);
}
CUresult entry::cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                          size_t numDependencies) {
  return changeDependencies(hGraph, from, to, nullptr, numDependencies, false);
}

CUresult entry::cuGraphDestroyNode(CUgraphNode hNode) {
  Node *node = findNode(hNode);
  if (!node) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeType type = typeOf(node->work);
  if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE) return CUDA_ERROR_NOT_SUPPORTED;
  node->graph.remove(*node);
  return CUDA_SUCCESS;
}

}  // namespace strata::driver
