// SPDX-License-Identifier: Apache-2.0
#include "driver/event.h"

#include <chrono>

#include "driver/capture.h"
#include "driver/entries.h"
#include "driver/scheduler.h"
#include "driver/work.h"

namespace strata::driver {
namespace {

std::uint64_t now() {
  auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

class RecordOperation final : public Operation {
public:
  RecordOperation(Ref<Event> event, std::uint64_t record) : event_(std::move(event)), record_(record) {}

  bool start(Turn &) override {
    std::uint64_t stamp = now();
    std::lock_guard lock(schedulerLock);
    if (event_->record != record_) return true;
    event_->stamp = stamp;
    event_->reached = true;
    return true;
  }

private:
  Ref<Event> event_;
  std::uint64_t record_;
};

// In a graph the record counts from the moment when its node's turn comes.
class GraphRecordOperation final : public Operation {
public:
  explicit GraphRecordOperation(Ref<Event> event) : event_(std::move(event)) {}

  bool start(Turn &) override {
    std::uint64_t stamp = now();
    std::lock_guard lock(schedulerLock);
    ++event_->record;
    event_->marker = {};
    event_->stamp = stamp;
    event_->reached = true;
    return true;
  }

private:
  Ref<Event> event_;
};

class GraphWaitOperation final : public Operation {
public:
  explicit GraphWaitOperation(Ref<Event> event) : event_(std::move(event)) {}

  bool start(Turn &turn) override {
    Marker marker = markerOf(*event_);
    if (!marker.stream) return true;
    // A task of a stream of its own stands for the node: it waits as any task does, then ends the node's turn.
    auto helper = makeRef<Stream>(turn.context, Stream::Kind::created, CU_STREAM_NON_BLOCKING, 0);
    submit(*helper, std::make_unique<EndTurn>(turn), {&marker, 1});
    return false;
  }

private:
  struct EndTurn final : Operation {
    explicit EndTurn(Turn &turn) : turn(turn) {}
    bool start(Turn &) override {
      turn.complete();
      return true;
    }
    void skip(CUresult) override { turn.complete(); }
    Turn &turn;
  };
  Ref<Event> event_;
};

}  // namespace

OperationPtr makeGraphWait(Ref<Event> event) { return std::make_unique<GraphWaitOperation>(std::move(event)); }
OperationPtr makeGraphRecord(Ref<Event> event) { return std::make_unique<GraphRecordOperation>(std::move(event)); }

void recordEvent(Event &event, Stream &stream) {
  std::uint64_t record = 0;
  {
    std::lock_guard lock(schedulerLock);
    record = ++event.record;
    event.reached = startsAtOnce(stream);
    event.marker = {};
    if (event.reached) {
      event.stamp = now();
      return;
    }
  }
  Marker marker = submit(stream, std::make_unique<RecordOperation>(Ref<Event>(&event), record));
  std::lock_guard lock(schedulerLock);
  if (event.record == record) event.marker = std::move(marker);
}

Marker markerOf(Event &event) {
  std::lock_guard lock(schedulerLock);
  return event.reached ? Marker{} : event.marker;
}

CUresult entry::cuEventCreate(CUevent *phEvent, unsigned int Flags) {
  constexpr unsigned kFlags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if (!phEvent || (Flags & ~kFlags)) return CUDA_ERROR_INVALID_VALUE;
  if (Flags & CU_EVENT_INTERPROCESS)
    return Flags & CU_EVENT_DISABLE_TIMING ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
  auto event = makeRef<Event>(*currentContext(), Flags);
  event->handle = handles<Event, CUevent>().add(event);
  if (!event->handle) return CUDA_ERROR_OUT_OF_MEMORY;
  *phEvent = event->handle;
  return CUDA_SUCCESS;
}

CUresult entry::cuEventDestroy_v2(CUevent hEvent) {
  return handles<Event, CUevent>().remove(hEvent) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

namespace {

CUresult record(CUevent handle, CUstream streamHandle, unsigned flags) {
  if (flags & ~CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  Event *event = findEvent(handle);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  Ref<Stream> stream;
  if (CUresult result = resolveStream(streamHandle, stream); result != CUDA_SUCCESS) return result;
  if (&event->context != &stream->context) return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult result = checkImplicit(*stream); result != CUDA_SUCCESS) return result;
  if (stream->capturing()) return captureRecord(*stream, *event, flags & CU_EVENT_RECORD_EXTERNAL);
  if (flags & CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_ILLEGAL_STATE;
  forgetCapture(*event);
  recordEvent(*event, *stream);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult entry::cuEventRecord(CUevent hEvent, CUstream hStream) { return record(hEvent, hStream, 0); }

CUresult entry::cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
  return record(hEvent, hStream, flags);
}

CUresult entry::cuEventQuery(CUevent hEvent) {
  Event *event = findEvent(hEvent);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult result = checkEventUse(*event); result != CUDA_SUCCESS) return result;
  if (CUresult error = event->context.error(); error != CUDA_SUCCESS) return error;
  std::lock_guard lock(schedulerLock);
  return event->reached || !event->record ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult entry::cuEventSynchronize(CUevent hEvent) {
  Event *event = findEvent(hEvent);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult result = checkEventUse(*event); result != CUDA_SUCCESS) return result;
  waitFor(markerOf(*event));
  return event->context.error();
}

CUresult entry::cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd) {
  Event *start = findEvent(hStart), *end = findEvent(hEnd);
  if (!start || !end) return CUDA_ERROR_INVALID_HANDLE;
  if (!pMilliseconds) return CUDA_ERROR_INVALID_VALUE;
  if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) return CUDA_ERROR_INVALID_HANDLE;
  for (Event *event : {start, end}) {
    if (CUresult result = checkEventUse(*event); result != CUDA_SUCCESS) return result;
    if (CUresult error = event->context.error(); error != CUDA_SUCCESS) return error;
  }
  std::lock_guard lock(schedulerLock);
  if (!start->record || !end->record) return CUDA_ERROR_INVALID_HANDLE;
  if (!start->reached || !end->reached) return CUDA_ERROR_NOT_READY;
  auto nanoseconds = static_cast<std::int64_t>(end->stamp - start->stamp);
  *pMilliseconds = static_cast<float>(static_cast<double>(nanoseconds) * 1e-6);
  return CUDA_SUCCESS;
}

}  // namespace strata::driver
