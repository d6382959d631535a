// SPDX-License-Identifier: Apache-2.0
// Streams, and the order between them.
//
// A stream runs its tasks one after another. Tasks are counted; a marker (stream, count) names the moment when
// that many tasks have finished. Everything that orders streams is a task that waits for markers:
//   - event waits name the marker of the event's record;
//   - a task of the legacy default stream waits for all unfinished work of the context's blocking streams, and
//     their tasks wait for the legacy stream's unfinished work.
// One lock guards all streams of the process: it is held for a few instructions, and markers may then cross
// contexts. Operations begin outside it.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <span>
#include <vector>

#include "base/recycled.h"
#include "base/short_lock.h"
#include "driver/context.h"
#include "driver/handles.h"
#include "driver/operation.h"

namespace strata::driver {

class Capture;  // capture.h
struct Task;    // scheduler.h
struct Waiter;  // scheduler.h

inline constexpr int kLeastPriority = 0, kGreatestPriority = -5;

inline ShortLock schedulerLock;

class Stream final : public Shared {
public:
  enum class Kind : std::uint8_t { legacy, perThread, created };
  Stream(Context &context, Kind kind, unsigned flags, int priority);
  ~Stream() override;

  // A legacy stream is owned by its context, so only the others keep their context alive.
  Context &context;
  const Kind kind;
  const unsigned flags;
  std::atomic<int> priority;
  const std::uint64_t id;  // never 0

  bool blocking() const { return !(flags & CU_STREAM_NON_BLOCKING); }

  // Everything below is guarded by schedulerLock.
  struct Waiting {
    std::uint64_t count;
    Task *task;  // one of the two
    Waiter *waiter;
  };
  std::uint64_t submitted = 0, completed = 0;
  Task *head = nullptr, *tail = nullptr;
  std::vector<Waiting> waiting;
  std::size_t busyIndex = 0;  // in context.busy, while submitted != completed
  CUsynchronizationPolicy synchronizationPolicy = CU_SYNC_POLICY_AUTO;

  bool idle() const { return submitted == completed; }

  // Set and read by capture.cpp, under its lock.
  Ref<Capture> capture;
  std::atomic<bool> captures{false};  // as capture; for a look without the lock
  bool capturing() const { return captures.load(std::memory_order_relaxed); }

private:
  Ref<Context> keepsContext_;
};

struct Marker {
  Ref<Stream> stream;
  std::uint64_t count = 0;
};

// The stream that a program names; CUDA_ERROR_INVALID_HANDLE for a bad handle, CUDA_ERROR_INVALID_CONTEXT where
// stream 0 has no context to belong to.
CUresult resolveStream(CUstream handle, Ref<Stream> &stream);

// Waits for all work of the context, for a call of the user's: refused while a stream of the context captures.
CUresult synchronizeChecked(Context &context);

}  // namespace strata::driver
