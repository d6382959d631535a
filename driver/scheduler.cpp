// SPDX-License-Identifier: Apache-2.0
#include "driver/scheduler.h"

#include <algorithm>

namespace strata::driver {
namespace {

// Tasks whose turn has come, to be started once the lock is free. Most often none or one.
class Ready {
public:
  void push(Task &task) {
    task.nextReady = first_;
    first_ = &task;
  }
  Task *pop() {
    Task *task = first_;
    if (task) first_ = task->nextReady;
    return task;
  }

private:
  Task *first_ = nullptr;
};

void waitOn(Task &task, Stream &stream, std::uint64_t count) {
  if (stream.completed >= count) return;
  stream.waiting.push_back({count, &task, nullptr});
  ++task.waitsFor;
}

// Appends the task and notes what it waits for; true if its turn is now.
bool enqueue(Stream &stream, Task &task, std::span<const Marker> after) {
  if (stream.kind == Stream::Kind::legacy) {
    forEachBlockingBusy(stream.context, [&](Stream &other) {
      if (&other != &stream) waitOn(task, other, other.submitted);
    });
  } else if (stream.blocking()) {
    Stream &legacy = stream.context.legacy();
    waitOn(task, legacy, legacy.submitted);
  }
  for (const Marker &marker : after)
    if (marker.stream) waitOn(task, *marker.stream, marker.count);
  if (stream.idle()) {
    stream.busyIndex = stream.context.busy.size();
    stream.context.busy.push_back(&stream);
  }
  task.count = ++stream.submitted;
  if (stream.tail) stream.tail->next = &task;
  else stream.head = &task;
  stream.tail = &task;
  task.started = stream.head == &task && task.waitsFor == 0;
  return task.started;
}

void startIfTurn(Task *task, Ready &ready) {
  if (!task || task->started || task->waitsFor || task->stream->head != task) return;
  task->started = true;
  ready.push(*task);
}

void satisfy(Stream &stream, Ready &ready) {
  auto reached = [&](const Stream::Waiting &w) { return w.count <= stream.completed; };
  for (Stream::Waiting &w : stream.waiting) {
    if (!reached(w)) continue;
    if (w.task) {
      --w.task->waitsFor;
      startIfTurn(w.task, ready);
    } else if (--w.waiter->remaining == 0) {
      w.waiter->done.store(1, std::memory_order_release);
      stream.context.device.engine().wake(w.waiter->done);
    }
  }
  std::erase_if(stream.waiting, reached);
}

// Ends the task at its stream's head and deletes it.
void finish(Task *task, Ready &ready) {
  Ref<Stream> stream = std::move(task->stream);  // may be the last reference: outlives the lock
  {
    std::lock_guard lock(schedulerLock);
    stream->completed = task->count;
    stream->head = task->next;
    if (!stream->head) {
      stream->tail = nullptr;
      auto &busy = stream->context.busy;
      busy[stream->busyIndex] = busy.back();
      busy[stream->busyIndex]->busyIndex = stream->busyIndex;
      busy.pop_back();
    }
    startIfTurn(stream->head, ready);
    if (!stream->waiting.empty()) satisfy(*stream, ready);
  }
  delete task;
}

bool begin(Task &task) {
  if (Waiter *thread = task.handOver) {  // an InlineTurn
    std::lock_guard lock(schedulerLock);
    thread->done.store(1, std::memory_order_release);
    task.context.device.engine().wake(thread->done);
    return false;
  }
  if (CUresult error = task.context.error(); error != CUDA_SUCCESS) {
    task.operation->skip(error);
    return true;
  }
  return task.operation->start(task);
}

// Where nobody can be told that there was no memory to begin a task, its context is told.
bool beginOrPoison(Task &task) noexcept {
  try {
    return begin(task);
  } catch (const std::exception &) {
    task.context.poison(CUDA_ERROR_OUT_OF_MEMORY);
    return true;
  }
}

void runAll(Ready &ready) {
  while (Task *task = ready.pop())
    if (beginOrPoison(*task)) finish(task, ready);
}

void waitUntilDone(Waiter &waiter, Context &context, std::uint64_t group) {
  if (!waiter.done.load(std::memory_order_acquire)) context.device.engine().waitFor(waiter.done, group);
  // The one who set the flag holds the lock until it no longer needs the waiter.
  std::lock_guard lock(schedulerLock);
}

}  // namespace

Task::Task(Stream &stream, OperationPtr operation)
    : Turn(stream.context, stream.id), stream(Ref<Stream>(&stream)), operation(std::move(operation)) {}

void Task::complete() {
  Ready ready;
  finish(this, ready);
  runAll(ready);
}

Marker submit(Stream &stream, OperationPtr operation, std::span<const Marker> after) {
  auto *task = new Task(stream, std::move(operation));
  Marker marker{Ref<Stream>(&stream), 0};
  bool now = false;
  {
    std::lock_guard lock(schedulerLock);
    now = enqueue(stream, *task, after);
    marker.count = task->count;
  }
  auto end = [&] {
    Ready ready;
    finish(task, ready);
    runAll(ready);
  };
  try {
    if (now && begin(*task)) end();
  } catch (...) {  // nothing has begun: the caller hears of it
    end();
    throw;
  }
  return marker;
}

bool startsAtOnce(const Stream &stream) {
  if (!stream.idle()) return false;
  if (stream.kind != Stream::Kind::legacy) return !stream.blocking() || stream.context.legacy().idle();
  bool others = false;
  forEachBlockingBusy(stream.context, [&](Stream &) { others = true; });
  return !others;
}

InlineTurn::InlineTurn(Stream &stream) : task_(new Task(stream, nullptr)) {
  Waiter waiter;
  std::uint64_t group = stream.id;
  {
    std::lock_guard lock(schedulerLock);
    task_->handOver = &waiter;
    if (stream.idle() && stream.kind == Stream::Kind::legacy)
      forEachBlockingBusy(stream.context, [&](Stream &other) { group = other.id; });
    if (enqueue(stream, *task_, {})) return;
  }
  waitUntilDone(waiter, stream.context, group);
}

InlineTurn::~InlineTurn() { task_->complete(); }

namespace {

// Registers `waiter` for what `stream` has been given so far.
void addWaiter(Stream &stream, Waiter &waiter, std::uint64_t count) {
  if (stream.completed >= count) return;
  stream.waiting.push_back({count, nullptr, &waiter});
  ++waiter.remaining;
}

// Calls `add`, which registers `waiter` for streams of the context; if it throws, the waiter is known to none.
template <class Add>
void addWaiters(Context &context, Waiter &waiter, Add add) {
  try {
    add();
  } catch (...) {
    for (Stream *stream : context.busy)
      std::erase_if(stream->waiting, [&](const Stream::Waiting &w) { return w.waiter == &waiter; });
    throw;
  }
}

}  // namespace

void waitFor(const Marker &marker) {
  if (!marker.stream) return;
  Waiter waiter;
  {
    std::lock_guard lock(schedulerLock);
    addWaiter(*marker.stream, waiter, marker.count);
    if (!waiter.remaining) return;
  }
  waitUntilDone(waiter, marker.stream->context, marker.stream->id);
}

CUresult synchronize(Stream &stream) {
  Waiter waiter;
  std::uint64_t group = stream.id;
  {
    std::lock_guard lock(schedulerLock);
    addWaiters(stream.context, waiter, [&] {
      addWaiter(stream, waiter, stream.submitted);
      if (stream.kind != Stream::Kind::legacy) return;
      forEachBlockingBusy(stream.context, [&](Stream &other) {
        if (&other == &stream) return;
        if (!waiter.remaining) group = other.id;
        addWaiter(other, waiter, other.submitted);
      });
    });
    if (!waiter.remaining) return stream.context.error();
  }
  waitUntilDone(waiter, stream.context, group);
  return stream.context.error();
}

CUresult synchronize(Context &context) {
  Waiter waiter;
  std::uint64_t group = 0;
  {
    std::lock_guard lock(schedulerLock);
    addWaiters(context, waiter, [&] {
      for (Stream *stream : context.busy) {
        addWaiter(*stream, waiter, stream->submitted);
        group = stream->id;  // any one that is waited for
      }
    });
    if (!waiter.remaining) return context.error();
  }
  waitUntilDone(waiter, context, group);
  return context.error();
}

CUresult query(Stream &stream) {
  if (CUresult error = stream.context.error(); error != CUDA_SUCCESS) return error;
  std::lock_guard lock(schedulerLock);
  bool busy = !stream.idle();
  if (stream.kind == Stream::Kind::legacy) forEachBlockingBusy(stream.context, [&](Stream &) { busy = true; });
  return busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

}  // namespace strata::driver
