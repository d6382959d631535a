// SPDX-License-Identifier: Apache-2.0
#include "driver/capture.h"

#include <algorithm>
#include <cstring>

#include "driver/entries.h"
#include "driver/event.h"
#include "driver/graph_memory.h"
#include "driver/pool.h"

namespace strata::driver {
namespace {

std::mutex captureLock;
std::uint64_t nextCaptureId = 1;
[[clang::no_destroy]] std::vector<Capture *> activeCaptures;  // never destroyed, as all that is of the process
std::atomic<int> activeCount{0};                              // for a look without the lock

thread_local CUstreamCaptureMode threadMode = CU_STREAM_CAPTURE_MODE_GLOBAL;

// All below: under captureLock.

void join(Stream &stream, Capture &capture, std::vector<Node *> after) {
  stream.capture = Ref<Capture>(&capture);
  stream.captures = true;
  if (stream.blocking()) ++stream.context.blockingCaptures;
  capture.after[&stream] = std::move(after);
}

void leave(Stream &stream) {
  if (!stream.capture) return;
  stream.capture->after.erase(&stream);
  stream.capture = nullptr;
  stream.captures = false;
  if (stream.blocking()) --stream.context.blockingCaptures;
}

void end(Capture &capture) {
  capture.active = false;
  std::erase(activeCaptures, &capture);
  activeCount = static_cast<int>(activeCaptures.size());
  while (!capture.after.empty()) leave(*capture.after.begin()->first);
}

CUresult invalidate(Capture &capture, CUresult result) {
  capture.invalid = true;
  return result;
}

// The last work of some stream is not followed by any of the origin's.
bool unjoined(Capture &capture) {
  const auto &ends = capture.after[capture.origin];
  for (const auto &[stream, after] : capture.after)
    for (const Node *node : after)
      if (std::none_of(ends.begin(), ends.end(), [&](const Node *end) { return Graph::reaches(*node, *end); }))
        return true;
  return false;
}

CUresult addNode(Stream &stream, Work work, Node **added = nullptr) {
  if (!stream.capture) return CUDA_ERROR_ILLEGAL_STATE;
  Capture &capture = *stream.capture;
  if (capture.invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  auto &after = capture.after[&stream];
  Node *node = capture.graph->add(std::move(work), after);
  if (!node) return CUDA_ERROR_OUT_OF_MEMORY;
  after = {node};
  if (added) *added = node;
  return CUDA_SUCCESS;
}

void keepParamPointers(Work &work) {
  auto *launch = std::get_if<Launch>(&work);
  if (!launch) return;
  launch->paramPointers.clear();
  for (const auto &param : launch->function->info.params)
    launch->paramPointers.push_back(launch->params.data() + param.offset);
}

}  // namespace

CUresult captureWork(Stream &stream, Work work) {
  if (std::holds_alternative<Callback>(work)) return refuseInCapture(stream);
  std::lock_guard lock(captureLock);
  Node *node = nullptr;
  CUresult result = addNode(stream, std::move(work), &node);
  if (result == CUDA_SUCCESS) keepParamPointers(node->work);
  return result;
}

CUresult captureRecord(Stream &stream, Event &event, bool external) {
  std::lock_guard lock(captureLock);
  if (external) return addNode(stream, RecordEvent{Ref<Event>(&event)});
  if (!stream.capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (stream.capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  event.capture = stream.capture;
  event.captured = true;
  event.capturedAfter = stream.capture->after[&stream];
  return CUDA_SUCCESS;
}

CUresult captureWait(Stream &stream, Event &event, bool external, bool &handled) {
  if (!stream.capturing() && activeCount == 0 && !event.captured) return CUDA_SUCCESS;
  std::lock_guard lock(captureLock);
  Capture *mine = stream.capture.get(), *theirs = event.capture.get();
  if (!mine && !theirs) return CUDA_SUCCESS;
  handled = true;
  if (mine && mine->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (mine && external) return addNode(stream, WaitEvent{Ref<Event>(&event)});
  if (!theirs) return invalidate(*mine, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  if (!theirs->active) return CUDA_ERROR_INVALID_VALUE;
  if (theirs->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!mine) {
    if (stream.kind == Stream::Kind::legacy) return invalidate(*theirs, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    join(stream, *theirs, event.capturedAfter);
    return CUDA_SUCCESS;
  }
  if (mine != theirs) {
    invalidate(*theirs, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    return invalidate(*mine, CUDA_ERROR_STREAM_CAPTURE_MERGE);
  }
  auto &after = mine->after[&stream];
  for (Node *node : event.capturedAfter)
    if (std::find(after.begin(), after.end(), node) == after.end()) after.push_back(node);
  return CUDA_SUCCESS;
}

CUresult captureAllocation(Stream &stream, Pool &pool, std::size_t bytes, CUdeviceptr &address) {
  CUDA_MEM_ALLOC_NODE_PARAMS described{};
  described.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  described.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, pool.device.ordinal};
  described.bytesize = bytes;
  Work work;
  if (CUresult result = allocationWork(described, work); result != CUDA_SUCCESS) return result;
  std::lock_guard lock(captureLock);
  CUresult result = addNode(stream, std::move(work));
  if (result == CUDA_SUCCESS) address = described.dptr;
  return result;
}

CUresult captureFree(Stream &stream, CUdeviceptr address) {
  Work work;
  if (CUresult result = freeWork(address, work); result != CUDA_SUCCESS) return result;
  std::lock_guard lock(captureLock);
  return addNode(stream, std::move(work));
}

CUresult checkUnsafeCall() {
  if (activeCount.load(std::memory_order_relaxed) == 0 || threadMode == CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_SUCCESS;
  std::lock_guard lock(captureLock);
  CUresult result = CUDA_SUCCESS;
  for (Capture *capture : activeCaptures) {
    bool own = capture->thread == std::this_thread::get_id();
    bool global = capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && threadMode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED || !(own || global)) continue;
    result = invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }
  return result;
}

CUresult checkImplicit(Stream &stream) {
  if (stream.kind != Stream::Kind::legacy || stream.context.blockingCaptures.load() == 0) return CUDA_SUCCESS;
  std::lock_guard lock(captureLock);
  for (Capture *capture : activeCaptures)
    for (const auto &[member, after] : capture->after)
      if (member->blocking() && &member->context == &stream.context)
        invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

CUresult checkEventUse(Event &event) {
  if (event.captured) {
    std::lock_guard lock(captureLock);
    if (event.capture && !event.capture->active) return CUDA_ERROR_INVALID_VALUE;
    if (event.capture) return invalidate(*event.capture, CUDA_ERROR_CAPTURED_EVENT);
  }
  return checkUnsafeCall();
}

void forgetCapture(Event &event) {
  if (!event.captured) return;
  std::lock_guard lock(captureLock);
  event.captured = false;
  event.capture = nullptr;
  event.capturedAfter.clear();
}

CUresult refuseInCapture(Stream &stream) {
  std::lock_guard lock(captureLock);
  if (stream.capture) invalidate(*stream.capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

void abandonCapture(Stream &stream) {
  if (!stream.capturing()) return;
  std::lock_guard lock(captureLock);
  Ref<Capture> capture = stream.capture;
  if (!capture) return;
  invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  if (capture->origin == &stream) end(*capture);
  else leave(stream);
}

CUresult entry::cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
  Ref<Stream> stream;
  if (CUresult result = resolveStream(hStream, stream); result != CUDA_SUCCESS) return result;
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = checkImplicit(*stream); result != CUDA_SUCCESS) return result;
  if (stream->kind == Stream::Kind::legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  std::lock_guard lock(captureLock);
  if (stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
  auto capture = makeRef<Capture>();
  capture->id = nextCaptureId++;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = stream.get();
  capture->graph = makeRef<Graph>();
  activeCaptures.push_back(capture.get());
  activeCount = static_cast<int>(activeCaptures.size());
  join(*stream, *capture, {});
  return CUDA_SUCCESS;
}

CUresult entry::cuStreamBeginCapture(CUstream hStream) {
  return cuStreamBeginCapture_v2(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult entry::cuStreamEndCapture(CUstream hStream, CUgraph *phGraph) {
  Ref<Stream> stream;
  if (CUresult result = resolveStream(hStream, stream); result != CUDA_SUCCESS) return result;
  if (CUresult result = checkImplicit(*stream); result != CUDA_SUCCESS) return result;
  if (!phGraph) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(captureLock);
  Ref<Capture> capture = stream->capture;
  if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
  *phGraph = nullptr;
  if (capture->origin != stream.get()) return invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id())
    return invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  bool open = !capture->invalid && unjoined(*capture);
  end(*capture);
  if (capture->invalid || open) handles<Graph, CUgraph>().remove(capture->graph->handle);
  if (capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (open) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  Graph &graph = *capture->graph;
  if (!graph.handle) graph.handle = handles<Graph, CUgraph>().add(capture->graph);
  if (!graph.handle) return CUDA_ERROR_OUT_OF_MEMORY;
  *phGraph = graph.handle;
  return CUDA_SUCCESS;
}

CUresult entry::cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus) {
  return cuStreamGetCaptureInfo_v3(hStream, captureStatus, nullptr, nullptr, nullptr, nullptr, nullptr);
}

CUresult entry::cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out) {
  return cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, nullptr, nullptr, nullptr, nullptr);
}

CUresult entry::cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                          cuuint64_t *id_out, CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                          size_t *numDependencies_out) {
  return cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, graph_out, dependencies_out, nullptr,
                                   numDependencies_out);
}

// The lists stay valid in the calling thread until its next call.
CUresult entry::cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                          cuuint64_t *id_out, CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                          const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out) {
  thread_local std::vector<CUgraphNode> dependencies;
  thread_local std::vector<CUgraphEdgeData> edges;
  if (!captureStatus_out) return CUDA_ERROR_INVALID_VALUE;
  Ref<Stream> stream;
  if (CUresult result = resolveStream(hStream, stream); result != CUDA_SUCCESS) return result;
  if (stream->kind == Stream::Kind::legacy && stream->context.blockingCaptures.load())
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  std::lock_guard lock(captureLock);
  Capture *capture = stream->capture.get();
  *captureStatus_out = !capture           ? CU_STREAM_CAPTURE_STATUS_NONE
                       : capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                          : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (!capture || capture->invalid) return CUDA_SUCCESS;
  if (id_out) *id_out = capture->id;
  if (graph_out) {
    if (!capture->graph->handle) capture->graph->handle = handles<Graph, CUgraph>().add(capture->graph);
    *graph_out = capture->graph->handle;
  }
  dependencies.clear();
  for (const Node *node : capture->after[stream.get()]) dependencies.push_back(node->handle);
  edges.assign(dependencies.size(), {});
  if (dependencies_out) *dependencies_out = dependencies.data();
  if (edgeData_out) *edgeData_out = edges.data();
  if (numDependencies_out) *numDependencies_out = dependencies.size();
  return CUDA_SUCCESS;
}

CUresult entry::cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode *dependencies,
                                                     const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                                     unsigned int flags) {
  if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (numDependencies && !dependencies)) return CUDA_ERROR_INVALID_VALUE;
  Ref<Stream> stream;
  if (CUresult result = resolveStream(hStream, stream); result != CUDA_SUCCESS) return result;
  std::lock_guard lock(captureLock);
  Capture *capture = stream->capture.get();
  if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  std::vector<Node *> after;
  if (flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES) after = capture->after[stream.get()];
  for (size_t i = 0; i < numDependencies; ++i) {
    Node *node = findNode(dependencies[i]);
    if (!node || &node->graph != capture->graph.get()) return CUDA_ERROR_INVALID_VALUE;
    const CUgraphEdgeData plain{};
    if (dependencyData && std::memcmp(&dependencyData[i], &plain, sizeof plain)) return CUDA_ERROR_NOT_SUPPORTED;
    if (std::find(after.begin(), after.end(), node) == after.end()) after.push_back(node);
  }
  capture->after[stream.get()] = std::move(after);
  return CUDA_SUCCESS;
}

CUresult entry::cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies, size_t numDependencies,
                                                  unsigned int flags) {
  return cuStreamUpdateCaptureDependencies_v2(hStream, dependencies, nullptr, numDependencies, flags);
}

CUresult entry::cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  std::swap(threadMode, *mode);
  return CUDA_SUCCESS;
}

}  // namespace strata::driver
