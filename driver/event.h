// SPDX-License-Identifier: Apache-2.0
// Events: a moment in a stream, with the time when it was reached.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "driver/context.h"
#include "driver/handles.h"
#include "driver/operation.h"
#include "driver/stream.h"

namespace strata::driver {

class Capture;
class Node;

class Event final : public Shared {
public:
  Event(Context &context, unsigned flags) : context(context), flags(flags), keepsContext_(&context) {}

  Context &context;
  const unsigned flags;
  CUevent handle = nullptr;

  // Guarded by schedulerLock. The latest record counts: an older one that is reached later changes nothing.
  std::uint64_t record = 0;  // 0: never recorded
  bool reached = false;
  Marker marker;            // of the latest record; its stream is null if it was reached at once
  std::uint64_t stamp = 0;  // nanoseconds, steady clock

  // Guarded by capture.cpp's lock: the latest record was made in a capture.
  Ref<Capture> capture;
  std::vector<Node *> capturedAfter;
  std::atomic<bool> captured{false};  // as capture; for a look without the lock

private:
  Ref<Context> keepsContext_;
};

inline Event *findEvent(CUevent handle) { return handles<Event, CUevent>().find(handle); }

void recordEvent(Event &event, Stream &stream);
// Nodes of graphs: a record counts from its node's turn on, a wait waits for what was recorded before its own.
OperationPtr makeGraphRecord(Ref<Event> event);
OperationPtr makeGraphWait(Ref<Event> event);
// What a wait for the event, made now, waits for; its stream is null if there is nothing to wait for.
Marker markerOf(Event &event);

}  // namespace strata::driver
