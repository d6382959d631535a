// SPDX-License-Identifier: Apache-2.0
#include "simt/exec/device_heap.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <random>

namespace strata::simt {
namespace {

// Asks the system, which does not fault.
bool isAccessible(const void *address) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const bool readable = write(ends[1], address, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

TEST(DeviceHeap, PiecesAreApartAndAligned) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  auto &heap = DeviceHeap::get();
  heap.setLimit(64u << 20);
  std::map<char *, std::pair<std::uint64_t, char>> live;
  auto check = [](char *piece, std::uint64_t size, char content) {
    for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(piece[i], content);
  };
  for (int round = 0; round < 4000; ++round) {
    if (live.empty() || random() % 5 < 3) {
      const std::uint64_t size = random() % (random() % 4 ? 300 : 20000);
      auto *piece = static_cast<char *>(heap.take(size));
      ASSERT_NE(piece, nullptr);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(piece) % 16, 0u);
      ASSERT_FALSE(live.contains(piece));
      const char content = static_cast<char>(random());
      std::memset(piece, content, size);
      live[piece] = {size, content};
    } else {
      auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
      check(victim->first, victim->second.first, victim->second.second);
      ASSERT_TRUE(heap.give(victim->first));
      ASSERT_FALSE(heap.give(victim->first));
      live.erase(victim);
    }
  }
  for (auto &[piece, what] : live) {
    check(piece, what.first, what.second);
    ASSERT_TRUE(heap.give(piece));
  }
}

TEST(DeviceHeap, EndsAtAnInaccessiblePage) {
  auto &heap = DeviceHeap::get();
  auto *large = static_cast<char *>(heap.take(10000));
  ASSERT_NE(large, nullptr);
  EXPECT_TRUE(isAccessible(large) && isAccessible(large + 9999));
  EXPECT_FALSE(isAccessible(large + 10000));
  EXPECT_FALSE(isAccessible(large - 4096));
  EXPECT_TRUE(heap.give(large));
  EXPECT_FALSE(isAccessible(large));
  auto *small = static_cast<char *>(heap.take(100));
  bool guarded = false;
  for (int i = 0; i < 64; ++i) guarded = guarded || !isAccessible(small + 4096 * i);
  EXPECT_TRUE(guarded);
  EXPECT_TRUE(heap.give(small));
}

TEST(DeviceHeap, LimitCountsWhatIsTaken) {
  auto &heap = DeviceHeap::get();
  heap.setLimit(1000);
  EXPECT_EQ(heap.take(1001), nullptr);
  EXPECT_EQ(heap.take(~std::uint64_t{0}), nullptr);
  void *first = heap.take(512), *second = heap.take(480);
  EXPECT_NE(first, nullptr);
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(heap.take(16), nullptr);
  EXPECT_TRUE(heap.give(first));
  void *again = heap.take(500);
  EXPECT_NE(again, nullptr);
  EXPECT_TRUE(heap.give(again));
  EXPECT_TRUE(heap.give(second));
  int local = 0;
  EXPECT_FALSE(heap.give(&local));
  heap.setLimit(8u << 20);
}

}  // namespace
}  // namespace strata::simt
