// SPDX-License-Identifier: Apache-2.0
// Graphs: nodes, each a piece of work, and the order between them. As in CUDA, a graph must not be used by two
// threads at once; captures lock for themselves.
#pragma once

#include <span>
#include <vector>

#include "driver/cuda_types.h"
#include "driver/handles.h"
#include "driver/work.h"

namespace strata::driver {

class Graph;

class Node final : public Shared {
public:
  Node(Graph &graph, Work work) : graph(graph), work(std::move(work)) {}

  Graph &graph;
  Work work;
  CUgraphNode handle = nullptr;
  std::vector<Node *> dependencies, dependents;
  // In a clone: the node of the original that this one stands for; compared, never followed.
  const Node *original = nullptr;
};

class Graph final : public Shared {
public:
  ~Graph() override;

  CUgraph handle = nullptr;      // null for a child graph's own copy until it is asked for
  std::vector<Ref<Node>> nodes;  // in the order of their making

  Node *add(Work work, std::span<Node *const> dependencies);
  void remove(Node &node);
  void connect(Node &from, Node &to);
  bool disconnect(Node &from, Node &to);  // false if they were not connected
  // A deep copy; nodes know their originals.
  Ref<Graph> clone() const;
  // Nodes in an order that respects dependencies; empty (for a graph that has nodes) if there is a cycle.
  std::vector<Node *> sorted() const;
  // `to` can be reached from `from`, or is it.
  static bool reaches(const Node &from, const Node &to);
};

CUgraphNodeType typeOf(const Work &work);

inline Graph *findGraph(CUgraph handle) { return handles<Graph, CUgraph>().find(handle); }
inline Node *findNode(CUgraphNode handle) { return handles<Node, CUgraphNode>().find(handle); }

// The parameters of a node as a program gives them, checked and made into work (node_params.cpp).
CUresult kernelWork(const CUDA_KERNEL_NODE_PARAMS &params, Work &work);
CUresult copyWork(const CUDA_MEMCPY3D &params, Work &work);
CUresult fillWork(const CUDA_MEMSET_NODE_PARAMS &params, Work &work);
CUresult hostWork(const CUDA_HOST_NODE_PARAMS &params, Work &work);
CUresult allocationWork(CUDA_MEM_ALLOC_NODE_PARAMS &params, Work &work);
CUresult freeWork(CUdeviceptr dptr, Work &work);
CUresult workOf(CUgraphNodeParams &params, Work &work);
// An updated node keeps its type, and what a kernel node's attributes say.
CUresult replaceWork(Work &old, Work work);

}  // namespace strata::driver
