// SPDX-License-Identifier: Apache-2.0
// Memory for small objects that are made on one thread and end on another, many times a second: tasks, launches.
// malloc is slow at that, since it gives each thread memory of its own. Here whoever ends an object pushes its memory
// on a list for all; whoever makes one takes that list as a whole when its own is empty (so no ABA problem).
// Memory stays with the process, as much as was once in use.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>

namespace strata {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kRecycles = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kRecycles = false;  // sanitizers are to see each object's end
#else
inline constexpr bool kRecycles = true;
#endif
#else
inline constexpr bool kRecycles = true;
#endif

template <std::size_t bytes, std::size_t alignment>
class RecycledMemory {
public:
  static void *take() {
    if (!kRecycles) return ::operator new(bytes, std::align_val_t(alignment));
    if (!mine_.first) mine_.first = returned_.exchange(nullptr, std::memory_order_acquire);
    Node *node = mine_.first;
    if (!node) return ::operator new(bytes, std::align_val_t(alignment));
    mine_.first = node->next;
    return node;
  }
  static void give(void *memory) {
    if (!kRecycles) return ::operator delete(memory, std::align_val_t(alignment));
    give(new (memory) Node{}, static_cast<Node *>(memory));
  }

private:
  struct Node {
    Node *next;
  };
  static_assert(bytes >= sizeof(Node) && alignment >= alignof(Node));
  static void give(Node *first, Node *last) {
    last->next = returned_.load(std::memory_order_relaxed);
    while (!returned_.compare_exchange_weak(last->next, first, std::memory_order_release, std::memory_order_relaxed)) {}
  }
  struct Mine {
    Node *first = nullptr;
    ~Mine() {
      Node *last = first;
      while (last && last->next) last = last->next;
      if (last) give(first, last);
      first = nullptr;
    }
  };

  static inline std::atomic<Node *> returned_{nullptr};
  static inline thread_local Mine mine_;
};

// A base class: `new T` takes recycled memory. T is final or all its kinds are of one size.
template <class T>
struct Recycled {
  static void *operator new(std::size_t) { return RecycledMemory<sizeof(T), alignof(T)>::take(); }
  static void operator delete(void *memory) { RecycledMemory<sizeof(T), alignof(T)>::give(memory); }
};

// For std::allocate_shared.
template <class T>
struct RecycledAllocator {
  using value_type = T;
  RecycledAllocator() = default;
  template <class U>
  RecycledAllocator(const RecycledAllocator<U> &) {}
  T *allocate(std::size_t) { return static_cast<T *>(RecycledMemory<sizeof(T), alignof(T)>::take()); }
  void deallocate(T *memory, std::size_t) { RecycledMemory<sizeof(T), alignof(T)>::give(memory); }
  friend bool operator==(const RecycledAllocator &, const RecycledAllocator &) { return true; }
};

}  // namespace strata
