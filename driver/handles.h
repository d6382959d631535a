// SPDX-License-Identifier: Apache-2.0
// Handles: what a program holds instead of our objects. A handle is the address of a slot in a table that is
// never unmapped, so a null, foreign or destroyed handle is told from a good one without touching freed memory.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cassert>
#include <cstdint>
#include <deque>
#include <mutex>
#include <new>
#include <utility>

#include "simt/exec/sanitizers.h"

namespace strata::driver {

// Intrusive reference count; an object starts with one reference, owned by the Ref that adopts it.
class Shared {
public:
  Shared() = default;
  Shared(const Shared &) = delete;
  Shared &operator=(const Shared &) = delete;
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

protected:
  virtual ~Shared() = default;

private:
  std::atomic<std::uint32_t> references_{1};
};

// T may be incomplete: Shared is the first base of every T, so that the object's address is that of its Shared
// (adopt, which needs the complete type, checks it).
template <class T>
class Ref {
public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T *object) : object_(object) {
    if (object_) shared()->retain();
  }
  static Ref adopt(T *object) {
    assert(!object || static_cast<void *>(static_cast<Shared *>(object)) == static_cast<void *>(object));
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  Ref(const Ref &other) : Ref(other.object_) {}
  Ref(Ref &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref &operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_) shared()->release();
  }
  T *get() const { return object_; }
  T *operator->() const { return object_; }
  T &operator*() const { return *object_; }
  explicit operator bool() const { return object_; }
  T *leak() { return std::exchange(object_, nullptr); }
  friend bool operator==(const Ref &a, const Ref &b) { return a.object_ == b.object_; }

private:
  Shared *shared() const { return reinterpret_cast<Shared *>(object_); }
  T *object_ = nullptr;
};

template <class T, class... Args>
Ref<T> makeRef(Args &&...args) {
  return Ref<T>::adopt(new T(std::forward<Args>(args)...));
}

// All handles of one type. Thread-safe, except that (as in CUDA) a handle must not be destroyed while another
// thread passes it to a call. A slot is used again only after kRest others have been freed, so a stale handle
// is refused for a long while.
template <class T, class Handle>
class HandleTable {
public:
  HandleTable() {
    void *memory = mmap(nullptr, kSlots * sizeof(Slot), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();  // the next call tries again
    slots_ = static_cast<Slot *>(memory);
    holdsPointers(slots_, kSlots * sizeof(Slot));
  }

  // Null if the table is full.
  Handle add(Ref<T> object) {
    std::lock_guard lock(mutex_);
    std::size_t index = 0;
    if (free_.size() > kRest) {
      index = free_.front();
      free_.pop_front();
    } else if (used_.load() < kSlots) {
      index = used_.fetch_add(1);
    } else {
      return Handle{};
    }
    slots_[index].store(object.leak(), std::memory_order_release);
    return reinterpret_cast<Handle>(&slots_[index]);
  }

  T *find(Handle handle) const {
    std::size_t index = 0;
    return locate(handle, index) ? slots_[index].load(std::memory_order_acquire) : nullptr;
  }

  // Ends the handle's life and returns the table's reference; null if it was not alive.
  Ref<T> remove(Handle handle) {
    std::size_t index = 0;
    if (!locate(handle, index)) return nullptr;
    std::lock_guard lock(mutex_);
    Ref<T> object = Ref<T>::adopt(slots_[index].exchange(nullptr, std::memory_order_acq_rel));
    if (object) freeSlot(index);
    return object;
  }

  // Removes every object for which `belongs` says so, and returns how many.
  template <class Predicate>
  std::size_t removeIf(Predicate belongs) {
    std::deque<Ref<T>> removed;
    {
      std::lock_guard lock(mutex_);
      for (std::size_t i = 0; i < used_.load(); ++i) {
        T *object = slots_[i].load();
        if (!object || !belongs(*object)) continue;
        slots_[i].store(nullptr);
        freeSlot(i);
        removed.push_back(Ref<T>::adopt(object));
      }
    }
    return removed.size();
  }

private:
  using Slot = std::atomic<T *>;
  static constexpr std::size_t kSlots = std::size_t{1} << 21;
  static constexpr std::size_t kRest = 4096;

  // A slot for which there is no memory to note it is not used again.
  void freeSlot(std::size_t index) noexcept {
    try {
      free_.push_back(index);
    } catch (const std::bad_alloc &) {}
  }

  bool locate(Handle handle, std::size_t &index) const {
    auto offset = reinterpret_cast<std::uintptr_t>(handle) - reinterpret_cast<std::uintptr_t>(slots_);
    index = offset / sizeof(Slot);
    return offset % sizeof(Slot) == 0 && index < used_.load(std::memory_order_acquire);
  }

  Slot *slots_ = nullptr;
  std::atomic<std::size_t> used_{0};
  std::deque<std::size_t> free_;
  std::mutex mutex_;
};

// The process's table of a handle type; never destroyed, since threads may still call while it ends.
template <class T, class Handle>
HandleTable<T, Handle> &handles() {
  static auto &table = *new HandleTable<T, Handle>;
  return table;
}

}  // namespace strata::driver
