// SPDX-License-Identifier: Apache-2.0
#include "driver/graph_exec.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "driver/capture.h"
#include "driver/entries.h"
#include "driver/scheduler.h"
#include "driver/staging.h"

namespace strata::driver {
namespace {

std::uint32_t addStep(Plan &plan, Work work) {
  plan.steps.push_back({std::move(work), {}, 0, true});
  return static_cast<std::uint32_t>(plan.steps.size() - 1);
}

void addEdge(Plan &plan, std::uint32_t from, std::uint32_t to) {
  plan.steps[from].next.push_back(to);
  ++plan.steps[to].dependencies;
}

// Adds the graph's nodes. A child graph becomes its nodes between two empty steps.
bool addGraph(Plan &plan, const Graph &graph) {
  std::vector<Node *> order = graph.sorted();
  if (order.size() != graph.nodes.size()) return false;
  std::unordered_map<const Node *, std::uint32_t> begins, ends;
  for (Node *node : order) {
    std::uint32_t begin = addStep(plan, node->work), end = begin;
    plan.stepOf[node->handle] = begin;
    if (const auto *child = std::get_if<ChildGraph>(&node->work)) {
      plan.steps[begin].work = NoWork{};
      auto first = static_cast<std::uint32_t>(plan.steps.size());
      if (!addGraph(plan, *child->graph)) return false;
      auto last = static_cast<std::uint32_t>(plan.steps.size());
      end = addStep(plan, NoWork{});
      for (std::uint32_t step = first; step < last; ++step) {
        if (plan.steps[step].dependencies == 0) addEdge(plan, begin, step);
        if (plan.steps[step].next.empty()) addEdge(plan, step, end);
      }
      if (first == last) addEdge(plan, begin, end);
    }
    begins[node] = begin;
    ends[node] = end;
    for (const Node *dependency : node->dependencies) addEdge(plan, ends[dependency], begin);
  }
  return true;
}

// One launch. Steps whose dependencies are done start at once, so independent ones overlap.
class Run {
public:
  Run(std::shared_ptr<const Plan> plan, Prepared prepared, Turn &turn)
      : plan_(std::move(plan)), turn_(turn), left_(plan_->steps.size()), waits_(plan_->steps.size()) {
    turns_.reserve(plan_->steps.size());
    for (std::uint32_t i = 0; i < plan_->steps.size(); ++i) {
      waits_[i].store(plan_->steps[i].dependencies, std::memory_order_relaxed);
      turns_.push_back(std::make_unique<StepTurn>(*this, i));
    }
    for (auto &[step, operation] : prepared) turns_[step]->operation = std::move(operation);
  }

  // May delete the run.
  void start() {
    StepTurn *ready = nullptr;
    for (std::uint32_t step : plan_->roots) push(step, ready);
    advance(ready);
  }

private:
  struct StepTurn final : Turn {
    StepTurn(Run &run, std::uint32_t step) : Turn(run.turn_.context, run.turn_.group), run(run), step(step) {}
    void complete() override { run.finished(step); }
    Run &run;
    const std::uint32_t step;
    OperationPtr operation;
    StepTurn *nextReady = nullptr;
  };

  void push(std::uint32_t step, StepTurn *&ready) {
    turns_[step]->nextReady = std::exchange(ready, turns_[step].get());
  }

  void finished(std::uint32_t step) {
    StepTurn *ready = nullptr;
    if (settle(step, ready)) return end();
    advance(ready);
  }

  // Starts the steps, and whatever becomes ready by those that finish at once.
  void advance(StepTurn *ready) {
    while (ready) {
      StepTurn &turn = *std::exchange(ready, ready->nextReady);
      if (begin(turn) && settle(turn.step, ready)) return end();
    }
  }

  // Where there is no memory to begin a step, nobody can be told but the context.
  bool begin(StepTurn &turn) noexcept {
    try {
      return tryBegin(turn);
    } catch (const std::exception &) {
      turn.context.poison(CUDA_ERROR_OUT_OF_MEMORY);
      return true;
    }
  }

  bool tryBegin(StepTurn &turn) {
    const Plan::Step &planned = plan_->steps[turn.step];
    if (!planned.enabled) return true;
    if (!turn.operation) turn.operation = makeOperation(planned.work);
    if (CUresult error = turn.context.error(); error != CUDA_SUCCESS) {
      turn.operation->skip(error);
      return true;
    }
    return turn.operation->start(turn);
  }

  // True if this was the last step of all.
  bool settle(std::uint32_t step, StepTurn *&ready) {
    for (std::uint32_t next : plan_->steps[step].next)
      if (waits_[next].fetch_sub(1, std::memory_order_acq_rel) == 1) push(next, ready);
    return left_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  void end() {
    Turn &turn = turn_;
    delete this;
    turn.complete();
  }

  const std::shared_ptr<const Plan> plan_;
  Turn &turn_;
  std::atomic<std::size_t> left_;
  std::vector<std::atomic<std::uint32_t>> waits_;
  std::vector<std::unique_ptr<StepTurn>> turns_;
};

class GraphOperation final : public Operation {
public:
  GraphOperation(std::shared_ptr<const Plan> plan, Prepared prepared)
      : plan_(std::move(plan)), prepared_(std::move(prepared)) {}
  bool start(Turn &turn) override {
    if (plan_->steps.empty()) return true;
    (new Run(plan_, std::move(prepared_), turn))->start();
    return false;
  }

private:
  std::shared_ptr<const Plan> plan_;
  Prepared prepared_;
};

// Takes what the launch can take of the program's memory, as a GPU's driver does: even of memory that an earlier node
// will have written. False: the launch must wait for the rest.
bool prepare(const Plan &plan, Prepared &prepared) {
  bool all = true;
  for (std::uint32_t step : plan.hostCopies) {
    if (!plan.steps[step].enabled) continue;
    const auto &copy = std::get<Copy>(plan.steps[step].work);
    OperationPtr operation = within(copy, CopyCall::asynchronous) == Within::take ? stage(copy) : nullptr;
    all = all && operation;
    if (operation) prepared.emplace_back(step, std::move(operation));
  }
  return all;
}

CUresult instantiate(CUgraphExec *phGraphExec, CUgraph hGraph, cuuint64_t flags) {
  constexpr cuuint64_t kFlags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                                CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  Graph *graph = findGraph(hGraph);
  if (!phGraphExec || !graph || (flags & ~kFlags)) return CUDA_ERROR_INVALID_VALUE;
  if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) return CUDA_ERROR_NOT_SUPPORTED;
  auto plan = std::make_shared<Plan>();
  if (CUresult result = makePlan(*graph, *plan); result != CUDA_SUCCESS) return result;
  auto exec = makeRef<GraphExec>();
  exec->flags = flags;
  exec->source = graph->clone();
  for (const auto &node : exec->source->nodes) exec->copyOf[node->original->handle] = node.get();
  exec->plan = std::move(plan);
  exec->handle = handles<GraphExec, CUgraphExec>().add(exec);
  if (!exec->handle) return CUDA_ERROR_OUT_OF_MEMORY;
  *phGraphExec = exec->handle;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult makePlan(const Graph &graph, Plan &plan) {
  if (!addGraph(plan, graph)) return CUDA_ERROR_INVALID_VALUE;
  for (std::uint32_t i = 0; i < plan.steps.size(); ++i)
    if (plan.steps[i].dependencies == 0) plan.roots.push_back(i);
  plan.noteHostCopies();
  return CUDA_SUCCESS;
}

void Plan::noteHostCopies() {
  hostCopies.clear();
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const auto *copy = std::get_if<Copy>(&steps[i].work);
    if (copy && within(*copy, CopyCall::asynchronous) != Within::nothing) hostCopies.push_back(i);
  }
}

OperationPtr makeGraphRun(std::shared_ptr<const Plan> plan, Prepared prepared) {
  return std::make_unique<GraphOperation>(std::move(plan), std::move(prepared));
}

CUresult entry::cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags) {
  return instantiate(phGraphExec, hGraph, flags);
}

CUresult entry::cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
                                      char *logBuffer, size_t bufferSize) {
  if (phErrorNode) *phErrorNode = nullptr;
  if (logBuffer && bufferSize) *logBuffer = 0;
  return instantiate(phGraphExec, hGraph, 0);
}

CUresult entry::cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                             CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams) {
  if (!instantiateParams) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = instantiate(phGraphExec, hGraph, instantiateParams->flags);
  instantiateParams->hErrNode_out = nullptr;
  instantiateParams->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                                  : result == CUDA_ERROR_NOT_SUPPORTED
                                      ? CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED
                                      : CUDA_GRAPH_INSTANTIATE_ERROR;
  return result;
}

CUresult entry::cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags) {
  GraphExec *exec = findExec(hGraphExec);
  if (!exec || !flags) return CUDA_ERROR_INVALID_VALUE;
  *flags = exec->flags;
  return CUDA_SUCCESS;
}

CUresult entry::cuGraphExecDestroy(CUgraphExec hGraphExec) {
  return handles<GraphExec, CUgraphExec>().remove(hGraphExec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult entry::cuGraphUpload(CUgraphExec hGraph, CUstream hStream) {
  if (!findExec(hGraph)) return CUDA_ERROR_INVALID_VALUE;
  Ref<Stream> stream;
  return resolveStream(hStream, stream);  // the plan lies in memory that the workers see: nothing to move
}

CUresult entry::cuGraphLaunch(CUgraphExec hGraph, CUstream hStream) {
  GraphExec *exec = findExec(hGraph);
  if (!exec) return CUDA_ERROR_INVALID_VALUE;
  Ref<Stream> stream;
  if (CUresult result = resolveStream(hStream, stream); result != CUDA_SUCCESS) return result;
  if (CUresult result = checkImplicit(*stream); result != CUDA_SUCCESS) return result;
  if (stream->capturing()) return captureWork(*stream, ChildGraph{exec->source->clone()});
  Prepared prepared;
  const bool all = prepare(*exec->plan, prepared);
  exec->lastLaunch = submit(*stream, makeGraphRun(exec->plan, std::move(prepared)), {&exec->lastLaunch, 1});
  if (all) return CUDA_SUCCESS;
  waitFor(Marker(exec->lastLaunch));
  return stream->context.error();
}

}  // namespace strata::driver
