// SPDX-License-Identifier: Apache-2.0
// Executable graphs: a flat plan of work with counted dependencies, which a launch runs as one task of its stream.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "driver/graph.h"

namespace strata::driver {

// Never changed once a launch may use it: an update makes a new one.
struct Plan {
  struct Step {
    Work work;
    std::vector<std::uint32_t> next;  // steps that depend on this one
    std::uint32_t dependencies = 0;
    bool enabled = true;
  };
  std::vector<Step> steps;
  std::vector<std::uint32_t> roots;
  std::vector<std::uint32_t>
      hostCopies;         // steps of which the launch does something before its call returns (staging.h)
  void noteHostCopies();  // after a change of the steps' work
  // The step of each node of the graph, and of its child graphs. Keys are handles: a node may be gone.
  std::unordered_map<CUgraphNode, std::uint32_t> stepOf;
};

class GraphExec final : public Shared {
public:
  CUgraphExec handle = nullptr;
  cuuint64_t flags = 0;
  Ref<Graph> source;                                     // a private copy, to compare updates with
  std::unordered_map<CUgraphNode, const Node *> copyOf;  // node of the program's graph → its copy in `source`
  std::shared_ptr<const Plan> plan;
  Marker lastLaunch;  // launches of one executable graph follow one another
};

// CUDA_ERROR_INVALID_VALUE if the graph has a cycle.
CUresult makePlan(const Graph &graph, Plan &plan);
// Operations that were made beforehand, by their steps.
using Prepared = std::vector<std::pair<std::uint32_t, OperationPtr>>;
OperationPtr makeGraphRun(std::shared_ptr<const Plan> plan, Prepared prepared = {});

inline GraphExec *findExec(CUgraphExec handle) { return handles<GraphExec, CUgraphExec>().find(handle); }

}  // namespace strata::driver
