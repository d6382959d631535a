// SPDX-License-Identifier: Apache-2.0
#include "driver/context.h"

#include <fmt/format.h>

#include <bit>

#include "base/log.h"
#include "driver/entries.h"
#include "driver/event.h"
#include "driver/memory.h"
#include "driver/module.h"
#include "driver/scheduler.h"
#include "driver/stream.h"

namespace strata::driver {
namespace {

std::atomic<std::uint64_t> nextContextId{1};

constexpr unsigned kContextFlags = CU_CTX_FLAGS_MASK;

bool validFlags(unsigned flags) {
  unsigned schedule = flags & CU_CTX_SCHED_MASK;
  return !(flags & ~kContextFlags) && (schedule == CU_CTX_SCHED_AUTO || std::has_single_bit(schedule));
}

// The stack below the top, which is currentContextOfThread. Entries hold references.
thread_local std::vector<Ref<Context>> stackOfThread;

void setTop() { currentContextOfThread = stackOfThread.empty() ? nullptr : stackOfThread.back().get(); }

struct FaultCode {
  simt::FaultKind kind;
  CUresult result;
};
constexpr FaultCode kFaultCodes[] = {
    {simt::FaultKind::illegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS},
    {simt::FaultKind::misalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS},
    {simt::FaultKind::illegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION},
    {simt::FaultKind::invalidPc, CUDA_ERROR_INVALID_PC},
    {simt::FaultKind::trap, CUDA_ERROR_LAUNCH_FAILED},
    {simt::FaultKind::assertion, CUDA_ERROR_ASSERT},
    {simt::FaultKind::stackOverflow, CUDA_ERROR_HARDWARE_STACK_ERROR},
    {simt::FaultKind::deadlock, CUDA_ERROR_LAUNCH_FAILED},
    {simt::FaultKind::interrupted, CUDA_ERROR_LAUNCH_FAILED},
    {simt::FaultKind::internal, CUDA_ERROR_UNKNOWN},
};

}  // namespace

Context::Context(Device &device, unsigned flags, bool primary)
    : device(device), primary(primary), id(nextContextId.fetch_add(1)), flags(flags) {
  limits_[CU_LIMIT_STACK_SIZE] = 1024;
  limits_[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
  limits_[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
  limits_[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
  limits_[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
  makeLegacyStream();
}

Context::~Context() = default;

void Context::makeLegacyStream() { legacy_ = makeRef<Stream>(*this, Stream::Kind::legacy, 0u, 0); }

void Context::poison(CUresult error) {
  CUresult expected = CUDA_SUCCESS;
  error_.compare_exchange_strong(expected, error);
}

void Context::poison(const simt::Fault &fault) {
  CUresult result = CUDA_ERROR_UNKNOWN;
  for (const FaultCode &code : kFaultCodes)
    if (code.kind == fault.kind) result = code.result;
  log::error(fault.message);
  poison(result);
}

CUresult Context::setLimit(CUlimit limit, std::size_t value) {
  switch (limit) {
    case CU_LIMIT_STACK_SIZE:
      if (value > std::size_t{512} << 10) return CUDA_ERROR_INVALID_VALUE;
      break;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
      if (value > 128) return CUDA_ERROR_INVALID_VALUE;
      break;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
      if (value > device.totalMemory()) return CUDA_ERROR_OUT_OF_MEMORY;
      break;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: break;
    default: return CUDA_ERROR_UNSUPPORTED_LIMIT;
  }
  limits_[limit] = value;
  if (limit == CU_LIMIT_STACK_SIZE || limit == CU_LIMIT_MALLOC_HEAP_SIZE)
    device.engine().setLimits(limits_[CU_LIMIT_MALLOC_HEAP_SIZE], limits_[CU_LIMIT_STACK_SIZE]);
  return CUDA_SUCCESS;
}

void Context::destroy() {
  synchronize(*this);
  alive_.store(false, std::memory_order_release);
  auto mine = [this](const auto &object) { return &object.context == this; };
  handles<Event, CUevent>().removeIf(mine);
  handles<Stream, CUstream>().removeIf(mine);
  unloadModules(*this);
  Memory::get().releaseAll(*this);
}

void Context::revive() {
  error_.store(CUDA_SUCCESS);
  alive_.store(true, std::memory_order_release);
}

void pushContext(Context &context) {
  stackOfThread.push_back(Ref<Context>(&context));
  setTop();
}

bool popContext() {
  if (stackOfThread.empty()) return false;
  stackOfThread.pop_back();
  setTop();
  return true;
}

void replaceContext(Context *context) {
  if (!stackOfThread.empty()) stackOfThread.pop_back();
  if (context) stackOfThread.push_back(Ref<Context>(context));
  setTop();
}

namespace {

// A context that a call may name: null means the current one.
CUresult named(CUcontext handle, Context *&context) {
  context = handle ? findContext(handle) : currentContext();
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  return context->alive() ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult createContext(CUcontext *pctx, unsigned flags, CUdevice ordinal) {
  Device *device = findDevice(ordinal);
  if (!pctx || !validFlags(flags)) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  // As on a GPU, a process whose current context is poisoned gets no further one.
  if (Context *current = currentContext(); current && current->alive() && current->error() != CUDA_SUCCESS)
    return current->error();
  device->engine();
  auto context = makeRef<Context>(*device, flags, false);
  context->handle = handles<Context, CUcontext>().add(context);
  if (!context->handle) return CUDA_ERROR_OUT_OF_MEMORY;
  pushContext(*context);
  *pctx = context->handle;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult entry::cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev) {
  return createContext(pctx, flags, dev);
}

CUresult entry::cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags,
                               CUdevice dev) {
  if (numParams < 0 || (numParams > 0 && !paramsArray)) return CUDA_ERROR_INVALID_VALUE;
  if (numParams > 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return createContext(pctx, flags, dev);
}

CUresult entry::cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev) {
  if (ctxCreateParams && ctxCreateParams->cigParams) return CUDA_ERROR_NOT_SUPPORTED;
  if (ctxCreateParams && ctxCreateParams->numExecAffinityParams > 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return createContext(pctx, flags, dev);
}

CUresult entry::cuCtxDestroy_v2(CUcontext ctx) {
  if (!ctx) return CUDA_ERROR_INVALID_VALUE;
  Context *found = findContext(ctx);
  if (!found || found->primary) return CUDA_ERROR_INVALID_CONTEXT;
  Ref<Context> context = handles<Context, CUcontext>().remove(ctx);
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  context->destroy();
  if (currentContext() == context.get()) popContext();
  return CUDA_SUCCESS;
}

CUresult entry::cuCtxPushCurrent_v2(CUcontext ctx) {
  if (!ctx) return CUDA_ERROR_INVALID_VALUE;
  Context *context = findContext(ctx);
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  pushContext(*context);
  return CUDA_SUCCESS;
}

CUresult entry::cuCtxPopCurrent_v2(CUcontext *pctx) {
  Context *context = currentContext();
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  if (pctx) *pctx = context->handle;
  popContext();
  return CUDA_SUCCESS;
}

CUresult entry::cuCtxSetCurrent(CUcontext ctx) {
  if (ctx && !findContext(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
  Context *context = findContext(ctx);
  if (context != currentContext()) replaceContext(context);
  return CUDA_SUCCESS;
}

CUresult entry::cuCtxGetCurrent(CUcontext *pctx) {
  if (!pctx) return CUDA_ERROR_INVALID_VALUE;
  Context *context = currentContext();
  *pctx = context ? context->handle : nullptr;
  return CUDA_SUCCESS;
}

CUresult entry::cuCtxGetDevice(CUdevice *device) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  *device = currentContext()->device.ordinal;
  return CUDA_SUCCESS;
}

CUresult entry::cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  Context *context = nullptr;
  if (CUresult result = named(ctx, context); result != CUDA_SUCCESS) return result;
  *device = context->device.ordinal;
  return CUDA_SUCCESS;
}

CUresult entry::cuCtxGetFlags(unsigned int *flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  *flags = currentContext()->flags;
  return CUDA_SUCCESS;
}

CUresult entry::cuCtxSetFlags(unsigned int flags) {
  if (!validFlags(flags)) return CUDA_ERROR_INVALID_VALUE;
  currentContext()->flags = flags;
  return CUDA_SUCCESS;
}

CUresult entry::cuCtxGetId(CUcontext ctx, unsigned long long *ctxId) {
  if (!ctxId) return CUDA_ERROR_INVALID_VALUE;
  Context *context = nullptr;
  if (CUresult result = named(ctx, context); result != CUDA_SUCCESS) return result;
  *ctxId = context->id;
  return CUDA_SUCCESS;
}

CUresult entry::cuCtxGetApiVersion(CUcontext ctx, unsigned int *version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  Context *context = nullptr;
  if (CUresult result = named(ctx, context); result != CUDA_SUCCESS) return result;
  *version = 3020;  // the binary interface that NVIDIA's driver still names here
  return CUDA_SUCCESS;
}

CUresult entry::cuCtxSetLimit(CUlimit limit, size_t value) { return currentContext()->setLimit(limit, value); }

CUresult entry::cuCtxGetLimit(size_t *pvalue, CUlimit limit) {
  if (!pvalue) return CUDA_ERROR_INVALID_VALUE;
  switch (limit) {
    case CU_LIMIT_STACK_SIZE:
    case CU_LIMIT_PRINTF_FIFO_SIZE:
    case CU_LIMIT_MALLOC_HEAP_SIZE:
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY: *pvalue = currentContext()->limit(limit); return CUDA_SUCCESS;
    default: return CUDA_ERROR_UNSUPPORTED_LIMIT;
  }
}

CUresult entry::cuCtxGetCacheConfig(CUfunc_cache *pconfig) {
  if (!pconfig) return CUDA_ERROR_INVALID_VALUE;
  *pconfig = currentContext()->cacheConfig;
  return CUDA_SUCCESS;
}

CUresult entry::cuCtxSetCacheConfig(CUfunc_cache config) {
  if (config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
  currentContext()->cacheConfig = config;  // a hint: there is nothing to divide between caches here
  return CUDA_SUCCESS;
}

CUresult entry::cuCtxGetSharedMemConfig(CUsharedconfig *pConfig) {
  if (!pConfig) return CUDA_ERROR_INVALID_VALUE;
  *pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;  // the only one of compute capability 9.0
  return CUDA_SUCCESS;
}

CUresult entry::cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult entry::cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority) {
  if (leastPriority) *leastPriority = kLeastPriority;
  if (greatestPriority) *greatestPriority = kGreatestPriority;
  return CUDA_SUCCESS;
}

CUresult entry::cuCtxResetPersistingL2Cache(void) { return CUDA_SUCCESS; }  // no line persists here

CUresult entry::cuCtxGetExecAffinity(CUexecAffinityParam *pExecAffinity, CUexecAffinityType type) {
  if (!pExecAffinity || type >= CU_EXEC_AFFINITY_TYPE_MAX) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}

CUresult entry::cuCtxDetach(CUcontext ctx) { return cuCtxDestroy_v2(ctx); }

CUresult entry::cuCtxSynchronize(void) { return synchronizeChecked(*currentContext()); }

CUresult entry::cuCtxSynchronize_v2(CUcontext ctx) {
  Context *context = nullptr;
  if (CUresult result = named(ctx, context); result != CUDA_SUCCESS) return result;
  return synchronizeChecked(*context);
}

CUresult entry::cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) {
  if (Flags) return CUDA_ERROR_INVALID_VALUE;
  Context *peer = findContext(peerContext);
  Context *self = currentContext();
  if (!peer) return CUDA_ERROR_INVALID_CONTEXT;
  if (&peer->device == &self->device) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  std::lock_guard lock(self->device.primaryMutex);
  return self->peers.insert(peer).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

CUresult entry::cuCtxDisablePeerAccess(CUcontext peerContext) {
  Context *peer = findContext(peerContext);
  Context *self = currentContext();
  if (!peer) return CUDA_ERROR_INVALID_CONTEXT;
  std::lock_guard lock(self->device.primaryMutex);
  return self->peers.erase(peer) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

}  // namespace strata::driver
