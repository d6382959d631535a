// SPDX-License-Identifier: Apache-2.0
#include "simt/exec/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include "simt/exec/sanitizers.h"
#include "simt/target/machine.h"

namespace strata::simt {

namespace ctx = boost::context::detail;

std::size_t StackPool::pageSize() {
  static const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

StackPool::~StackPool() { release(); }

void StackPool::release() {
  for (void *stack : stacks_) munmap(stack, mappingBytes());
  stacks_.clear();
}

bool StackPool::reserve(std::size_t count, std::size_t bytes) {
  bytes = (bytes + pageSize() - 1) / pageSize() * pageSize();
  if (bytes > bytes_) {
    release();
    bytes_ = bytes;
    ++generation_;
  }
  stacks_.reserve(count);
  while (stacks_.size() < count) {
    void *stack = mmap(nullptr, mappingBytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) return false;
    if (mprotect(static_cast<char *>(stack) + kGuardBytes, bytes_ + pageSize(), PROT_READ | PROT_WRITE) != 0) {
      munmap(stack, mappingBytes());
      return false;
    }
    stacks_.push_back(stack);
  }
  return true;
}

void *StackPool::top(std::size_t index) const {
  const std::size_t lines = pageSize() / 64;
  return static_cast<char *>(stacks_[index]) + kGuardBytes + bytes_ + index * 17 % lines * 64;
}

void Fiber::start(void *stackTop, std::size_t stackBytes, Body body, void *argument) {
  forget();
  body_ = body;
  argument_ = argument;
  stackBottom_ = static_cast<char *>(stackTop) - stackBytes;
  stackBytes_ = stackBytes;
  self_ = ctx::make_fcontext(stackTop, stackBytes, trampoline);
#ifdef STRATA_TSAN
  tsanFiber_ = __tsan_create_fiber(0);
#endif
#ifdef STRATA_ASAN
  __asan_unpoison_memory_region(stackBottom_, stackBytes);  // of a fiber that was abandoned on this stack
  fakeStack_ = nullptr;
#endif
}

void Fiber::trampoline(ctx::transfer_t from) {
  auto *fiber = static_cast<Fiber *>(from.data);
  fiber->scheduler_ = from.fctx;
#ifdef STRATA_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &fiber->schedulerBottom_, &fiber->schedulerBytes_);
#endif
  // The thread may have a rounding mode of its own; kernels have the default one.
  machine::useDefaultRounding();
  fiber->body_(fiber->argument_);
  __builtin_trap();  // the body does not return
}

void Fiber::enter() {
#ifdef STRATA_ASAN
  __sanitizer_start_switch_fiber(&schedulerFakeStack_, stackBottom_, stackBytes_);
#endif
#ifdef STRATA_TSAN
  tsanScheduler_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsanFiber_, 0);
#endif
  self_ = ctx::jump_fcontext(self_, this).fctx;
#ifdef STRATA_ASAN
  __sanitizer_finish_switch_fiber(schedulerFakeStack_, nullptr, nullptr);
#endif
}

void Fiber::leave() {
#ifdef STRATA_ASAN
  __sanitizer_start_switch_fiber(&fakeStack_, schedulerBottom_, schedulerBytes_);
#endif
#ifdef STRATA_TSAN
  __tsan_switch_to_fiber(tsanScheduler_, 0);
#endif
  scheduler_ = ctx::jump_fcontext(scheduler_, nullptr).fctx;
#ifdef STRATA_ASAN
  __sanitizer_finish_switch_fiber(fakeStack_, &schedulerBottom_, &schedulerBytes_);
#endif
}

void Fiber::abandon() {
#ifdef STRATA_ASAN
  __sanitizer_start_switch_fiber(nullptr, schedulerBottom_, schedulerBytes_);
#endif
#ifdef STRATA_TSAN
  __tsan_switch_to_fiber(tsanScheduler_, 0);
#endif
  ctx::jump_fcontext(scheduler_, nullptr);
  __builtin_unreachable();
}

void Fiber::forget() {
#ifdef STRATA_TSAN
  if (tsanFiber_) __tsan_destroy_fiber(tsanFiber_);
  tsanFiber_ = nullptr;
#endif
  self_ = nullptr;
}

}  // namespace strata::simt
