// SPDX-License-Identifier: Apache-2.0
#include "driver/work.h"

#include "driver/capture.h"
#include "driver/copy.h"
#include "driver/event.h"
#include "driver/graph.h"
#include "driver/graph_memory.h"
#include "driver/host_thread.h"
#include "driver/launch_operation.h"
#include "driver/memory_operations.h"
#include "driver/scheduler.h"

namespace strata::driver {
namespace {

class Nothing final : public Operation {
public:
  bool start(Turn &) override { return true; }
};

class HostOperation final : public Operation {
public:
  explicit HostOperation(HostCall call) : call_(call) { startHostThread(); }
  bool start(Turn &turn) override {
    runOnHostThread([call = call_, &turn] {
      call.function(call.data);
      turn.complete();
    });
    return false;
  }

private:
  HostCall call_;
};

class CallbackOperation final : public Operation {
public:
  explicit CallbackOperation(Callback callback) : callback_(callback) { startHostThread(); }
  bool start(Turn &turn) override {
    runOnHostThread([callback = callback_, &turn] {
      callback.function(callback.stream, turn.context.error(), callback.data);
      turn.complete();
    });
    return false;
  }
  void skip(CUresult error) override {
    runOnHostThread([callback = callback_, error] { callback.function(callback.stream, error, callback.data); });
  }

private:
  Callback callback_;
};

struct Maker {
  OperationPtr operator()(NoWork) const { return std::make_unique<Nothing>(); }
  OperationPtr operator()(const Launch &launch) const { return std::make_unique<LaunchOperation>(Launch(launch)); }
  OperationPtr operator()(Launch &&launch) const { return std::make_unique<LaunchOperation>(std::move(launch)); }
  OperationPtr operator()(Copy copy) const { return makeCopy(copy); }
  OperationPtr operator()(Fill fill) const { return makeFill(fill); }
  OperationPtr operator()(HostCall call) const { return std::make_unique<HostOperation>(call); }
  OperationPtr operator()(Callback callback) const { return std::make_unique<CallbackOperation>(callback); }
  OperationPtr operator()(RecordEvent record) const { return makeGraphRecord(record.event); }
  OperationPtr operator()(WaitEvent wait) const { return makeGraphWait(wait.event); }
  OperationPtr operator()(MemoryOps ops) const { return makeMemoryOps(std::move(ops.ops)); }
  // The memory of graph nodes is there for as long as the graph: see graph_memory.h.
  OperationPtr operator()(FreeMemory) const { return std::make_unique<Nothing>(); }
  OperationPtr operator()(const AllocateMemory &) const { return std::make_unique<Nothing>(); }
  OperationPtr operator()(const ChildGraph &) const {
    return std::make_unique<Nothing>();
  }  // its nodes are in the plan
};

}  // namespace

OperationPtr makeOperation(const Work &work) { return std::visit(Maker{}, work); }
OperationPtr makeOperation(Work &&work) { return std::visit(Maker{}, std::move(work)); }

CUresult issue(Stream &stream, Work &&work, std::span<const Marker> after) {
  if (stream.capturing()) return captureWork(stream, std::move(work));
  submit(stream, makeOperation(std::move(work)), after);
  return CUDA_SUCCESS;
}

CUresult issue(Stream &stream, Launch &&launch) {
  if (stream.capturing()) return captureWork(stream, std::move(launch));
  submit(stream, std::make_unique<LaunchOperation>(std::move(launch)));
  return CUDA_SUCCESS;
}

}  // namespace strata::driver
