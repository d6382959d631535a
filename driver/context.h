// SPDX-License-Identifier: Apache-2.0
// Contexts, and which one is current in a thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <vector>

#include "driver/cuda_types.h"
#include "driver/device.h"
#include "driver/handles.h"
#include "simt/simt.h"

namespace strata::driver {

class Stream;

class Context final : public Shared {
public:
  Context(Device &device, unsigned flags, bool primary);
  ~Context() override;

  Device &device;
  const bool primary;
  const std::uint64_t id;
  CUcontext handle = nullptr;
  std::atomic<unsigned> flags;

  bool alive() const { return alive_.load(std::memory_order_acquire); }
  // A kernel's fault poisons its context: every later call in it returns the same error.
  CUresult error() const { return error_.load(std::memory_order_acquire); }
  void poison(CUresult error);
  void poison(const simt::Fault &fault);

  // The legacy default stream.
  Stream &legacy() { return *legacy_; }

  std::size_t limit(CUlimit limit) const { return limits_[limit].load(); }
  CUresult setLimit(CUlimit limit, std::size_t value);
  std::atomic<CUfunc_cache> cacheConfig{CU_FUNC_CACHE_PREFER_NONE};

  // Peers that this context may access; guarded by the device's primaryMutex.
  std::set<const Context *> peers;
  // Streams with unfinished work; guarded by the scheduler's lock.
  std::vector<Stream *> busy;
  // Blocking streams that capture: the legacy stream cannot be used meanwhile.
  std::atomic<int> blockingCaptures{0};

  // Waits for the context's work, then ends its streams, events, modules and memory.
  void destroy();
  // A primary context that was destroyed lives again.
  void revive();

private:
  void makeLegacyStream();

  std::atomic<bool> alive_{true};
  std::atomic<CUresult> error_{CUDA_SUCCESS};
  std::atomic<std::size_t> limits_[CU_LIMIT_MAX] = {};
  Ref<Stream> legacy_;
};

// The calling thread's current context: the top of its stack. May be destroyed (ask alive()).
inline thread_local constinit Context *currentContextOfThread = nullptr;
inline Context *currentContext() { return currentContextOfThread; }
void pushContext(Context &context);
bool popContext();                      // false if the stack is empty
void replaceContext(Context *context);  // the top; null: only pops

inline Context *findContext(CUcontext handle) { return handles<Context, CUcontext>().find(handle); }

}  // namespace strata::driver
