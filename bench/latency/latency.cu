// SPDX-License-Identifier: Apache-2.0
// What a launch costs: empty launch and wait, launches back to back, and the cost of a block.
//   bench_latency [--json FILE]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <vector>

#include <cuda_runtime.h>
#include <nlohmann/json.hpp>

using Clock = std::chrono::steady_clock;

__global__ void empty() {}

static double seconds(const std::function<void()> &run) {
  auto start = Clock::now();
  run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

static double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

static double launchAndWait() {
  std::vector<double> times;
  for (int i = 0; i < 20000; ++i)
    times.push_back(seconds([] {
      empty<<<1, 32>>>();
      cudaDeviceSynchronize();
    }));
  return median(times);
}

static double backToBack() {
  const int launches = 10000;
  std::vector<double> times;
  for (int run = 0; run < 11; ++run)
    times.push_back(seconds([] {
                      for (int i = 0; i < launches; ++i) empty<<<1, 32>>>();
                      cudaDeviceSynchronize();
                    }) / launches);
  return median(times);
}

static double perBlock(int blocks) {
  std::vector<double> times;
  for (int run = 0; run < 5; ++run)
    times.push_back(seconds([=] {
                      empty<<<blocks, 32>>>();
                      cudaDeviceSynchronize();
                    }) / blocks);
  return median(times);
}

int main(int argc, char **argv) {
  std::string json;
  CLI::App app("Cost of launches on the CPU device", "./x bench latency");
  app.add_option("--json", json, "Write one object per figure");
  CLI11_PARSE(app, argc, argv);
  nlohmann::json results = nlohmann::json::array();
  auto report = [&](const char *name, double value) {
    std::printf("%-28s %10.3f us\n", name, value * 1e6);
    results.push_back({{"name", name}, {"seconds", {{"strata", value}}}});
  };
  empty<<<1, 32>>>();
  if (cudaDeviceSynchronize() != cudaSuccess) return std::fprintf(stderr, "bench_latency: %s\n", cudaGetErrorString(cudaGetLastError())), 1;
  report("launch and synchronise", launchAndWait());
  report("back-to-back launch", backToBack());
  for (int blocks : {100, 10000, 1000000, 10000000}) report(("block of " + std::to_string(blocks)).c_str(), perBlock(blocks));
  if (!json.empty()) std::ofstream(json) << results.dump(1) << "\n";
  return 0;
}
