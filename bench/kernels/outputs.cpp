// SPDX-License-Identifier: Apache-2.0
// What the CUDA side of each case computes, as a line per output: name, hash of its bytes. Lane mode and vector mode
// must print the same: compare_modes.sh.
//   bench_outputs --seed S [--small] [--only NAME…]
#include <xxhash.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "case.h"
#include "cuda_side.h"

int main(int argc, char **argv) {
  using namespace bench;
  unsigned seed = 0;
  bool small = false;
  std::vector<std::string> only;
  CLI::App app("Hashes of what the benchmarks' CUDA kernels compute", "bench_outputs");
  app.add_option("--seed", seed, "Of the random inputs")->required();
  app.add_flag("--small", small, "Small inputs");
  app.add_option("--only", only, "Only these cases");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) { return app.exit(error) ? 2 : 0; }
  for (auto &make : cases()) {
    setUp(small, seed);
    Case c = make();
    if (!only.empty() && std::find(only.begin(), only.end(), c.name) == only.end()) continue;
    CudaRun run(c);
    run();
    auto arrays = run.results();
    for (std::size_t i = 0; i < arrays.size(); ++i)
      if (c.arrays[i].output)
        std::printf("%s %zu %016" PRIx64 "\n", c.name.c_str(), i, XXH3_64bits(arrays[i].data(), arrays[i].size()));
    std::fflush(stdout);
  }
  return 0;
}
