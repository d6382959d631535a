// SPDX-License-Identifier: Apache-2.0
// What the CUDA side of each case computes, as a line per output: name, hash of its bytes. Lane mode and vector mode
// must print the same: compare_modes.sh.
//   bench_outputs --seed S [--small] [--only NAME…]
// With --times S a line per case instead, measured for S seconds: name, milliseconds of a run, of the compile.
#include <xxhash.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>

#include "case.h"
#include "cuda_side.h"

static double runTime(const bench::CudaRun &run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// After the first run, which also compiles.
static void printTimes(const bench::Case &c, const bench::CudaRun &run, double seconds, double first) {
  std::vector<double> times;
  for (double spent = 0; spent < seconds * 1000 || times.size() < 3; spent += times.back())
    times.push_back(runTime(run));
  std::sort(times.begin(), times.end());
  const double usual = times[times.size() / 2];
  std::printf("%s %.5f %.2f\n", c.name.c_str(), usual, std::max(0.0, first - usual));
}

int main(int argc, char **argv) {
  using namespace bench;
  unsigned seed = 0;
  bool small = false;
  double seconds = -1;
  std::vector<std::string> only;
  CLI::App app("Hashes of what the benchmarks' CUDA kernels compute", "bench_outputs");
  app.add_option("--seed", seed, "Of the random inputs")->required();
  app.add_flag("--small", small, "Small inputs");
  app.add_option("--times", seconds, "Measure each case for so many seconds");
  app.add_option("--only", only, "Only these cases");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) { return app.exit(error) ? 2 : 0; }
  for (auto &make : cases()) {
    setUp(small, seed);
    Case c = make();
    if (!only.empty() && std::find(only.begin(), only.end(), c.name) == only.end()) continue;
    CudaRun run(c);
    const double first = runTime(run);
    if (seconds >= 0) {
      printTimes(c, run, seconds, first);
      std::fflush(stdout);
      continue;
    }
    auto arrays = run.results();
    for (std::size_t i = 0; i < arrays.size(); ++i)
      if (c.arrays[i].output)
        std::printf("%s %zu %016" PRIx64 "\n", c.name.c_str(), i, XXH3_64bits(arrays[i].data(), arrays[i].size()));
    std::fflush(stdout);
  }
  return 0;
}
