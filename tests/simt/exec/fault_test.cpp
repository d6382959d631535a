// SPDX-License-Identifier: Apache-2.0
// Kernels that misbehave end their launch with the right fault; the engine and the process live on.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <random>
#include <thread>

#include "simt/exec/sanitizers.h"
#include "tests/simt/exec/launcher.h"

namespace strata::simt::test {
namespace {

struct Misbehaviour {
  std::uint32_t what, block, warp;
  std::uint32_t *address, *started;
};

// An address nobody has.
std::uint32_t *nowhere() {
  static void *page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return static_cast<std::uint32_t *>(page);
}

class FaultTest : public testing::TestWithParam<std::uint32_t> {
protected:
  Fault run(std::uint32_t what, std::uint32_t *address = nowhere()) {
    block = std::random_device{}() % 20;
    Fault fault = runLaunch(*engine, makeLaunch(kernel, 20, 96, Misbehaviour{what, block, 2, address, &started}));
    // The engine is as good as new.
    started = 0;
    Fault after = runLaunch(*engine, makeLaunch(kernel, 20, 96, Misbehaviour{0, 99, 2, nullptr, &started}));
    EXPECT_EQ(after.kind, FaultKind::none) << after.message;
    EXPECT_EQ(started, 60u);
    return fault;
  }
  // All that a fault in warp 2 of one block must say.
  void expectPlace(const Fault &fault, std::uint32_t lane) {
    EXPECT_EQ(fault.kernel, "misbehave");
    EXPECT_EQ(fault.block[0], block);
    EXPECT_EQ(fault.thread[0], 64 + lane);
    EXPECT_NE(fault.message.find("block (" + std::to_string(block) + ",0,0)"), std::string::npos) << fault.message;
    EXPECT_EQ(fault.message.find('\n'), std::string::npos);
  }

  std::unique_ptr<Engine> engine = makeEngine(GetParam(), {});
  std::shared_ptr<const Kernel> kernel = loadFake("misbehave", EntryKind::warp, 128);
  std::uint32_t started = 0, block = 0;
};
INSTANTIATE_TEST_SUITE_P(Workers, FaultTest, testing::Values(1, 2, 4),
                         [](auto &info) { return std::to_string(info.param) + "Workers"; });

TEST_P(FaultTest, IllegalAddress) {
  Fault fault = run(0, nowhere() + 25);
  EXPECT_EQ(fault.kind, FaultKind::illegalAddress);
  EXPECT_EQ(fault.address, reinterpret_cast<std::uint64_t>(nowhere() + 25));
  expectPlace(fault, 0);
  EXPECT_EQ(run(0, nullptr).kind, FaultKind::illegalAddress);
}

TEST_P(FaultTest, BeyondSharedMemory) {
  Fault fault = run(10);
  EXPECT_EQ(fault.kind, FaultKind::illegalAddress);
  expectPlace(fault, 0);
}

TEST_P(FaultTest, StackOverflow) {
  Fault fault = run(1, &started);
  EXPECT_EQ(fault.kind, FaultKind::stackOverflow);
  expectPlace(fault, 0);
}

TEST_P(FaultTest, IllegalInstruction) { EXPECT_EQ(run(2).kind, FaultKind::illegalInstruction); }

TEST_P(FaultTest, TrapNamesTheLane) {
  Fault fault = run(3);
  EXPECT_EQ(fault.kind, FaultKind::trap);
  expectPlace(fault, 4);
}

TEST_P(FaultTest, AssertPrintsAsCudaDoes) {
  testing::internal::CaptureStderr();
  Fault fault = run(4);
  const std::string output = testing::internal::GetCapturedStderr();
  EXPECT_EQ(fault.kind, FaultKind::assertion);
  expectPlace(fault, 5);
  EXPECT_NE(output.find("file.cu:12: void f(int): block: [" + std::to_string(block) +
                        ",0,0], thread: [69,0,0] Assertion `x > 0` failed.\n"),
            std::string::npos)
      << output;
}

TEST_P(FaultTest, BarrierThatCannotComplete) {
  Fault fault = run(6);
  EXPECT_EQ(fault.kind, FaultKind::deadlock);
  expectPlace(fault, 0);
}

TEST_P(FaultTest, FreeOfForeignMemory) { EXPECT_EQ(run(8, &started).kind, FaultKind::illegalAddress); }

TEST_P(FaultTest, OthersThatWaitForTheFaultyBlockStop) {
#ifdef STRATA_TSAN
  GTEST_SKIP() << "TSan delays signals until a call that it intercepts";
#endif
  // Where there are several workers, block 0 runs already and waits for block 1, which faults.
  block = GetParam() > 1;
  Fault fault = runLaunch(*engine, makeLaunch(kernel, 20, 32, Misbehaviour{9, block, 0, nowhere(), &started}));
  EXPECT_EQ(fault.kind, FaultKind::illegalAddress);
  EXPECT_EQ(fault.block[0], block);
  EXPECT_EQ(run(3).kind, FaultKind::trap);
}

TEST_P(FaultTest, InfiniteKernelsAreInterrupted) {
#ifdef STRATA_TSAN
  GTEST_SKIP() << "TSan delays signals until a call that it intercepts";
#endif
  static std::vector<std::uint32_t> memory(1 << 14);
  for (std::uint32_t what : {5u, 7u, 11u}) {
    std::thread control_c([&] {
      while (__atomic_load_n(&started, __ATOMIC_RELAXED) == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      engine->interrupt();
    });
    started = 0;
    block = 3;
    Fault fault = runLaunch(*engine, makeLaunch(kernel, 20, 96, Misbehaviour{what, block, 2, memory.data(), &started}));
    control_c.join();
    EXPECT_EQ(fault.kind, FaultKind::interrupted);
    EXPECT_EQ(fault.kernel, "misbehave");
  }
  EXPECT_EQ(run(3).kind, FaultKind::trap);
}

TEST_P(FaultTest, ManyFaultsInSeveralStreams) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        std::uint32_t count = 0;
        LaunchRequest request = makeLaunch(
            kernel, 6, 96, Misbehaviour{i % 2 ? 0u : 3u, static_cast<std::uint32_t>(i % 6), 1, nowhere(), &count});
        request.group = static_cast<std::uint64_t>(t + 1);
        wrong +=
            runLaunch(*engine, request, request.group).kind != (i % 2 ? FaultKind::illegalAddress : FaultKind::trap);
      }
    });
  for (auto &thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// A signal that is no kernel's goes where it went before.
TEST(ForeignFaults, EndTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        auto engine = makeEngine(1, {});
        *static_cast<volatile std::uint32_t *>(nowhere()) = 1;
      },
      "");
}

}  // namespace
}  // namespace strata::simt::test
