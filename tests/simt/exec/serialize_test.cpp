// SPDX-License-Identifier: Apache-2.0
#include "simt/exec/serialize.h"

#include <gtest/gtest.h>

#include <random>

namespace strata::simt {
namespace {

class Serialize : public testing::Test {
protected:
  const unsigned seed = std::random_device{}();
  std::mt19937 random{seed};
  testing::ScopedTrace trace{__FILE__, __LINE__, "seed " + std::to_string(seed)};
  std::uint32_t word() { return static_cast<std::uint32_t>(random()); }
  std::string name() { return "k" + std::string(random() % 30, 'x') + std::to_string(word()); }

  ModuleInfo module() {
    ModuleInfo info;
    for (unsigned n = random() % 5; n; --n) {
      KernelInfo k;
      k.name = name();
      for (unsigned p = random() % 6; p; --p) k.params.push_back({word(), word(), word()});
      k.paramBytes = word(), k.staticShared = word(), k.localBytes = word(), k.registers = word(),
      k.maxThreads = word();
      k.reqntid[0] = word(), k.clusterDim[2] = word(), k.usesBarrier = word() & 1, k.usesThreadY = word() & 1;
      info.kernels.push_back(k);
    }
    info.globalsSize = 64 + random() % 1000;
    for (std::uint64_t i = 0; i < info.globalsSize; ++i) info.globalsImage.push_back(static_cast<std::uint8_t>(word()));
    for (unsigned n = random() % 5; n; --n)
      info.globals.push_back({name(), random() % 32, random() % 32, bool(word() & 1), bool(word() & 1)});
    for (unsigned n = random() % 5; n; --n) info.relocations.push_back({random() % 56, word()});
    return info;
  }
};

TEST_F(Serialize, RoundTrip) {
  for (int i = 0; i < 50; ++i) {
    const auto bytes = serialize(module());
    auto read = deserializeModule(bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(serialize(*read), bytes);  // every field is written, so equal bytes are equal values
  }
  KernelImage image;
  image.entryKind = EntryKind::lane, image.takesTurns = true, image.stackBytes = 77, image.object = {1, 2, 3},
  image.report = "why";
  auto read = deserializeKernel(serialize(image));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->entryKind, EntryKind::lane);
  EXPECT_TRUE(read->takesTurns);
  EXPECT_EQ(read->stackBytes, 77u);
  EXPECT_EQ(read->object, image.object);
  EXPECT_EQ(read->report, "why");
}

TEST_F(Serialize, TruncatedOrLongerBytesAreRefused) {
  auto bytes = serialize(module());
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(deserializeModule(std::span(bytes).first(size)));
  bytes.push_back(0);
  EXPECT_FALSE(deserializeModule(bytes));
}

TEST_F(Serialize, DamagedBytesDoNotHarm) {
  const auto whole = serialize(module());
  for (int i = 0; i < 3000; ++i) {
    auto bytes = whole;
    bytes[random() % bytes.size()] = static_cast<std::uint8_t>(word());
    if (auto info = deserializeModule(bytes)) {
      EXPECT_LE(info->globalsImage.size(), info->globalsSize);
      for (auto &g : info->globals) EXPECT_LE(g.offset + g.size, info->globalsSize);
    }
    (void)deserializeKernel(bytes);
  }
}

}  // namespace
}  // namespace strata::simt
