// SPDX-License-Identifier: Apache-2.0
#include "driver/stream.h"

#include <algorithm>
#include <unordered_map>

#include "driver/capture.h"
#include "driver/entries.h"
#include "driver/entry.h"
#include "driver/event.h"
#include "driver/memory.h"
#include "driver/scheduler.h"
#include "driver/work.h"

namespace strata::driver {
namespace {

std::atomic<std::uint64_t> nextStreamId{1};

// The calling thread's own default streams, by context id; they end with the thread.
thread_local std::unordered_map<std::uint64_t, Ref<Stream>> perThreadStreams;

Ref<Stream> perThreadStream(Context &context) {
  Ref<Stream> &stream = perThreadStreams[context.id];
  if (!stream) stream = makeRef<Stream>(context, Stream::Kind::perThread, 0u, 0);
  return stream;
}

}  // namespace

Stream::Stream(Context &context, Kind kind, unsigned flags, int priority)
    : context(context), kind(kind), flags(flags), priority(priority), id(nextStreamId.fetch_add(1)) {
  if (kind != Kind::legacy) keepsContext_ = Ref<Context>(&context);
}

Stream::~Stream() = default;

CUresult resolveStream(CUstream handle, Ref<Stream> &stream) {
  bool perThread = handle == CU_STREAM_PER_THREAD || (!handle && streamZeroIsPerThread);
  if (perThread || !handle || handle == CU_STREAM_LEGACY) {
    Context *context = currentContext();
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    stream = perThread ? perThreadStream(*context) : Ref<Stream>(&context->legacy());
    return CUDA_SUCCESS;
  }
  stream = Ref<Stream>(handles<Stream, CUstream>().find(handle));
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  return stream->context.error();
}

CUresult synchronizeChecked(Context &context) {
  if (CUresult result = checkUnsafeCall(); result != CUDA_SUCCESS) return result;
  return synchronize(context);
}

CUresult entry::cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority) {
  if (!phStream || (flags & ~CU_STREAM_NON_BLOCKING)) return CUDA_ERROR_INVALID_VALUE;
  priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  auto stream = makeRef<Stream>(*currentContext(), Stream::Kind::created, flags, priority);
  CUstream handle = handles<Stream, CUstream>().add(stream);
  if (!handle) return CUDA_ERROR_OUT_OF_MEMORY;
  *phStream = handle;
  return CUDA_SUCCESS;
}

CUresult entry::cuStreamCreate(CUstream *phStream, unsigned int Flags) {
  return cuStreamCreateWithPriority(phStream, Flags, 0);
}

// Work that was submitted runs to its end; a capture is given up.
CUresult entry::cuStreamDestroy_v2(CUstream hStream) {
  Ref<Stream> stream = handles<Stream, CUstream>().remove(hStream);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  abandonCapture(*stream);
  return CUDA_SUCCESS;
}

CUresult entry::cuStreamQuery(CUstream hStream) {
  Ref<Stream> stream;
  if (CUresult result = resolveStream(hStream, stream); result != CUDA_SUCCESS) return result;
  if (stream->capturing()) return refuseInCapture(*stream);
  if (CUresult result = checkImplicit(*stream); result != CUDA_SUCCESS) return result;
  if (CUresult result = checkUnsafeCall(); result != CUDA_SUCCESS) return result;
  return query(*stream);
}

CUresult entry::cuStreamSynchronize(CUstream hStream) {
  Ref<Stream> stream;
  if (CUresult result = resolveStream(hStream, stream); result != CUDA_SUCCESS) return result;
  if (stream->capturing()) return refuseInCapture(*stream);
  if (CUresult result = checkImplicit(*stream); result != CUDA_SUCCESS) return result;
  if (CUresult result = checkUnsafeCall(); result != CUDA_SUCCESS) return result;
  return synchronize(*stream);
}

CUresult entry::cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags) {
  if (Flags & ~CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  Event *event = findEvent(hEvent);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  Ref<Stream> stream;
  if (CUresult result = resolveStream(hStream, stream); result != CUDA_SUCCESS) return result;
  if (CUresult result = checkImplicit(*stream); result != CUDA_SUCCESS) return result;
  bool handled = false;
  CUresult result = captureWait(*stream, *event, Flags & CU_EVENT_WAIT_EXTERNAL, handled);
  if (handled || result != CUDA_SUCCESS) return result;
  if (Flags & CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_ILLEGAL_STATE;
  if (Marker marker = markerOf(*event); marker.stream) submit(*stream, makeOperation(NoWork{}), {&marker, 1});
  return CUDA_SUCCESS;
}

CUresult entry::cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData) {
  if (!fn) return CUDA_ERROR_INVALID_VALUE;
  Ref<Stream> stream;
  if (CUresult result = resolveStream(hStream, stream); result != CUDA_SUCCESS) return result;
  if (CUresult result = checkImplicit(*stream); result != CUDA_SUCCESS) return result;
  return issue(*stream, HostCall{fn, userData});
}

CUresult entry::cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags) {
  if (!callback || flags) return CUDA_ERROR_INVALID_VALUE;
  Ref<Stream> stream;
  if (CUresult result = resolveStream(hStream, stream); result != CUDA_SUCCESS) return result;
  if (CUresult result = checkImplicit(*stream); result != CUDA_SUCCESS) return result;
  if (stream->capturing()) return refuseInCapture(*stream);
  return issue(*stream, Callback{callback, userData, hStream});
}

// Managed memory is ordinary memory here, visible to host and device at all times: there is nothing to attach.
CUresult entry::cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags) {
  if (!dptr || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE))
    return CUDA_ERROR_INVALID_VALUE;
  Ref<Stream> stream;
  if (CUresult result = resolveStream(hStream, stream); result != CUDA_SUCCESS) return result;
  if (stream->capturing()) return refuseInCapture(*stream);
  auto allocation = Memory::get().find(dptr);
  if (allocation && allocation->kind != MemoryKind::managed) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult entry::cuStreamGetPriority(CUstream hStream, int *priority) {
  if (!priority) return CUDA_ERROR_INVALID_VALUE;
  Ref<Stream> stream;
  CUresult result = resolveStream(hStream, stream);
  if (result == CUDA_SUCCESS) *priority = stream->priority;
  return result;
}

CUresult entry::cuStreamGetFlags(CUstream hStream, unsigned int *flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  Ref<Stream> stream;
  CUresult result = resolveStream(hStream, stream);
  if (result == CUDA_SUCCESS) *flags = stream->flags;
  return result;
}

CUresult entry::cuStreamGetId(CUstream hStream, unsigned long long *streamId) {
  if (!streamId) return CUDA_ERROR_INVALID_VALUE;
  Ref<Stream> stream;
  CUresult result = resolveStream(hStream, stream);
  if (result == CUDA_SUCCESS) *streamId = stream->id;
  return result;
}

CUresult entry::cuStreamGetDevice(CUstream hStream, CUdevice *device) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  Ref<Stream> stream;
  CUresult result = resolveStream(hStream, stream);
  if (result == CUDA_SUCCESS) *device = stream->context.device.ordinal;
  return result;
}

CUresult entry::cuStreamGetCtx(CUstream hStream, CUcontext *pctx) {
  if (!pctx) return CUDA_ERROR_INVALID_VALUE;
  Ref<Stream> stream;
  CUresult result = resolveStream(hStream, stream);
  if (result == CUDA_SUCCESS) *pctx = stream->context.handle;
  return result;
}

CUresult entry::cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx) {
  CUresult result = cuStreamGetCtx(hStream, pCtx);
  if (result == CUDA_SUCCESS && pGreenCtx) *pGreenCtx = nullptr;
  return result;
}

CUresult entry::cuStreamCopyAttributes(CUstream dstStream, CUstream srcStream) {
  Ref<Stream> destination, source;
  if (CUresult result = resolveStream(dstStream, destination); result != CUDA_SUCCESS) return result;
  if (CUresult result = resolveStream(srcStream, source); result != CUDA_SUCCESS) return result;
  destination->priority = source->priority.load();
  std::lock_guard lock(schedulerLock);
  destination->synchronizationPolicy = source->synchronizationPolicy;
  return CUDA_SUCCESS;
}

CUresult entry::cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue *value_out) {
  if (!value_out) return CUDA_ERROR_INVALID_VALUE;
  Ref<Stream> stream;
  if (CUresult result = resolveStream(hStream, stream); result != CUDA_SUCCESS) return result;
  switch (attr) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: value_out->accessPolicyWindow = {}; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: {
      std::lock_guard lock(schedulerLock);
      value_out->syncPolicy = stream->synchronizationPolicy;
      return CUDA_SUCCESS;
    }
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: value_out->priority = stream->priority; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: value_out->memSyncDomainMap = {0, 0}; return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: value_out->memSyncDomain = {}; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult entry::cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue *value) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  Ref<Stream> stream;
  if (CUresult result = resolveStream(hStream, stream); result != CUDA_SUCCESS) return result;
  switch (attr) {
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: {
      if (value->syncPolicy > CU_SYNC_POLICY_BLOCKING_SYNC) return CUDA_ERROR_INVALID_VALUE;
      std::lock_guard lock(schedulerLock);
      stream->synchronizationPolicy = value->syncPolicy;
      return CUDA_SUCCESS;
    }
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      stream->priority = std::clamp(value->priority, kGreatestPriority, kLeastPriority);
      return CUDA_SUCCESS;
    // Hints about caches and fences of a GPU: there is one coherent memory here, which honours any.
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace strata::driver
