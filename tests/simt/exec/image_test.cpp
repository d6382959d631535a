// SPDX-License-Identifier: Apache-2.0
#include "simt/exec/image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

#include "tests/simt/exec/launcher.h"

namespace strata::simt::test {
namespace {

TEST(Image, EverySectionAndRelocationWorks) {
  auto kernel = loadFake("relocations", EntryKind::block);
  auto engine = makeEngine(1, {});
  std::vector<std::uint32_t> out(16, 0xEEEEEEEE);
  struct {
    std::uint32_t *out;
    std::size_t bytes;
  } params{out.data(), 12};
  ASSERT_EQ(runLaunch(*engine, makeLaunch(kernel, 1, 32, params)).kind, FaultKind::none);
  EXPECT_EQ(out[0], 33u + 44 + 7 + 6);
  EXPECT_EQ(out[1], 0x11111111u);
  EXPECT_EQ(out[2], 11u);
  EXPECT_EQ(out[3], 0x11111111u);
  EXPECT_EQ(out[4], 0xEEEEEEEEu);
  ASSERT_EQ(runLaunch(*engine, makeLaunch(kernel, 1, 32, params)).kind, FaultKind::none);
  EXPECT_EQ(out[0], 33u + 44 + 14 + 7);
}

TEST(Image, NothingIsWritableAndExecutable) {
  auto image = CodeImage::load(readObject("relocations"));
  ASSERT_TRUE(image);
  EXPECT_TRUE((*image)->contains(reinterpret_cast<std::uintptr_t>((*image)->entry())));
  std::ifstream maps("/proc/self/maps");
  const auto entry = reinterpret_cast<std::uintptr_t>((*image)->entry());
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char protection[5] = {};
    ASSERT_EQ(std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, protection), 3);
    if (entry < begin || entry >= end) continue;
    found = true;
    EXPECT_STREQ(protection, "r-xp");
  }
  EXPECT_TRUE(found);
}

TEST(Image, ForeignSymbolsAreRefused) {
  std::vector<std::uint8_t> object = readObject("relocations");
  const std::string name = "memset";
  auto at = std::search(object.begin(), object.end(), name.begin(), name.end());
  ASSERT_NE(at, object.end());
  std::copy_n("system", 6, at);
  auto image = CodeImage::load(object);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().message, "kernel image: unknown external symbol 'system'");
}

TEST(Image, NoEntry) {
  std::vector<std::uint8_t> object = readObject("empty");
  const std::string name = "strata_entry";
  auto at = std::search(object.begin(), object.end(), name.begin(), name.end());
  ASSERT_NE(at, object.end());
  *at = 'S';
  auto image = CodeImage::load(object);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().message, "kernel image: no symbol strata_entry");
}

TEST(Image, TruncatedAndDamagedObjectsDoNotHarm) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const char *name : {"relocations", "misbehave"}) {
    const std::vector<std::uint8_t> whole = readObject(name);
    ASSERT_FALSE(whole.empty());
    for (std::size_t size = 0; size < whole.size(); size += 1 + random() % 40)
      EXPECT_FALSE(CodeImage::load({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}));
    int refused = 0;
    for (int i = 0; i < 3000; ++i) {
      std::vector<std::uint8_t> object = whole;
      for (unsigned flips = 1 + random() % 4; flips; --flips) {
        // Mostly in the tables, which are what the loader reads: they are at the end.
        std::size_t at = random() % 4 ? object.size() - 1 - random() % (object.size() / 2) : random() % object.size();
        object[at] ^= static_cast<std::uint8_t>(1u << random() % 8);
      }
      refused += !CodeImage::load(std::move(object));
    }
    EXPECT_GT(refused, 300);
  }
}

}  // namespace
}  // namespace strata::simt::test
