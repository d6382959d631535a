// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <system_error>
#include <thread>

#include "simt/exec/sanitizers.h"
#include "tests/simt/exec/launcher.h"

namespace strata::simt::test {
namespace {

class EngineTest : public testing::TestWithParam<std::uint32_t> {
protected:
  std::unique_ptr<Engine> engine = makeEngine(GetParam(), {});
  const unsigned seed = std::random_device{}();
  std::mt19937 random{seed};
  testing::ScopedTrace trace{__FILE__, __LINE__, "seed " + std::to_string(seed)};
  std::uint32_t pick(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, EngineTest, testing::Values(1, 2, 5),
                         [](auto &info) { return std::to_string(info.param) + "Workers"; });

struct CountParams {
  std::uint32_t *counts;
  std::uint64_t *smIds;
};

TEST_P(EngineTest, EveryThreadOfTheGridRunsOnce) {
  auto kernel = loadFake("count", EntryKind::block);
  for (int round = 0; round < 20; ++round) {
    std::uint32_t grid[3] = {pick(1, 70), pick(1, 9), pick(1, 5)}, threads = pick(1, 100);
    std::vector<std::uint32_t> counts(std::size_t{grid[0]} * grid[1] * grid[2] * threads);
    std::uint64_t smIds = 0;
    LaunchRequest request = makeLaunch(kernel, grid[0], threads, CountParams{counts.data(), &smIds});
    request.gridDim[1] = grid[1], request.gridDim[2] = grid[2];
    EXPECT_EQ(runLaunch(*engine, request, round % 2).kind, FaultKind::none);
    EXPECT_EQ(std::count(counts.begin(), counts.end(), 1u), static_cast<std::ptrdiff_t>(counts.size()));
    EXPECT_LT(smIds, std::uint64_t{1} << engine->workers());
  }
}

struct TurnParams {
  std::uint32_t *counts, *besides, blocks, turns;
};

TEST_P(EngineTest, BlocksThatTakeTurnsRunSideBySide) {
  auto taking = std::make_shared<Kernel>(*loadFake("turns", EntryKind::block, 4));
  for (int round = 0; round < 20; ++round) {
    taking->takesTurns = round % 2;
    const std::uint32_t grid[3] = {pick(1, 70), pick(1, 9), pick(1, 5)}, blocks = grid[0] * grid[1] * grid[2];
    std::vector<std::uint32_t> counts(blocks), besides(blocks);
    LaunchRequest request =
        makeLaunch(taking, grid[0], 256, TurnParams{counts.data(), besides.data(), blocks, pick(1, 3)});
    request.gridDim[1] = grid[1], request.gridDim[2] = grid[2];
    ASSERT_EQ(runLaunch(*engine, request, round % 2).kind, FaultKind::none);
    EXPECT_EQ(std::count(counts.begin(), counts.end(), 1u), blocks);
    // Four blocks of eight warps, as long as each worker gets its share: the first then sees all four.
    if (GetParam() == 1 && blocks >= 16) EXPECT_EQ(besides[0], taking->takesTurns ? 4u : 1u);
  }
}

TEST_P(EngineTest, LaunchesOfManyThreads) {
  auto kernel = loadFake("count", EntryKind::block);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        std::vector<std::uint32_t> counts((t + 1) * 64);
        std::uint64_t smIds = 0;
        LaunchRequest request =
            makeLaunch(kernel, static_cast<std::uint32_t>(t + 1), 64, CountParams{counts.data(), &smIds});
        request.group = static_cast<std::uint64_t>(t + 1);
        runLaunch(*engine, request, request.group);
        wrong += std::count(counts.begin(), counts.end(), 1u) != static_cast<std::ptrdiff_t>(counts.size());
      }
    });
  for (auto &thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(EngineTest, SubmittedWorkIsDoneBeforeTheEngineGoes) {
  auto kernel = loadFake("count", EntryKind::block);
  std::vector<std::uint32_t> counts(64);
  std::uint64_t smIds = 0;
  std::atomic<int> done{0};
  for (int i = 0; i < 50; ++i)
    engine->submit(makeLaunch(kernel, 1, 64, CountParams{counts.data(), &smIds}), [&](const Fault &) { ++done; });
  for (int i = 0; i < 50; ++i) engine->post([&] { ++done; });
  engine.reset();
  EXPECT_EQ(done, 100);
}

TEST_P(EngineTest, Barriers) {
  auto kernel = loadFake("barrier", EntryKind::warp, 32 * 4);
  for (int round = 0; round < 8; ++round) {
    const std::uint32_t blocks = pick(1, 40), warps = pick(1, 32), rounds = pick(1, 50);
    std::vector<std::uint32_t> out(blocks * warps, ~0u);
    struct {
      std::uint32_t *out, rounds;
    } params{out.data(), rounds};
    EXPECT_EQ(runLaunch(*engine, makeLaunch(kernel, blocks, warps * 32 - pick(0, 31), params)).kind, FaultKind::none);
    for (std::uint32_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i / warps * 1000 + (i % warps + rounds) % warps);
  }
}

TEST_P(EngineTest, BarrierReductionsAndNamedBarriers) {
  auto kernel = loadFake("reduce", EntryKind::warp, 128);
  for (int round = 0; round < 10; ++round) {
    const std::uint32_t warps = pick(2, 32), items = pick(1, 30);
    std::vector<std::uint32_t> predicates(warps), out(warps * 4, ~0u);
    const bool all = pick(0, 2) == 0;
    for (auto &p : predicates) p = all ? ~0u : pick(0, 3) ? 0 : static_cast<std::uint32_t>(random());
    struct {
      std::uint32_t *out;
      const std::uint32_t *predicates;
      std::uint32_t items;
    } params{out.data(), predicates.data(), items};
    EXPECT_EQ(runLaunch(*engine, makeLaunch(kernel, 1, warps * 32, params)).kind, FaultKind::none);
    std::uint32_t population = 0, sum = 0;
    bool every = true;
    for (auto p : predicates) population += static_cast<std::uint32_t>(__builtin_popcount(p)), every &= p == ~0u;
    for (std::uint32_t i = 0; i < items; ++i) sum += i * i;
    for (std::uint32_t w = 0; w < warps; ++w) {
      EXPECT_EQ(out[w * 4], population);
      EXPECT_EQ(out[w * 4 + 1], every);
      EXPECT_EQ(out[w * 4 + 2], population != 0);
      EXPECT_EQ(out[w * 4 + 3], w ? sum : 0);
    }
  }
}

TEST_P(EngineTest, ClustersShareMemory) {
  auto kernel = loadFake("cluster", EntryKind::warp, 4);
  for (std::uint32_t size : {1u, 2u, 4u, 8u}) {
    std::vector<std::uint32_t> out(size * 6 * 3);
    struct {
      std::uint32_t *out;
    } params{out.data()};
    LaunchRequest request = makeLaunch(kernel, size * 6, pick(1, 200), params);
    request.gridDim[1] = 3;
    request.clusterDim[0] = size;
    request.dynamicShared = pick(0, 5000);
    EXPECT_EQ(runLaunch(*engine, request).kind, FaultKind::none);
    for (std::uint32_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i / size * size + (i + 1) % size + 1);
  }
}

TEST_P(EngineTest, BarrierFreeKernelsRunAllBlocksOfAClusterAndOfACooperativeGrid) {
  auto kernel = loadFake("count", EntryKind::block);
  for (bool cooperative : {false, true}) {
    std::vector<std::uint32_t> counts(24 * 50);
    std::uint64_t smIds = 0;
    LaunchRequest request = makeLaunch(kernel, 24, 50, CountParams{counts.data(), &smIds});
    request.cooperative = cooperative;
    if (!cooperative) request.clusterDim[0] = 4;
    EXPECT_EQ(runLaunch(*engine, request).kind, FaultKind::none);
    EXPECT_EQ(std::count(counts.begin(), counts.end(), 1u), 24 * 50);
  }
}

TEST_P(EngineTest, CooperativeLaunchesInSeveralStreamsFinish) {
  auto kernel = loadFake("grid", EntryKind::warp);
  constexpr std::uint32_t kBlocks = 20;
  std::vector<std::thread> threads;
  std::atomic<std::uint32_t> errors{0}, faults{0};
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      std::vector<std::uint32_t> values(kBlocks);
      std::uint32_t wrong = 0;
      struct {
        std::uint32_t *values, *errors, rounds;
      } params{values.data(), &wrong, 10};
      LaunchRequest request = makeLaunch(kernel, kBlocks, 64, params);
      request.cooperative = true;
      request.group = static_cast<std::uint64_t>(t + 1);
      faults += runLaunch(*engine, request, request.group).kind != FaultKind::none;
      errors += wrong;
    });
  for (auto &thread : threads) thread.join();
  EXPECT_EQ(errors, 0u);
  EXPECT_EQ(faults, 0u);
}

TEST_P(EngineTest, LanesThatSpinForOneAnotherFinish) {
  auto kernel = loadFake("spinlock", EntryKind::lane);
  const std::uint32_t blocks = 3, threads = 100;
  std::uint32_t lock = 0, counter = 0;
  std::vector<std::uint32_t> active(128);
  struct {
    std::uint32_t *lock, *counter, *active;
  } params{&lock, &counter, active.data()};
  EXPECT_EQ(runLaunch(*engine, makeLaunch(kernel, blocks, threads, params)).kind, FaultKind::none);
  EXPECT_EQ(counter, blocks * (threads + threads / 2));
  for (std::uint32_t t = 0; t < threads; t += 2) EXPECT_EQ(active[t], t < 96 ? 0x55555555u : 0x5u);
}

TEST_P(EngineTest, AKernelMayWaitForTheHost) {
  // As many spinning launches as there are workers, and a copy that ends them.
  auto kernel = loadFake("spinlock", EntryKind::lane);
  std::uint32_t lock = 1, counter = 0;
  std::vector<std::uint32_t> active(32);
  struct {
    std::uint32_t *lock, *counter, *active;
  } params{&lock, &counter, active.data()};
  std::atomic<std::uint32_t> left{engine->workers() + 1};
  for (std::uint32_t i = 0; i <= engine->workers(); ++i)
    engine->submit(makeLaunch(kernel, 1, 1, params), [&](const Fault &) { --left; });
  engine->post([&] { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); });
  for (int i = 0; i < 20000 && left; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(left, 0u);
  EXPECT_EQ(counter, 2 * (engine->workers() + 1));
}

struct MeetParams {
  std::uint32_t *running, *most, *arrived, microseconds, wanted;
};

TEST_P(EngineTest, BlocksThatWaitForOneAnotherAllRun) {
  auto kernel = loadFake("meet", EntryKind::block);
  const std::uint32_t blocks = engine->workers() + pick(8, 20);
  std::uint32_t running = 0, most = 0, arrived = 0;
  EXPECT_EQ(runLaunch(*engine, makeLaunch(kernel, blocks, 32, MeetParams{&running, &most, &arrived, 0, blocks})).kind,
            FaultKind::none);
  EXPECT_EQ(arrived, blocks);
  EXPECT_EQ(most, blocks);
}

TEST_P(EngineTest, BlocksThatWaitWithBarriersAllRun) {
  auto kernel = loadFake("meet_barrier", EntryKind::warp);
  const std::uint32_t first = pick(50, 200), blocks = engine->workers() + pick(10, 20);
  std::uint32_t arrived = 0;
  struct {
    std::uint32_t *arrived, first, wanted;
  } params{&arrived, first, blocks};
  EXPECT_EQ(runLaunch(*engine, makeLaunch(kernel, first + blocks, 32 * pick(1, 4), params)).kind, FaultKind::none);
  EXPECT_EQ(arrived, blocks);
}

TEST_P(EngineTest, LongBlocksDoNotFillTheMachineWithThreads) {
  auto kernel = loadFake("meet", EntryKind::block);
  std::uint32_t running = 0, most = 0, arrived = 0;
  EXPECT_EQ(runLaunch(*engine, makeLaunch(kernel, 150, 32, MeetParams{&running, &most, &arrived, 30'000, 0})).kind,
            FaultKind::none);
  EXPECT_EQ(arrived, 150u);
  EXPECT_LE(most, engine->workers() + 9);
}

// A stream as the driver has it: each launch is submitted where its predecessor ends.
struct Endless {
  Engine &engine;
  std::shared_ptr<const Kernel> kernel;
  std::uint32_t running = 0, most = 0, arrived = 0, blocks = 1;
  std::atomic<std::uint32_t> ended{0}, hundredth{0}, stopped{0};
  std::atomic<bool> stop{false};

  void next() {
    engine.submit(makeLaunch(kernel, blocks, 32, MeetParams{&running, &most, &arrived, 0, 0}),
                  [this](const Fault &fault) {
                    EXPECT_EQ(fault.kind, FaultKind::none);
                    if (++ended == 100) set(hundredth);
                    if (stop) return set(stopped);
                    next();
                  });
  }
  void set(std::atomic<std::uint32_t> &flag) {
    flag = 1;
    engine.wake(flag);
  }
  void finish() {
    stop = true;
    engine.waitFor(stopped, 1);
    EXPECT_EQ(arrived, ended * blocks);
  }
};

TEST_P(EngineTest, AnEndlessStreamKeepsNobodyWaiting) {
  Endless stream{*engine, loadFake("meet", EntryKind::block)};
  stream.blocks = pick(1, 40);
  stream.next();
  engine->waitFor(stream.hundredth, 1);  // whoever helps gets away when its own work is done
  std::atomic<std::uint32_t> task{0};
  engine->post([&] { stream.set(task); });
  engine->waitFor(task);
  std::uint32_t running = 0, most = 0, arrived = 0;
  auto other = makeLaunch(stream.kernel, 3, 32, MeetParams{&running, &most, &arrived, 0, 0});
  other.group = 2;
  EXPECT_EQ(runLaunch(*engine, std::move(other), 2).kind, FaultKind::none);
  EXPECT_EQ(arrived, 3u);
  stream.finish();
}

TEST_P(EngineTest, ASuccessorsBlocksThatWaitForOneAnotherAllRun) {
  auto kernel = loadFake("meet_barrier", EntryKind::warp);
  const std::uint32_t blocks = engine->workers() + pick(8, 20);
  std::uint32_t arrived[2] = {};
  std::atomic<std::uint32_t> done{0};
  auto launch = [&](int which, std::uint32_t count) {
    struct {
      std::uint32_t *arrived, first, wanted;
    } params{&arrived[which], 0, count};
    return makeLaunch(kernel, count, 32, params);
  };
  engine->submit(launch(0, 1), [&](const Fault &) {
    engine->submit(launch(1, blocks), [&](const Fault &) {
      done = 1;
      engine->wake(done);
    });
  });
  engine->waitFor(done, pick(0, 1));
  EXPECT_EQ(arrived[0], 1u);
  EXPECT_EQ(arrived[1], blocks);
}

// --- lane collectives against a plain definition -----------------------------------------------------

struct Call {
  std::uint32_t kind, b, c, pad;
};

struct Expected {
  std::uint64_t value = 0;
  std::uint32_t predicate = 0;
  bool hasPredicate = false;
};

// What lane `lane` gets; `values` per lane, `members` the lanes of its group.
Expected define(const Call &call, std::uint32_t lane, std::uint32_t members, const std::uint64_t *values) {
  std::vector<std::uint32_t> group;
  for (std::uint32_t l = 0; l < 32; ++l)
    if (members >> l & 1) group.push_back(l);
  auto all = [&](auto test) { return std::all_of(group.begin(), group.end(), test); };
  auto any = [&](auto test) { return std::any_of(group.begin(), group.end(), test); };
  auto odd = [&](std::uint32_t l) { return (values[l] & 1) != 0; };
  auto fold = [&](auto op) {
    auto result = static_cast<std::uint32_t>(values[group[0]]);
    for (std::size_t i = 1; i < group.size(); ++i)
      result = static_cast<std::uint32_t>(op(result, static_cast<std::uint32_t>(values[group[i]])));
    return Expected{result};
  };
  if (call.kind <= 3) {
    const int me = static_cast<int>(lane), b = call.b & 31, clamp = call.c & 31, segment = call.c >> 8 & 31;
    const int most = (me & segment) | (clamp & ~segment), least = me & segment;
    int source = call.kind == 0 ? least | (b & ~segment) : call.kind == 1 ? me - b : call.kind == 2 ? me + b : me ^ b;
    const bool inside = call.kind == 1 ? source >= most : source <= most;
    if (!inside) source = me;
    const bool present = source >= 0 && source < 32 && (members >> source & 1);
    return {values[present ? source : me], inside, true};
  }
  switch (call.kind) {
    case 4: return {all(odd)};
    case 5: return {any(odd)};
    case 6: return {all(odd) || !any(odd)};
    case 7:
    case 8:
    case 9: {
      std::uint32_t mask = 0;
      for (std::uint32_t l : group) mask |= std::uint32_t(call.kind == 7 ? odd(l) : values[l] == values[lane]) << l;
      if (call.kind == 9) return {mask == members ? mask : 0, mask == members, true};
      return {mask};
    }
    case 10: return fold([](std::uint32_t a, std::uint32_t b) { return a + b; });
    case 11: return fold([](std::uint32_t a, std::uint32_t b) { return std::min(a, b); });
    case 12: return fold([](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
    case 13: return fold([](std::uint32_t a, std::uint32_t b) { return int(a) < int(b) ? a : b; });
    case 14: return fold([](std::uint32_t a, std::uint32_t b) { return int(a) > int(b) ? a : b; });
    case 15: return fold([](std::uint32_t a, std::uint32_t b) { return a & b; });
    case 16: return fold([](std::uint32_t a, std::uint32_t b) { return a | b; });
    case 17: return fold([](std::uint32_t a, std::uint32_t b) { return a ^ b; });
    default: return {group[0], lane == group[0], true};  // elect
  }
}

TEST_P(EngineTest, LaneCollectives) {
  auto kernel = loadFake("collective", EntryKind::lane);
  for (int round = 0; round < 6; ++round) {
    const std::uint32_t threads = pick(1, 130), split = pick(1, 32), count = 60;
    std::vector<Call> calls(count);
    std::vector<std::uint64_t> values(std::size_t{count} * threads), results(values.size(), 1234);
    std::vector<std::uint32_t> predicates(values.size());
    for (Call &call : calls) {
      do call.kind = pick(0, 19);
      while (call.kind == 18);
      const std::uint32_t width = 1u << pick(0, 5);
      call.b = pick(0, 31), call.c = call.kind == 1 ? (32 - width) << 8 : (32 - width) << 8 | 31;
    }
    for (auto &v : values) v = pick(0, 1) ? pick(0, 2) : static_cast<std::uint32_t>(random());
    struct {
      const Call *calls;
      std::uint32_t count, split;
      const std::uint64_t *values;
      std::uint64_t *results;
      std::uint32_t *predicates;
    } params{calls.data(), count, split, values.data(), results.data(), predicates.data()};
    ASSERT_EQ(runLaunch(*engine, makeLaunch(kernel, 1, threads, params)).kind, FaultKind::none);
    for (std::uint32_t i = 0; i < count; ++i)
      for (std::uint32_t t = 0; t < threads; ++t) {
        const std::uint32_t first = t / 32 * 32, exist = threads - first >= 32 ? ~0u : (1u << (threads - first)) - 1;
        const std::uint32_t low = split >= 32 ? ~0u : (1u << split) - 1;
        std::uint64_t warp[32] = {};
        for (std::uint32_t l = 0; l < 32 && first + l < threads; ++l) warp[l] = values[i * threads + first + l];
        const Expected e = define(calls[i], t % 32, exist & (t % 32 < split ? low : ~low), warp);
        ASSERT_EQ(results[i * threads + t], e.value) << "kind " << calls[i].kind << " thread " << t;
        if (e.hasPredicate)
          ASSERT_EQ(predicates[i * threads + t], e.predicate) << "kind " << calls[i].kind << " thread " << t;
      }
  }
}

// --- device libc, processes -----------------------------------------------------------------------------

struct LibcParams {
  const char *format;
  const void *arguments;
  std::int32_t *result;
  std::uint64_t *allocated, step;
};

TEST(DeviceLibc, PrintfPacksAsClangDoes) {
  auto engine = makeEngine(1, {});
  struct {
    int i;
    double d;
    const char *s;
    char pad;
    alignas(4) unsigned c;
    long long ll;
    void *p;
    int width;
    double e;
  } arguments{-5, 2.5, "text", 0, 'q', 1LL << 40, reinterpret_cast<void *>(0x1234), 7, 1e10};
  std::int32_t result = -9;
  LibcParams params{"%d|%6.2f|%-6s|%c|%lld|%p|%*u%%|%e\n", &arguments, &result, nullptr, 0};
  // The unsigned for %*u follows the width.
  struct {
    int i;
    double d;
    const char *s;
    int c;
    long long ll;
    void *p;
    int width;
    unsigned u;
    double e;
  } packed{-5, 2.5, "text", 'q', 1LL << 40, reinterpret_cast<void *>(0x1234), 7, 42, 1e10};
  params.arguments = &packed;
  testing::internal::CaptureStdout();
  EXPECT_EQ(runLaunch(*engine, makeLaunch(loadFake("libc", EntryKind::warp), 1, 32, params)).kind, FaultKind::none);
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "-5|  2.50|text  |q|1099511627776|0x1234|     42%|1.000000e+10\n");
  EXPECT_EQ(result, 9);  // arguments, the width among them
}

TEST(DeviceLibc, HeapEndsAtItsLimitAndIsGivenBack) {
  auto engine = makeEngine(2, {});
  engine->setLimits(1 << 20, 1024);
  for (int round = 0; round < 3; ++round) {
    std::uint64_t allocated = 0;
    EXPECT_EQ(runLaunch(*engine, makeLaunch(loadFake("libc", EntryKind::warp), 1, 32,
                                            LibcParams{nullptr, nullptr, nullptr, &allocated, 10000}))
                  .kind,
              FaultKind::none);
    EXPECT_GT(allocated, (1u << 20) - 40000);
    EXPECT_LE(allocated, 1u << 20);
  }
  engine->setLimits(8 << 20, 1024);
}

TEST(Processes, MoreWorkersThanTheSystemHasThreads) {
#if defined(STRATA_ASAN) || defined(STRATA_TSAN)
  GTEST_SKIP() << "sanitizers reserve more addresses than the limit leaves";
#endif
  rlimit old{}, tight{};
  getrlimit(RLIMIT_AS, &old);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  tight = old;
  tight.rlim_cur = pages * 4096 + (1u << 30);  // some stacks
  setrlimit(RLIMIT_AS, &tight);
  std::string message;
  try {
    makeEngine(4096, {});
  } catch (const std::system_error &error) { message = error.what(); }
  setrlimit(RLIMIT_AS, &old);
  EXPECT_NE(message.find(" of 4096 worker threads start (STRATA_WORKERS): "), std::string::npos) << message;
}

TEST(Processes, AForkedChildNeitherHangsNorRuns) {
#ifdef STRATA_TSAN
  GTEST_SKIP() << "TSan does not run threads' exits in a forked child";
#endif
  auto engine = makeEngine(3, {});
  auto kernel = loadFake("empty", EntryKind::block);
  runLaunch(*engine, makeLaunch(kernel, 100, 32, 0));
  const pid_t child = fork();
  if (child == 0) {
    const Fault fault = runLaunch(*engine, makeLaunch(kernel, 1, 32, 0));
    engine.reset();
    _exit(fault.kind == FaultKind::internal ? 7 : 8);
  }
  int status = 0;
  for (int i = 0; i < 1000 && waitpid(child, &status, WNOHANG) == 0; ++i) usleep(10000);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  EXPECT_EQ(runLaunch(*engine, makeLaunch(kernel, 10, 32, 0)).kind, FaultKind::none);
}

}  // namespace
}  // namespace strata::simt::test
