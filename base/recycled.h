// SPDX-License-Identifier: Apache-2.0
// Memory for small objects that are made on one thread and end on another, many times a second: tasks, launches.
// malloc is slow at that, since it gives each thread memory of its own. Here whoever ends objects pushes their memory,
// a few at a time, on a list for all; whoever makes one takes that list as a whole when its own is empty (so no ABA
// problem).
// Memory stays with the process, as much as was once in use.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <utility>

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
    Mine &mine = mine_;
    if (mine.ended.first) return mine.ended.pop();
    if (!mine.taken) mine.taken = returned_.exchange(nullptr, std::memory_order_acquire);
    Node *node = mine.taken;
    if (!node) return ::operator new(bytes, std::align_val_t(alignment));
    mine.taken = node->next;
    return node;
  }
  static void give(void *memory) {
    if (!kRecycles) return ::operator delete(memory, std::align_val_t(alignment));
    Mine &mine = mine_;
    mine.ended.push(new (memory) Node{});
    if (mine.ended.count == kBatch) mine.ended.giveBack();
  }

private:
  static constexpr unsigned kBatch = 32;
  struct Node {
    Node *next;
  };
  static_assert(bytes >= sizeof(Node) && alignment >= alignof(Node));
  static void give(Node *first, Node *last) {
    last->next = returned_.load(std::memory_order_relaxed);
    while (!returned_.compare_exchange_weak(last->next, first, std::memory_order_release, std::memory_order_relaxed)) {}
  }
  // What the thread has ended: it is the first to use it again.
  struct Ended {
    Node *first = nullptr, *last = nullptr;
    unsigned count = 0;
    void push(Node *node) {
      if (!first) last = node;
      node->next = first;
      first = node;
      ++count;
    }
    Node *pop() {
      --count;
      return std::exchange(first, first->next);
    }
    void giveBack() {
      if (first) give(first, last);
      first = nullptr;
      count = 0;
    }
  };
  struct Mine {
    Node *taken = nullptr;
    Ended ended;
    ~Mine() {
      Node *last = taken;
      while (last && last->next) last = last->next;
      if (last) give(std::exchange(taken, nullptr), last);
      ended.giveBack();
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

// For vectors that are short as a rule.
template <class T>
struct RecycledElements {
  using value_type = T;
  static constexpr std::size_t kShort = 256 / sizeof(T);
  RecycledElements() = default;
  template <class U>
  RecycledElements(const RecycledElements<U> &) {}
  T *allocate(std::size_t count) {
    return static_cast<T *>(count <= kShort ? Memory::take() : ::operator new(count * sizeof(T)));
  }
  void deallocate(T *memory, std::size_t count) {
    if (count <= kShort) Memory::give(memory);
    else ::operator delete(memory);
  }
  friend bool operator==(const RecycledElements &, const RecycledElements &) { return true; }

private:
  using Memory = RecycledMemory<256, 64>;
};

}  // namespace strata
