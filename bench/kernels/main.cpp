// SPDX-License-Identifier: Apache-2.0
// Runs every case on every implementation in one process, checks that they agree, prints one table and
// writes one JSON object per case.
//   bench_kernels [--json FILE] [--only NAME…] [--seconds S]
#include <dlfcn.h>
#include <immintrin.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "case.h"
#include "cuda_side.h"
#include "ispc_tasks.h"
#include "limits.h"
#include "opencl_side.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using Outputs = std::vector<std::vector<std::uint8_t>>;

struct Measured {
  std::map<std::string, double> seconds;  // by implementation
  std::string wrong;                      // empty when all agree
};

// One implementation of a case.
struct Runner {
  std::string who;
  std::function<void()> run;
  std::vector<double> times;

  // At least one run after one that brings its arrays back into the caches.
  void takeTurn(double budget) {
    run();
    const auto start = Clock::now();
    do {
      const auto before = Clock::now();
      run();
      times.push_back(std::chrono::duration<double>(Clock::now() - before).count());
    } while (std::chrono::duration<double>(Clock::now() - start).count() < budget);
  }
  double median() {
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
  }
};

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
      return who + " differs at " + std::to_string(first) + " (" + std::to_string(different) + " of " +
             std::to_string(count) + ")";
  }
  return {};
}

Outputs outputsOf(const Case &c, const std::vector<std::vector<std::uint8_t>> &copies) {
  Outputs out;
  for (std::size_t i = 0; i < copies.size(); ++i)
    if (c.arrays[i].output) out.push_back(copies[i]);
  return out;
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

// CUDA, OpenMP and ISPC compute on the same arrays, in device memory, and all take turns: neither where memory lies nor
// what else the machine does with it meets one of them only. OpenCL has buffers of its own.
Measured measure(const Case &c, double budget, ClDevice *opencl) {
  constexpr int kTurns = 5;
  Measured m;
  CudaRun cuda(c);
  std::unique_ptr<ClRun> cl;
  std::vector<Runner> runners = {{"openmp", [&] { c.openmp(cuda.pointers()); }, {}}, {"strata", [&] { cuda(); }, {}}};
  if (auto ispc = ispcTwin(c)) runners.push_back({"ispc", [ispc, &cuda] { ispc(cuda.pointers()); }, {}});
  if (opencl && !c.opencl.launches.empty()) {
    cl = std::make_unique<ClRun>(*opencl, c);
    runners.push_back({"pocl", [&] { (*cl)(); }, {}});
  }
  Outputs want;
  for (Runner &one : runners) {
    cuda.reset();
    one.run();
    const Outputs got = outputsOf(c, one.who == "pocl" ? cl->results() : cuda.results());
    if (want.empty()) want = got;
    if (m.wrong.empty()) m.wrong = compare(c, one.who, got, want);
  }
  for (int turn = 0; turn < kTurns; ++turn)
    for (Runner &one : runners) one.takeTurn(budget / kTurns);
  for (Runner &one : runners) m.seconds[one.who] = one.median();
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

// How many times quicker than a peer Strata is, and would be if it were as quick as each case's quickest: geometric
// means.
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
  return {{"name", c.name},
          {"seconds", m.seconds},
          {"bytes", c.bytes},
          {"flops", c.flops},
          {"ratios", ratios},
          {"agrees", m.wrong.empty()},
          {"limits",
           {{"bytes_per_second", memoryLimit(c, limits).bytesPerSecond}, {"flops_per_second", limits.flopsPerSecond}}}};
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
  } catch (const CLI::ParseError &error) { return app.exit(error) ? 2 : 0; }

  setUp(false, std::random_device{}());
  Limits limits = measureLimits();
  auto opencl = ClDevice::open();
  std::printf("limits: read %.1f, copy %.1f, add %.1f GB/s, %.0f GFLOP/s fp32 FMA%s\n", limits.read / 1e9,
              limits.copy / 1e9, limits.add / 1e9, limits.flopsPerSecond / 1e9,
              opencl ? "" : "; no OpenCL device: PoCL left out");
  std::printf("%-18s %9s %8s %8s %10s %8s %8s %8s  (times faster than)\n", "case", "ms", "GB/s", "GFLOP/s", "of limit ",
              "openmp", "pocl", "ispc");

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
    std::printf("geometric mean against %s: %.2f (%d cases); of each case's quickest: %.2f\n", who.c_str(),
                mean.of(mean.strata), mean.cases, mean.of(mean.quickest));
  if (!json.empty()) std::ofstream(json) << results.dump(1) << "\n";
  return allAgree ? 0 : 1;
}
