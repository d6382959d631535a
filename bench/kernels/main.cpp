// SPDX-License-Identifier: Apache-2.0
// Runs every case on every implementation in one process, checks that they agree, prints one table and
// writes one JSON object per case.
//   bench_kernels [--json FILE] [--only NAME…] [--seconds S]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <immintrin.h>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "case.h"
#include "cuda_side.h"
#include "limits.h"
#include "ispc_tasks.h"
#include "opencl_side.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using Outputs = std::vector<std::vector<std::uint8_t>>;

struct Measured {
  std::map<std::string, double> seconds;  // by implementation
  std::string wrong;                      // empty when all agree
};

// Median time of one run: as many runs as fit into `budget` seconds, at least five, after one warm-up.
double timeRuns(const std::function<void()> &run, double budget) {
  run();
  std::vector<double> times;
  auto start = Clock::now();
  while (times.size() < 5 || std::chrono::duration<double>(Clock::now() - start).count() < budget) {
    auto before = Clock::now();
    run();
    times.push_back(std::chrono::duration<double>(Clock::now() - before).count());
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

double valueAt(const std::vector<std::uint8_t> &bytes, std::size_t i, Element element) {
  auto read = [&]<class T>(T) {
    T v;
    std::memcpy(&v, bytes.data() + i * sizeof(T), sizeof(T));
    return static_cast<double>(v);
  };
  if (element == Element::i32) return read(std::int32_t{});
  if (element == Element::u32) return read(std::uint32_t{});
  if (element == Element::f16) return _cvtsh_ss(static_cast<unsigned short>(read(std::uint16_t{})));
  return read(float{});
}

std::string compare(const Case &c, const std::string &who, const Outputs &got, const Outputs &want) {
  for (std::size_t a = 0; a < got.size(); ++a) {
    std::size_t count = got[a].size() / (c.element == Element::f16 ? 2 : 4), different = 0, first = 0;
    for (std::size_t i = 0; i < count; ++i) {
      double g = valueAt(got[a], i, c.element), w = valueAt(want[a], i, c.element);
      if (std::fabs(g - w) <= c.tolerance * std::fmax(1, std::fabs(w))) continue;
      if (!different++) first = i;
    }
    if (different > c.mayDiffer * count)
      return who + " differs at " + std::to_string(first) + " (" + std::to_string(different) + " of " + std::to_string(count) + ")";
  }
  return {};
}

Outputs outputsOf(const Case &c, const std::vector<std::vector<std::uint8_t>> &copies) {
  Outputs out;
  for (std::size_t i = 0; i < copies.size(); ++i)
    if (c.arrays[i].output) out.push_back(copies[i]);
  return out;
}

// Runs a function of host pointers on copies and hands back the outputs.
Outputs onHost(const Case &c, const std::function<void(const Pointers &)> &run, double budget, double &seconds) {
  Pointers pointers;
  for (const Array &array : c.arrays) {
    void *copy = allocateHuge(array.bytes.size());  // as device memory is
    std::memcpy(copy, array.bytes.data(), array.bytes.size());
    pointers.push_back(copy);
  }
  seconds = timeRuns([&] { run(pointers); }, budget);
  std::vector<std::vector<std::uint8_t>> copies;
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    auto *bytes = static_cast<std::uint8_t *>(pointers[i]);
    copies.emplace_back(bytes, bytes + c.arrays[i].bytes.size());
    std::free(pointers[i]);
  }
  return outputsOf(c, copies);
}

// Empty when the case has no ISPC twin in this build.
std::function<void(const Pointers &)> ispcTwin(const Case &c) {
  auto part = reinterpret_cast<void (*)(void *const *, int, int, int)>(dlsym(RTLD_DEFAULT, (c.name + "_ispc").c_str()));
  auto end = reinterpret_cast<void (*)(void *const *, int)>(dlsym(RTLD_DEFAULT, (c.name + "_ispc_end").c_str()));
  if (!part) return {};
  return [=, n = c.ispc.n, grain = c.ispc.grain](const Pointers &p) {
#pragma omp parallel for schedule(dynamic) if (n > grain)
    for (int begin = 0; begin < n; begin += grain) part(p.data(), n, begin, std::min(n, begin + grain));
    if (end) end(p.data(), n);
  };
}

Measured measure(const Case &c, double budget, ClDevice *opencl) {
  Measured m;
  Outputs want = onHost(c, c.openmp, budget, m.seconds["openmp"]);
  auto check = [&](const std::string &who, const Outputs &got) {
    if (m.wrong.empty()) m.wrong = compare(c, who, got, want);
  };
  {
    CudaRun run(c);
    m.seconds["strata"] = timeRuns([&] { run(); }, budget);
    check("strata", outputsOf(c, run.results()));
  }
  if (opencl && !c.opencl.launches.empty()) {
    ClRun run(*opencl, c);
    m.seconds["pocl"] = timeRuns([&] { run(); }, budget);
    check("pocl", outputsOf(c, run.results()));
  }
  if (auto ispc = ispcTwin(c)) check("ispc", onHost(c, ispc, budget, m.seconds["ispc"]));
  return m;
}

double ratio(const Measured &m, const std::string &peer) {
  auto it = m.seconds.find(peer);
  return it == m.seconds.end() ? 0 : it->second / m.seconds.at("strata");
}

double quickest(const Measured &m) {
  double least = m.seconds.at("strata");
  for (auto &[who, t] : m.seconds) least = std::min(least, t);
  return least;
}

// How many times quicker than a peer Strata is, and would be if it were as quick as each case's quickest: geometric means.
struct Means {
  double strata = 0, quickest = 0;  // sums of logarithms
  int cases = 0;

  void add(double ofStrata, double ofQuickest) {
    strata += std::log(ofStrata);
    quickest += std::log(ofQuickest);
    ++cases;
  }
  double of(double sum) const { return std::exp(sum / cases); }
};

Limits::Memory memoryLimit(const Case &c, const Limits &limits) {
  std::size_t bytes[2] = {};
  for (const Array &array : c.arrays) bytes[array.output] += array.bytes.size();
  return limits.memory(bytes[0], bytes[1]);
}

void printRow(const Case &c, const Measured &m, const Limits &limits) {
  double t = m.seconds.at("strata"), memory = c.bytes / t / 1e9, compute = c.flops / t / 1e9;
  const auto [kind, bytesPerSecond] = memoryLimit(c, limits);
  bool memoryBound = c.bytes / bytesPerSecond > c.flops / limits.flopsPerSecond;
  std::printf("%-18s %9.3f %8.1f %8.1f %5.0f%% %-4s", c.name.c_str(), t * 1e3, memory, compute,
              100 * (memoryBound ? c.bytes / t / bytesPerSecond : c.flops / t / limits.flopsPerSecond),
              memoryBound ? kind : "fma");
  for (const char *peer : {"openmp", "pocl", "ispc"}) {
    double r = ratio(m, peer);
    if (r > 0) std::printf(" %8.2f", r);
    else std::printf("        -");
  }
  std::printf("  %s\n", m.wrong.empty() ? "" : ("WRONG: " + m.wrong).c_str());
  std::fflush(stdout);
}

nlohmann::json toJson(const Case &c, const Measured &m, const Limits &limits) {
  nlohmann::json ratios = nlohmann::json::object();
  for (auto &[who, t] : m.seconds)
    if (who != "strata") ratios[who] = ratio(m, who);
  return {{"name", c.name}, {"seconds", m.seconds}, {"bytes", c.bytes}, {"flops", c.flops}, {"ratios", ratios},
          {"agrees", m.wrong.empty()}, {"limits", {{"bytes_per_second", memoryLimit(c, limits).bytesPerSecond}, {"flops_per_second", limits.flopsPerSecond}}}};
}

}  // namespace
}  // namespace bench

int main(int argc, char **argv) {
  using namespace bench;
  std::string json;
  std::vector<std::string> only;
  double seconds = 0.5;
  CLI::App app("Kernels in CUDA on the CPU device against OpenMP, OpenCL and ISPC twins", "./x bench kernels");
  app.add_option("--json", json, "Write one object per case");
  app.add_option("--only", only, "Only these cases");
  app.add_option("--seconds", seconds, "Time for each implementation of a case")->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) ? 2 : 0;
  }

  setUp(false, std::random_device{}());
  Limits limits = measureLimits();
  auto opencl = ClDevice::open();
  std::printf("limits: read %.1f, copy %.1f, add %.1f GB/s, %.0f GFLOP/s fp32 FMA%s\n", limits.read / 1e9, limits.copy / 1e9, limits.add / 1e9, limits.flopsPerSecond / 1e9,
              opencl ? "" : "; no OpenCL device: PoCL left out");
  std::printf("%-18s %9s %8s %8s %10s %8s %8s %8s  (times faster than)\n", "case", "ms", "GB/s", "GFLOP/s", "of limit ", "openmp", "pocl", "ispc");

  nlohmann::json results = nlohmann::json::array();
  std::map<std::string, Means> means;
  bool allAgree = true;
  for (auto &make : cases()) {
    Case c = make();
    if (!only.empty() && std::find(only.begin(), only.end(), c.name) == only.end()) continue;
    Measured m = measure(c, seconds, opencl.get());
    printRow(c, m, limits);
    results.push_back(toJson(c, m, limits));
    allAgree &= m.wrong.empty();
    for (auto &[who, t] : m.seconds)
      if (who != "strata") means[who].add(ratio(m, who), t / quickest(m));
  }
  if (results.size() < only.size()) return std::fprintf(stderr, "bench_kernels: a case of --only does not exist\n"), 2;
  for (auto &[who, mean] : means)
    std::printf("geometric mean against %s: %.2f (%d cases); of each case's quickest: %.2f\n", who.c_str(), mean.of(mean.strata), mean.cases, mean.of(mean.quickest));
  if (!json.empty()) std::ofstream(json) << results.dump(1) << "\n";
  return allAgree ? 0 : 1;
}
