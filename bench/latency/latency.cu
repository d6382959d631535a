// SPDX-License-Identifier: Apache-2.0
// What a launch costs: empty launch and wait, launches back to back, and a block more. How much faster two workers
// are than one where a kernel computes, and, for comparison, two plain threads.
//   bench_latency [--json FILE]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <nlohmann/json.hpp>

using Clock = std::chrono::steady_clock;

__global__ void empty() {}

__host__ __device__ static float chain(float x, float y, int rounds) {
  float a = x, b = x + 1, c = x + 2, d = x + 3;
  for (int i = 0; i < rounds; ++i) {
    a = a * 0.999f + y;
    b = b * 0.998f + y;
    c = c * 0.997f + y;
    d = d * 0.996f + y;
  }
  return a + b + c + d;
}

__global__ void compute(float *out, int rounds) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = chain(threadIdx.x * 1e-3f, blockIdx.x * 1e-3f, rounds);
}

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

// A launch of so many blocks.
static double launchOf(int blocks) {
  std::vector<double> times;
  for (int run = 0; run < (blocks > 100000 ? 5 : 501); ++run)
    times.push_back(seconds([=] {
      empty<<<blocks, 32>>>();
      cudaDeviceSynchronize();
    }));
  return median(times);
}

// Of a kernel that computes, on the workers that STRATA_WORKERS gives this process.
static double computing() {
  const int blocks = 1024, threads = 256, rounds = 4000;
  float *out;
  if (cudaMalloc(&out, blocks * threads * sizeof *out) != cudaSuccess) return NAN;
  double best = INFINITY;
  for (int run = 0; run < 4; ++run)
    best = std::min(best, seconds([=] {
      compute<<<blocks, threads>>>(out, rounds);
      cudaDeviceSynchronize();
    }));
  cudaFree(out);
  return best;
}

static double computingWith(int workers, const char *self) {
  const std::string command = "STRATA_WORKERS=" + std::to_string(workers) + " '" + self + "' --computing";
  double value = NAN;
  if (FILE *child = popen(command.c_str(), "r")) {
    if (std::fscanf(child, "%lf", &value) != 1) value = NAN;
    pclose(child);
  }
  return value;
}

static double plainThreads(int count) {
  const int total = 1 << 16, rounds = 1000;
  static float results[total];
  return seconds([=] {
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t)
      threads.emplace_back([=] {
        for (int i = total / count * t; i < total / count * (t + 1); ++i) results[i] = chain(i * 1e-3f, 1, rounds);
        asm volatile("" : : "r"(results) : "memory");  // or nothing would be computed, since nobody reads them
      });
    for (std::thread &thread : threads) thread.join();
  });
}

// Times of one and of two, in turns, the best of each: how many times faster two are.
static double speedup(const std::function<double(int)> &time) {
  double one = INFINITY, two = INFINITY;
  for (int run = 0; run < 4; ++run) {
    one = std::min(one, time(1));
    two = std::min(two, time(2));
  }
  return one / two;
}

int main(int argc, char **argv) {
  std::string json;
  bool onlyComputing = false;
  CLI::App app("Cost of launches on the CPU device", "./x bench latency");
  app.add_option("--json", json, "Write one object per figure");
  app.add_flag("--computing", onlyComputing, "Only the time of a kernel that computes, in seconds");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) ? 2 : 0;
  }
  if (onlyComputing) return std::printf("%.9f\n", computing()), 0;
  nlohmann::json results = nlohmann::json::array();
  auto report = [&](const std::string &name, double value) {
    std::printf("%-34s %10.4f us\n", name.c_str(), value * 1e6);
    results.push_back({{"name", name}, {"seconds", {{"strata", value}}}});
  };
  empty<<<1, 32>>>();
  if (cudaDeviceSynchronize() != cudaSuccess) return std::fprintf(stderr, "bench_latency: %s\n", cudaGetErrorString(cudaGetLastError())), 1;
  report("launch and synchronise", launchAndWait());
  report("back-to-back launch", backToBack());
  const double one = launchOf(1);
  for (int blocks : {100, 1000, 10000, 100000, 1000000, 10000000})
    report("a block more, of " + std::to_string(blocks), (launchOf(blocks) - one) / (blocks - 1));
  auto scaling = [&](const char *name, const std::function<double(int)> &time) {
    const double times = speedup(time);
    std::printf("%-34s %10.2f x\n", name, times);
    results.push_back({{"name", name}, {"speedup", {{"strata", times}}}});
  };
  scaling("two workers against one", [&](int workers) { return computingWith(workers, argv[0]); });
  scaling("two plain threads against one", plainThreads);
  if (!json.empty()) std::ofstream(json) << results.dump(1) << "\n";
  return 0;
}
