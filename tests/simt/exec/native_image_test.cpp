// SPDX-License-Identifier: Apache-2.0
// Images of machine code beside the PTX: used where they fit, and otherwise as if they were not there.
#include "simt/exec/native_image.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "simt/exec/precompile.h"
#include "simt/exec/serialize.h"
#include "tests/simt/exec/fake_module.h"
#include "tests/simt/exec/launcher.h"

namespace strata::simt::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

class NativeImageTest : public FakeModuleTest {
protected:
  const unsigned seed = std::random_device{}();
  std::mt19937 random{seed};
  testing::ScopedTrace trace{__FILE__, __LINE__, "seed " + std::to_string(seed)};
  const Simd host = *hostSimd();

  ModuleSource whole(const std::string &kernels) { return {{text(kernels)}, false, {}}; }
  Bytes imageOf(const ModuleSource &source, Simd simd, bool hostExtensions = false,
                const std::vector<BlockShape> &shapes = {}) {
    auto build = buildNatives(source, {{simd, hostExtensions}}, shapes, 2);
    EXPECT_TRUE(build) << build.error().message;
    return build->images.at(0);
  }
  // The same image but for what `change` does to its table.
  template <class Change>
  Bytes changed(const Bytes &bytes, Change change) {
    auto image = NativeImage::read(bytes);
    EXPECT_TRUE(image);
    NativeTable table = (*image)->table();
    std::vector<KernelImage> code;
    for (const NativeKernel &kernel : table.kernels)
      code.push_back(*(*image)->kernel(kernel.name, optionsOf(table, kernel)));
    change(table);
    return writeNative(std::move(table), code);
  }
  static CompileOptions optionsOf(const NativeTable &table, const NativeKernel &kernel) {
    CompileOptions options;
    options.simd = table.simd;
    std::copy_n(kernel.blockDim, 3, options.blockDim);
    options.blockMultipleOf32 = kernel.blockMultipleOf32;
    return options;
  }
  // Loads the kernel for that block and counts on it; returns how many compilations that took, -1: it failed.
  int compilationsFor(ModuleSource source, Bytes image, const BlockShape &block = {64, 1, 1}) {
    source.natives.push_back(std::move(image));
    const int before = compiles();
    auto module = openModule(std::move(source));
    auto kernel =
        module ? loadKernel(*module, "count", block.data()) : Result<std::shared_ptr<const Kernel>>(module.error());
    EXPECT_TRUE(kernel) << kernel.error().message;
    if (!kernel) return -1;
    auto engine = makeEngine(1, {});
    std::vector<std::uint32_t> counts(block[0]);
    std::uint64_t ids = 0;
    struct {
      std::uint32_t *counts;
      std::uint64_t *ids;
    } params{counts.data(), &ids};
    EXPECT_EQ(runLaunch(*engine, makeLaunch(*kernel, 1, block[0], params)).kind, FaultKind::none);
    EXPECT_EQ(counts, std::vector<std::uint32_t>(block[0], 1));
    return compiles() - before;
  }
};

TEST_F(NativeImageTest, NothingIsCompiledOrParsed) {
  const ModuleSource source = whole("count empty");
  const Bytes image = imageOf(source, host);
  const int opened = opens();
  EXPECT_EQ(compilationsFor(source, image), 0);
  EXPECT_EQ(opens(), opened);
}

TEST_F(NativeImageTest, LinkedModulesToo) {
  const ModuleSource source{{text("count"), " empty"}, true, {}};
  const int before = opens();
  const Bytes image = imageOf(source, host);
  EXPECT_EQ(opens(), before + 1);
  EXPECT_EQ(compilationsFor(source, image), 0);
  EXPECT_EQ(compilationsFor({{source.ptx[0], " barrier"}, true, {}}, image), 1);  // another link
}

TEST_F(NativeImageTest, OtherBlockShapesAreCompiledUnlessAskedFor) {
  const ModuleSource source = whole("count"), other = whole("count");
  EXPECT_EQ(compilationsFor(source, imageOf(source, host), {48, 1, 1}), 1);
  EXPECT_EQ(compilationsFor(other, imageOf(other, host, false, {{48, 1, 1}}), {48, 1, 1}), 0);
}

TEST_F(NativeImageTest, WhatDoesNotFitIsLeftAside) {
  const std::vector<std::pair<const char *, std::function<void(NativeTable &)>>> changes = {
      {"made by another build", [](NativeTable &t) { t.engine.back() ^= 1; }},
      {"other PTX", [](NativeTable &t) { t.source.low ^= 1; }},
      {"another SIMD target", [&](NativeTable &t) { t.simd = host == Simd::portable ? Simd::avx2 : Simd::portable; }},
      {"another CPU", [](NativeTable &t) { t.cpu = "1,2,3,"; }}};
  for (const auto &[why, change] : changes) {
    const ModuleSource source = whole("count");
    const Bytes image = changed(imageOf(source, host), change);
    auto read = NativeImage::read(image);
    ASSERT_TRUE(read) << why;
    EXPECT_NE((*read)->refusal(sourceKey(source.ptx, false), host).find(why), std::string::npos)
        << (*read)->refusal(sourceKey(source.ptx, false), host);
    EXPECT_EQ(compilationsFor(source, image), 1) << why;
  }
}

TEST_F(NativeImageTest, ThisCpusOwnImageIsPreferred) {
  const ModuleSource source = whole("count");
  const CacheKey key = sourceKey(source.ptx, false);
  const Bytes general = imageOf(source, host), own = imageOf(source, host, true),
              foreign = changed(own, [](NativeTable &t) { t.cpu += "0,"; });
  for (auto images : {std::vector{general, own, foreign}, {own, foreign, general}}) {
    auto chosen = chooseNative(images, key, host);
    ASSERT_TRUE(chosen);
    EXPECT_FALSE(chosen->table().cpu.empty());
    EXPECT_TRUE(chosen->refusal(key, host).empty());
  }
  EXPECT_FALSE(chooseNative({foreign}, key, host));
}

TEST_F(NativeImageTest, KernelsThatCannotBeCompiledAreNamed) {
  auto build = buildNatives(whole("count missing"), {{host}}, {}, 1);
  ASSERT_TRUE(build);
  ASSERT_EQ(build->leftOut.size(), 2u);  // and the word that makes the text unique
  EXPECT_EQ(build->leftOut[0], "kernel 'missing': kernel 'missing' cannot be compiled");
  auto image = NativeImage::read(build->images.at(0));
  ASSERT_TRUE(image);
  EXPECT_EQ((*image)->table().info.kernels.size(), 3u);
  EXPECT_EQ((*image)->table().kernels.size(), 1u);
  EXPECT_FALSE(buildNatives({{"! no PTX"}, false, {}}, {{host}}, {}, 1));
}

TEST_F(NativeImageTest, TruncatedImagesAreLeftAside) {
  const ModuleSource source = whole("count");
  const Bytes good = imageOf(source, host);
  auto image = NativeImage::read(good);
  ASSERT_TRUE(image);
  const NativeKernel kernel = (*image)->table().kernels.at(0);
  for (std::size_t size = 0; size < good.size(); ++size) {
    auto cut = std::make_unique<std::uint8_t[]>(size);  // exact extent: sanitizers see every overrun
    std::copy_n(good.begin(), size, cut.get());
    auto read = NativeImage::read({cut.get(), cut.get() + size});
    if (read) EXPECT_FALSE((*read)->kernel("count", optionsOf((*read)->table(), kernel))) << size;
  }
  EXPECT_EQ(compilationsFor(source, {good.begin(), good.end() - 1}), 1);
}

// What a damaged image gives is what the whole one gives, or nothing.
TEST_F(NativeImageTest, DamagedImagesGiveNoOtherCode) {
  const ModuleSource source = whole("count empty");
  const Bytes good = imageOf(source, host);
  const NativeTable table = (*NativeImage::read(good))->table();
  int refused = 0, lost = 0;
  for (int round = 0; round < 4000; ++round) {
    Bytes damaged = good;
    for (unsigned n = 1 + random() % 3; n; --n)
      damaged[random() % damaged.size()] ^= static_cast<std::uint8_t>(1 + random() % 255);
    auto read = NativeImage::read(damaged);
    if (!read) {
      ++refused;
      continue;
    }
    EXPECT_EQ(serialize((*read)->table()), serialize(table));
    for (const NativeKernel &kernel : table.kernels) {
      auto code = (*read)->kernel(kernel.name, optionsOf(table, kernel));
      if (!code) ++lost;
      else
        EXPECT_EQ(serialize(*code),
                  serialize(*(*NativeImage::read(good))->kernel(kernel.name, optionsOf(table, kernel))));
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(lost, 0);
}

// Nor does a table that somebody else wrote harm, whatever its numbers.
TEST_F(NativeImageTest, ForeignTablesDoNotHarm) {
  const Bytes good = imageOf(whole("count empty"), host);
  constexpr std::size_t kTable = 32;  // magic, size and checksum stand before it
  std::uint64_t size = 0;
  std::memcpy(&size, good.data() + 8, sizeof size);
  int read = 0;
  for (int round = 0; round < 4000; ++round) {
    Bytes foreign = good;
    const std::size_t at = kTable + random() % (size - 8);
    const std::uint64_t number = random() % 2 ? random() : ~std::uint64_t{0} - random() % 100;
    std::memcpy(foreign.data() + at, &number, 1 + random() % 8);
    const CacheKey sum =
        KeyBuilder().add(std::string_view(reinterpret_cast<const char *>(foreign.data()) + kTable, size)).key();
    std::memcpy(foreign.data() + 16, &sum, sizeof sum);
    auto image = NativeImage::read(foreign);
    if (!image) continue;
    ++read;
    for (const NativeKernel &kernel : (*image)->table().kernels)
      (void)(*image)->kernel(kernel.name, optionsOf((*image)->table(), kernel));
  }
  EXPECT_GT(read, 0);
}

TEST(InParallel, EachOnceOnSeveralThreads) {
  std::vector<std::atomic<int>> calls(100);
  std::atomic<int> running{0};
  std::atomic<bool> together{false};
  inParallel(calls.size(), 2, [&](std::size_t i) {
    ++calls[i];
    if (++running == 2) together = true;
    for (int wait = 0; wait < 1000 && !together; ++wait) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --running;
  });
  for (const auto &count : calls) EXPECT_EQ(count, 1);
  EXPECT_TRUE(together);
}

}  // namespace
}  // namespace strata::simt::test
