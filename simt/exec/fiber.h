// SPDX-License-Identifier: Apache-2.0
// Stackful fibers on Boost.Context, with what AddressSanitizer and ThreadSanitizer must be told, and a
// thread's pool of guarded stacks. A fiber belongs to the thread that started it. Kernels run on fibers only:
// so they can wait in the middle, have the stack they need on any thread, and can be left after a fault.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata::simt {

// Stacks of one size with inaccessible memory below each; grown on demand, kept until a larger size is asked for.
class StackPool {
public:
  // Frames of generated code may be large: a single page would be stepped over.
  static constexpr std::size_t kGuardBytes = 256u << 10;

  StackPool() = default;
  ~StackPool();
  StackPool(const StackPool &) = delete;
  StackPool &operator=(const StackPool &) = delete;

  // At least `count` stacks of at least `bytes`. False: no memory. Larger stacks replace all that there were.
  bool reserve(std::size_t count, std::size_t bytes);
  // Where the stack starts. Neighbours start at different lines of a page, so as not to meet in the cache.
  void *top(std::size_t index) const;
  std::size_t bytes() const { return bytes_; }
  // Changes when stacks are replaced.
  std::uint32_t generation() const { return generation_; }
  static std::size_t pageSize();

private:
  void release();
  std::size_t mappingBytes() const { return kGuardBytes + bytes_ + pageSize(); }

  std::vector<void *> stacks_;  // lowest address, where the guard lies
  std::size_t bytes_ = 0;
  std::uint32_t generation_ = 0;
};

class Fiber {
public:
  using Body = void (*)(void *argument);

  Fiber() = default;
  ~Fiber() { forget(); }
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  // The body never returns; it leaves when it has nothing to do.
  void start(void *stackTop, std::size_t stackBytes, Body body, void *argument);
  bool started() const { return self_ != nullptr; }
  void enter();                 // from the scheduler; returns when the fiber leaves
  void leave();                 // from inside the fiber; returns when it is entered again
  [[noreturn]] void abandon();  // from inside the fiber, which ends here; it may then be started again
  void forget();                // from the scheduler: the fiber will not be entered again

  void *stackTop() const { return static_cast<char *>(stackBottom_) + stackBytes_; }
  // Whether an access to `address` means that the stack has overflown.
  bool guards(std::uint64_t address) const {
    const auto bottom = reinterpret_cast<std::uint64_t>(stackBottom_);
    return address < bottom && address >= bottom - StackPool::kGuardBytes;
  }

private:
  static void trampoline(boost::context::detail::transfer_t from);

  boost::context::detail::fcontext_t self_ = nullptr, scheduler_ = nullptr;
  Body body_ = nullptr;
  void *argument_ = nullptr;
  void *stackBottom_ = nullptr;
  std::size_t stackBytes_ = 0;
  // Sanitizer state; unused in plain builds.
  [[maybe_unused]] void *fakeStack_ = nullptr, *schedulerFakeStack_ = nullptr;
  [[maybe_unused]] const void *schedulerBottom_ = nullptr;
  [[maybe_unused]] std::size_t schedulerBytes_ = 0;
  [[maybe_unused]] void *tsanFiber_ = nullptr, *tsanScheduler_ = nullptr;
};

}  // namespace strata::simt
