// SPDX-License-Identifier: Apache-2.0
// A map from addresses to records whose lookups take no lock: a launch must find its kernel in a few
// nanoseconds. Insertions and erasures are the owner's to serialise. Keys stay in the table once inserted; an
// erased one has no value. A table that has grown too small is replaced and kept, for readers that still look
// into it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace strata::runtime {

template <class T>
class AddressMap {
public:
  AddressMap() { replace(64); }

  T *find(const void *key) const {
    const Table *table = table_.load(std::memory_order_acquire);
    for (std::size_t i = hash(key);; ++i) {
      const Slot &slot = table->slots[i & table->mask];
      const void *found = slot.key.load(std::memory_order_acquire);
      if (found == key) return slot.value.load(std::memory_order_acquire);
      if (!found) return nullptr;
    }
  }

  void insert(const void *key, T *value) {
    if (!key) return;
    if (2 * (used_ + 1) > table_.load()->mask) replace(4 * used_ + 64);
    put(*tables_.back(), key, value);
  }

  void erase(const void *key) {
    if (find(key)) put(*tables_.back(), key, nullptr);
  }

private:
  struct Slot {
    std::atomic<const void *> key{nullptr};
    std::atomic<T *> value{nullptr};
  };
  struct Table {
    explicit Table(std::size_t size) : mask(size - 1), slots(std::make_unique<Slot[]>(size)) {}
    std::size_t mask;
    std::unique_ptr<Slot[]> slots;
  };

  static std::size_t hash(const void *key) {
    return (reinterpret_cast<std::uintptr_t>(key) >> 4) * 0x9E3779B97F4A7C15u >> 32;
  }

  void put(Table &table, const void *key, T *value) {
    for (std::size_t i = hash(key);; ++i) {
      Slot &slot = table.slots[i & table.mask];
      const void *found = slot.key.load(std::memory_order_relaxed);
      if (found && found != key) continue;
      slot.value.store(value, std::memory_order_release);
      if (!found) {
        slot.key.store(key, std::memory_order_release);
        ++used_;
      }
      return;
    }
  }

  void replace(std::size_t atLeast) {
    std::size_t size = 64;
    while (size < atLeast) size *= 2;
    auto next = std::make_unique<Table>(size);
    used_ = 0;
    if (const Table *old = table_.load())
      for (std::size_t i = 0; i <= old->mask; ++i)
        if (T *value = old->slots[i].value.load()) put(*next, old->slots[i].key.load(), value);
    table_.store(next.get(), std::memory_order_release);
    tables_.push_back(std::move(next));
  }

  std::atomic<const Table *> table_{nullptr};
  std::vector<std::unique_ptr<Table>> tables_;
  std::size_t used_ = 0;
};

}  // namespace strata::runtime
