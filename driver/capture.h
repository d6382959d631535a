// SPDX-License-Identifier: Apache-2.0
// Stream capture: work given to a capturing stream becomes nodes of a graph, and is not run. Streams join a
// capture by waiting for an event recorded in it. A call that a capture cannot contain invalidates it.
#pragma once

#include <thread>
#include <unordered_map>
#include <vector>

#include "driver/graph.h"
#include "driver/stream.h"

namespace strata::driver {

class Event;
class Pool;

class Capture final : public Shared {
public:
  // Guarded by capture.cpp's lock.
  std::uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  Stream *origin = nullptr;
  Ref<Graph> graph;
  bool active = true, invalid = false;
  // What the next node of each stream in the capture depends on. The streams are held by their handles or
  // leave the capture first (abandonCapture).
  std::unordered_map<Stream *, std::vector<Node *>> after;
};

CUresult captureWork(Stream &stream, Work work);
CUresult captureRecord(Stream &stream, Event &event, bool external);
// handled: the wait became part of a capture, or is an error of one.
CUresult captureWait(Stream &stream, Event &event, bool external, bool &handled);
CUresult captureAllocation(Stream &stream, Pool &pool, std::size_t bytes, CUdeviceptr &address);
CUresult captureFree(Stream &stream, CUdeviceptr address);

// Before a call that a capture forbids to the calling thread (it may synchronise with unfinished work):
// CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, and the captures that forbid it are invalid.
CUresult checkUnsafeCall();
// Before work is given to the legacy stream while a blocking stream captures: CUDA_ERROR_STREAM_CAPTURE_IMPLICIT.
CUresult checkImplicit(Stream &stream);
// An event whose latest record was captured cannot be asked for.
CUresult checkEventUse(Event &event);
void forgetCapture(Event &event);
// For a call that a capturing stream never takes: the capture is invalid.
CUresult refuseInCapture(Stream &stream);
void abandonCapture(Stream &stream);

}  // namespace strata::driver
