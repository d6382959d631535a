// SPDX-License-Identifier: Apache-2.0
// Modules and kernels over the cache, with a code generator that counts.
#include "simt/exec/module.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/simt/exec/fake_module.h"
#include "tests/simt/exec/launcher.h"

namespace strata::simt::test {
namespace {

using ModuleTest = FakeModuleTest;

TEST_F(ModuleTest, CompilesOnceWhoeverAsks) {
  auto module = openModule(text("count empty"));
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ((*module)->info().globalsImage.size(), 16u);
  const int before = compiles();
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<const Kernel>> kernels(8);
  for (auto &kernel : kernels)
    threads.emplace_back([&] {
      const std::uint32_t shape[3] = {64, 1, 1};
      auto loaded = loadKernel(*module, "count", shape);
      if (loaded) kernel = *loaded;
    });
  for (auto &thread : threads) thread.join();
  EXPECT_EQ(compiles(), before + 1);
  for (auto &kernel : kernels) EXPECT_TRUE(kernel && kernel == kernels[0]);
}

TEST_F(ModuleTest, ASecondRunComesFromTheCache) {
  const std::string ptx = text("count");
  const std::uint32_t shape[3] = {64, 1, 1};
  {
    auto module = openModule(ptx);
    ASSERT_TRUE(module);
    ASSERT_TRUE(loadKernel(*module, "count", shape));
  }
  const int opened = opens(), compiled = compiles();
  auto module = openModule(ptx);  // the first is gone: as in a new process
  ASSERT_TRUE(module);
  auto kernel = loadKernel(*module, "count", shape);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(opens(), opened);
  EXPECT_EQ(compiles(), compiled);
  auto engine = makeEngine(1, {});
  std::vector<std::uint32_t> counts(64);
  std::uint64_t ids = 0;
  struct {
    std::uint32_t *counts;
    std::uint64_t *ids;
  } params{counts.data(), &ids};
  EXPECT_EQ(runLaunch(*engine, makeLaunch(*kernel, 1, 64, params)).kind, FaultKind::none);
  EXPECT_EQ(counts, std::vector<std::uint32_t>(64, 1));
}

TEST_F(ModuleTest, DamagedEntriesAreCompiledAgain) {
  const std::string ptx = text("count");
  const std::uint32_t shape[3] = {64, 1, 1};
  auto load = [&] {
    auto module = openModule(ptx);
    return module && loadKernel(*module, "count", shape);
  };
  ASSERT_TRUE(load());
  const int compiled = compiles();
  for (auto &entry : std::filesystem::directory_iterator(cacheFolder())) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
    file.put('\x5a');
    file.put('\xa5');
  }
  EXPECT_TRUE(load());
  EXPECT_EQ(compiles(), compiled + 1);
}

TEST_F(ModuleTest, BlockShapesChooseVariants) {
  auto module = openModule(text("empty"));
  ASSERT_TRUE(module);
  auto load = [&](std::uint32_t x, std::uint32_t y) {
    const std::uint32_t shape[3] = {x, y, 1};
    EXPECT_TRUE(loadKernel(*module, "empty", shape));
  };
  load(64, 4);
  EXPECT_TRUE(options().blockMultipleOf32);
  EXPECT_EQ(options().blockDim[0], 0u);
  const int before = compiles();
  load(256, 1);  // the same code
  EXPECT_EQ(compiles(), before);
  load(16, 16);
  EXPECT_FALSE(options().blockMultipleOf32);
  EXPECT_EQ(options().blockDim[0], 16u);
  EXPECT_EQ(options().blockDim[1], 16u);
  for (std::uint32_t x = 1; x < 32; ++x) load(x, 1);
  EXPECT_EQ(options().blockDim[0], 0u);  // too many exact shapes: the general variant
  EXPECT_LT(compiles(), before + 12);
}

// A compilation that ends with an exception is over: the next one, and whoever waited for it, make the kernel anew.
TEST_F(ModuleTest, OutOfMemoryWhileCompiling) {
  auto module = openModule(text("count"));
  ASSERT_TRUE(module);
  exhaustNextCompile();
  std::atomic<int> thrown{0}, loaded{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const std::uint32_t shape[3] = {64, 1, 1};
      try {
        if (loadKernel(*module, "count", shape)) ++loaded;
      } catch (const std::bad_alloc &) { ++thrown; }
    });
  for (auto &thread : threads) thread.join();
  EXPECT_EQ(thrown, 1);
  EXPECT_EQ(loaded, 3);
}

TEST_F(ModuleTest, LongCompilationsAreNamed) {
  auto module = openModule(text("count empty"));
  ASSERT_TRUE(module);
  const std::uint32_t shape[3] = {64, 1, 1};
  testing::internal::CaptureStderr();
  ASSERT_TRUE(loadKernel(*module, "empty", shape));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  slowNextCompile();
  testing::internal::CaptureStderr();
  ASSERT_TRUE(loadKernel(*module, "count", shape));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("kernel count takes more than a second to compile"),
            std::string::npos);
}

TEST_F(ModuleTest, Errors) {
  auto rejected = openModule("! no PTX");
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().blame, Blame::user);
  EXPECT_EQ(rejected.error().message, "line 1, column 1: no PTX");
  auto module = openModule(text("count missing"));
  ASSERT_TRUE(module);
  const std::uint32_t shape[3] = {32, 1, 1};
  auto unknown = loadKernel(*module, "nobody", shape);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("'nobody'"), std::string::npos);
  auto failed = loadKernel(*module, "missing", shape);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().blame, Blame::unsupported);
  setCodegenLibrary("/nowhere/libstrata_codegen.so");
  auto none = openModule(text("count"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().blame, Blame::resource);
  setCodegenLibrary(FOREIGN_CODEGEN);
  auto foreign = openModule(text("count"));
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().blame, Blame::resource);
  EXPECT_NE(foreign.error().message.find("is not Strata's code generator of this version"), std::string::npos);
}

TEST_F(ModuleTest, LinkAndSourceLines) {
  auto linked = linkPtx({"a", "b"});
  ASSERT_TRUE(linked);
  EXPECT_EQ(*linked, "ab");
  auto engine = makeEngine(1, {});
  std::uint32_t started = 0;
  struct {
    std::uint32_t what, block, warp;
    std::uint32_t *address, *started;
  } params{3, 0, 0, nullptr, &started};
  Fault fault = runLaunch(*engine, makeLaunch(loadFake("misbehave", EntryKind::warp), 1, 32, params));
  EXPECT_EQ(fault.source.rfind("fake.cu:", 0), 0u) << fault.source;
  EXPECT_NE(fault.message.find(fault.source), std::string::npos);
}

}  // namespace
}  // namespace strata::simt::test
