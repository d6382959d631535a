// SPDX-License-Identifier: Apache-2.0
// Prints what the executor's own work costs: a launch, a block, a barrier. `exec_cost [workers]`
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tests/simt/exec/launcher.h"

namespace {

using namespace strata::simt;
using namespace strata::simt::test;
using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point since) { return std::chrono::duration<double>(Clock::now() - since).count(); }

template <class Body>
double median(int rounds, Body body) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    auto start = Clock::now();
    body();
    times.push_back(seconds(start));
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[static_cast<std::size_t>(rounds / 2)];
}

void launches(Engine &engine) {
  auto kernel = loadFake("empty", EntryKind::block);
  for (std::uint64_t group : {1, 0})
    std::printf("empty launch and wait, %-22s %8.2f us\n", group ? "thread helps:" : "workers only:",
                1e6 * median(20001, [&] { runLaunch(engine, makeLaunch(kernel, 1, 32, 0), group); }));
  constexpr int kBatch = 1000;
  std::printf("launch, one of 1000 in a row:                %8.2f us\n", 1e6 / kBatch * median(51, [&] {
                                                                           std::atomic<std::uint32_t> flag{0};
                                                                           std::atomic<int> left{kBatch};
                                                                           for (int i = 0; i < kBatch; ++i)
                                                                             engine.submit(makeLaunch(kernel, 1, 32, 0),
                                                                                           [&](const Fault &) {
                                                                                             if (--left) return;
                                                                                             flag.store(1);
                                                                                             engine.wake(flag);
                                                                                           });
                                                                           engine.waitFor(flag, 1);
                                                                         }));
}

void blocks(Engine &engine) {
  auto plain = loadFake("empty", EntryKind::block);
  for (std::uint32_t grid : {100u, 10'000u, 1'000'000u, 10'000'000u})
    std::printf(
        "empty block, grid of %-10u              %8.2f ns\n", grid,
        1e9 / grid * median(grid > 100000 ? 3 : 101, [&] { runLaunch(engine, makeLaunch(plain, grid, 32, 0)); }));
  auto barrier = loadFake("barrier", EntryKind::warp, 128);
  constexpr std::uint32_t kWarps = 8, kGrid = 2000;
  std::vector<std::uint32_t> out(kGrid * kWarps);
  auto time = [&](std::uint32_t rounds) {
    struct {
      std::uint32_t *out, rounds;
    } params{out.data(), rounds};
    return median(11, [&] { runLaunch(engine, makeLaunch(barrier, kGrid, kWarps * 32, params)); });
  };
  const double none = time(0), many = time(50);
  std::printf("block of 8 warps, 3 barriers:                %8.2f ns\n", 1e9 / kGrid * none);
  std::printf("barrier, per warp:                           %8.2f ns\n", 1e9 / (kGrid * kWarps * 100.) * (many - none));
}

}  // namespace

int main(int argc, char **argv) {
  auto engine = makeEngine(argc > 1 ? static_cast<std::uint32_t>(std::atoi(argv[1])) : 0, {});
  std::printf("%u workers\n", engine->workers());
  launches(*engine);
  blocks(*engine);
}
