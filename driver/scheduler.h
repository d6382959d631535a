// SPDX-License-Identifier: Apache-2.0
// The order of the streams' tasks (stream.h): when a task's turn comes, who waits for it, and what its end starts.
#pragma once

#include "driver/stream.h"

namespace strata::driver {

// Adds the operation at the stream's end; it also waits for `after`. Returns its marker.
Marker submit(Stream &stream, OperationPtr operation, std::span<const Marker> after = {});

// Under schedulerLock: work submitted now would run at once.
bool startsAtOnce(const Stream &stream);

// Waits for all work submitted so far to the stream (the legacy stream: to all blocking streams of its context)
// or the context. Returns the context's error.
CUresult synchronize(Stream &stream);
CUresult synchronize(Context &context);
void waitFor(const Marker &marker);
// CUDA_SUCCESS, CUDA_ERROR_NOT_READY, or the context's error.
CUresult query(Stream &stream);

// Calls `visit(stream)` for each unfinished stream that a legacy stream's task would wait for.
template <class Visit>
void forEachBlockingBusy(const Context &context, Visit visit) {
  for (Stream *stream : context.busy)
    if (stream->blocking()) visit(*stream);
}

// A thread that waits for markers.
struct Waiter {
  std::atomic<std::uint32_t> done{0};
  std::uint32_t remaining = 0;
};

// One operation in a stream.
struct Task final : Turn, Recycled<Task> {
  Task(Stream &stream, OperationPtr operation);
  void complete() override;

  Ref<Stream> stream;
  OperationPtr operation;
  std::uint64_t count = 0;  // completed count of the stream once this is done
  std::uint32_t waitsFor = 0;
  bool started = false;
  Waiter *handOver = nullptr;  // an InlineTurn's thread, which is told instead of starting an operation
  Task *next = nullptr;        // in the stream
  Task *nextReady = nullptr;
};

class InlineTurn {
public:
  explicit InlineTurn(Stream &stream);  // waits for the turn
  ~InlineTurn();                        // ends it
  InlineTurn(const InlineTurn &) = delete;

private:
  Task *task_ = nullptr;
};

template <class Action>
void runInTurn(Stream &stream, Action action) {
  InlineTurn turn(stream);
  if (stream.context.error() == CUDA_SUCCESS) action();
}

}  // namespace strata::driver
