// SPDX-License-Identifier: Apache-2.0
// Stackful fibers on Boost.Context, with what AddressSanitizer and ThreadSanitizer must be told, and a
// thread's pool of guarded stacks. A fiber belongs to the thread that started it.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata::simt {

// Stacks of one size with an inaccessible page below each; grown on demand, kept until a larger size is asked for.
class StackPool {
public:
  StackPool() = default;
  ~StackPool();
  StackPool(const StackPool &) = delete;
  StackPool &operator=(const StackPool &) = delete;

  // At least `count` stacks of at least `bytes`. False: no memory.
  bool reserve(std::size_t count, std::size_t bytes);
  void *top(std::size_t index) const { return static_cast<char *>(stacks_[index]) + pageSize() + bytes_; }
  std::size_t bytes() const { return bytes_; }
  static std::size_t pageSize();

private:
  void release();

  std::vector<void *> stacks_;  // lowest address, where the guard page lies
  std::size_t bytes_ = 0;
};

class Fiber {
public:
  using Body = void (*)(void *argument);

  // The body must end by switching out for good; it never returns.
  void start(void *stackTop, std::size_t stackBytes, Body body, void *argument);
  void enter();   // from the scheduler; returns when the fiber leaves
  void leave();   // from inside the fiber
  // The fiber will not be entered again (it ended, or was abandoned after a fault).
  void forget();

private:
  static void trampoline(boost::context::detail::transfer_t from);

  boost::context::detail::fcontext_t self_ = nullptr, scheduler_ = nullptr;
  Body body_ = nullptr;
  void *argument_ = nullptr;
  // Sanitizer state; unused in plain builds.
  void *stackBottom_ = nullptr;
  [[maybe_unused]] void *fakeStack_ = nullptr, *schedulerFakeStack_ = nullptr;
  [[maybe_unused]] const void *schedulerBottom_ = nullptr;
  std::size_t stackBytes_ = 0;
  [[maybe_unused]] std::size_t schedulerBytes_ = 0;
  [[maybe_unused]] void *tsanFiber_ = nullptr, *tsanScheduler_ = nullptr;
};

}  // namespace strata::simt
