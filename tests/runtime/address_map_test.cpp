// SPDX-License-Identifier: Apache-2.0
#include "runtime/address_map.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <unordered_map>

using strata::runtime::AddressMap;

TEST(AddressMap, AgreesWithAStandardMap) {
  std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  AddressMap<int> map;
  std::unordered_map<const void *, int *> reference;
  std::vector<int> values(64);
  auto key = [&] { return reinterpret_cast<const void *>(std::uintptr_t{random() % 2000 + 1} * 16); };
  for (int step = 0; step < 20000; ++step) {
    const void *at = key();
    if (random() % 3) {
      int *value = &values[random() % values.size()];
      map.insert(at, value);
      reference[at] = value;
    } else {
      map.erase(at);
      reference.erase(at);
    }
    const void *asked = key();
    auto found = reference.find(asked);
    ASSERT_EQ(map.find(asked), found == reference.end() ? nullptr : found->second);
  }
  EXPECT_EQ(map.find(nullptr), nullptr);
}

TEST(AddressMap, ReadersSeeEntriesWhileItGrows) {
  AddressMap<std::uintptr_t> map;
  constexpr std::uintptr_t kCount = 5000;
  std::vector<std::uintptr_t> values(kCount + 1);
  std::atomic<std::uintptr_t> inserted{0};
  std::thread reader([&] {
    while (inserted.load() < kCount) {
      std::uintptr_t upTo = inserted.load();
      for (std::uintptr_t i = 1; i <= upTo; i += 97) {
        auto *value = map.find(reinterpret_cast<void *>(i * 8));
        ASSERT_TRUE(value && *value == i) << i;
      }
    }
  });
  for (std::uintptr_t i = 1; i <= kCount; ++i) {
    values[i] = i;
    map.insert(reinterpret_cast<void *>(i * 8), &values[i]);
    inserted.store(i);
  }
  reader.join();
}
