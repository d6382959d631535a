// SPDX-License-Identifier: Apache-2.0
// Measures the held-out kernels against their OpenMP loops, whose results they must agree with.
//   bench_heldout [--seconds S] [--only NAME…]      a line a case: ratio, times, compile time
//   bench_heldout --times FILE                      for ablation: name, milliseconds of a run, of the first launch's
//   compile bench_heldout --list                            the names
// In STRATA_MODE=vector a case whose kernel is not vectorised is refused: its line says so.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "heldout.h"

namespace heldout {

std::vector<Case> &onDevice() {
  static std::vector<Case> list;
  return list;
}
std::vector<Case> &onHost() {
  static std::vector<Case> list;
  return list;
}

namespace {

double now() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

void check(cudaError_t status, const std::string &where) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "heldout: %s: %s\n", where.c_str(), cudaGetErrorString(status));
  std::exit(1);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// Of arrays that both sides computed: the first element that is not alike.
template <class T>
std::string differs(const std::vector<std::uint8_t> &a, const std::vector<std::uint8_t> &b, double tolerance) {
  for (std::size_t i = 0; i < a.size(); i += sizeof(T)) {
    T x, y;
    std::memcpy(&x, &a[i], sizeof(T)), std::memcpy(&y, &b[i], sizeof(T));
    if (std::memcmp(&x, &y, sizeof(T)) == 0) continue;
    const double difference = std::fabs(double(x) - double(y));
    if (!(difference <= tolerance * std::max(1.0, std::fabs(double(y)))))
      return "element " + std::to_string(i / sizeof(T)) + " is " + std::to_string(x) + ", of the loop " +
             std::to_string(y);
  }
  return "";
}

struct Side {
  Side(const Case &c, const std::vector<Array> &arrays, bool device) : arrays(arrays), device(device), run(c.run) {
    for (const Array &array : arrays) {
      void *p = device ? nullptr : std::aligned_alloc(64, (array.bytes.size() + 63) / 64 * 64);
      if (device) check(cudaMalloc(&p, array.bytes.size()), c.name);
      pointers.push_back(p);
    }
    reset();
  }
  ~Side() {
    for (void *p : pointers) device ? static_cast<void>(cudaFree(p)) : std::free(p);
  }
  void reset(bool outputsOnly = false) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (outputsOnly && !arrays[i].output) continue;
      if (device) cudaMemcpy(pointers[i], arrays[i].bytes.data(), arrays[i].bytes.size(), cudaMemcpyHostToDevice);
      else std::memcpy(pointers[i], arrays[i].bytes.data(), arrays[i].bytes.size());
    }
  }
  double time() {
    reset(/*outputsOnly=*/true);
    const double start = now();
    run(pointers.data());
    if (device) status = cudaDeviceSynchronize();
    return now() - start;
  }
  std::vector<std::uint8_t> result(std::size_t i) const {
    std::vector<std::uint8_t> bytes(arrays[i].bytes.size());
    if (device) cudaMemcpy(bytes.data(), pointers[i], bytes.size(), cudaMemcpyDeviceToHost);
    else std::memcpy(bytes.data(), pointers[i], bytes.size());
    return bytes;
  }
  const std::vector<Array> &arrays;
  const bool device;
  const std::function<void(void *const *)> run;
  std::vector<void *> pointers;
  cudaError_t status = cudaSuccess;
};

std::string compare(const Side &ours, const Side &theirs) {
  for (std::size_t i = 0; i < ours.arrays.size(); ++i) {
    const Array &array = ours.arrays[i];
    if (!array.output) continue;
    const auto a = ours.result(i), b = theirs.result(i);
    const std::string found = array.element == Element::f32   ? differs<float>(a, b, 2e-3)
                              : array.element == Element::f64 ? differs<double>(a, b, 1e-8)
                              : a == b                        ? ""
                                                              : "its bits differ";
    if (!found.empty()) return "array " + std::to_string(i) + ": " + found;
  }
  return "";
}

struct Options {
  double seconds = 0.3;
  bool list = false, modes = false, times = false;
  std::set<std::string> only;
};

// Which kernels are not vectorised: this program again, where they are refused.
std::set<std::string> notVectorised(const char *self) {
  std::set<std::string> names;
  const std::string command = "STRATA_MODE=vector STRATA_LOG=error " + std::string(self) + " --modes 2>/dev/null";
  FILE *pipe = popen(command.c_str(), "r");
  char line[256];
  while (pipe && std::fgets(line, sizeof line, pipe))
    if (std::string name = line; name.ends_with(" refused\n")) names.insert(name.substr(0, name.size() - 9));
  if (!pipe || pclose(pipe)) check(cudaErrorUnknown, "the run in vector mode");
  return names;
}

int measure(const Options &options, const std::set<std::string> &lanes) {
  std::map<std::string, const Case *> loops;
  for (const Case &c : onHost()) loops[c.name] = &c;
  int wrong = 0, cases = 0;
  double logs = 0;
  const unsigned seed = std::random_device()();
  std::printf("seed %u\n", seed);
  if (!options.times && !options.modes)
    std::printf("%-18s %8s %11s %11s %11s  %s\n", "kernel", "ratio", "ours ms", "OpenMP ms", "compile ms", "mode");
  for (const Case &c : onDevice()) {
    if (!options.only.empty() && !options.only.contains(c.name)) continue;
    std::mt19937 random(seed);
    const std::vector<Array> arrays = c.arrays(random);
    Side ours(c, arrays, true);
    const double first = ours.time();
    if (options.modes) {
      std::printf("%s %s\n", c.name.c_str(),
                  ours.status == cudaErrorNotSupported || cudaGetLastError() == cudaErrorNotSupported ? "refused"
                                                                                                      : "vectorised");
      continue;
    }
    check(ours.status, c.name);
    check(cudaGetLastError(), c.name);
    Side theirs(*loops.at(c.name), arrays, false);
    theirs.time();
    if (const std::string found = compare(ours, theirs); !found.empty()) {
      ++wrong;
      std::printf("%-18s WRONG: %s\n", c.name.c_str(), found.c_str());
      continue;
    }
    // By turns, so that what else the machine does falls on both.
    std::vector<double> mine, loop, ratios;
    for (double end = now() + options.seconds * 1000; now() < end || ratios.size() < 5;) {
      mine.push_back(ours.time());
      if (!options.times) loop.push_back(theirs.time());
      ratios.push_back(options.times ? 1 : loop.back() / mine.back());
    }
    const double ratio = median(ratios), compile = std::max(0.0, first - median(mine));
    if (options.times) std::printf("%s %.5f %.2f\n", c.name.c_str(), median(mine), compile);
    else
      std::printf("%-18s %8.2f %11.4f %11.4f %11.1f  %s\n", c.name.c_str(), ratio, median(mine), median(loop), compile,
                  lanes.contains(c.name) ? "lane" : "not refused by STRATA_MODE=vector");
    std::fflush(stdout);
    logs += std::log(ratio), ++cases;
  }
  if (!options.times && !options.modes)
    std::printf("%d kernels, %d of them not refused by STRATA_MODE=vector: geometric mean %.3f, %d wrong\n", cases,
                cases - static_cast<int>(std::count_if(lanes.begin(), lanes.end(),
                                                       [&](const std::string &name) {
                                                         return options.only.empty() || options.only.contains(name);
                                                       })),
                std::exp(logs / std::max(1, cases)), wrong);
  return wrong != 0;
}

}  // namespace
}  // namespace heldout

int main(int argc, char **argv) {
  using namespace heldout;
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--seconds" && i + 1 < argc) options.seconds = std::strtod(argv[++i], nullptr);
    else if (word == "--list") options.list = true;
    else if (word == "--modes") options.modes = true;
    else if (word == "--times") options.times = true;
    else if (word == "--only")
      while (i + 1 < argc && argv[i + 1][0] != '-') options.only.insert(argv[++i]);
    else return std::fprintf(stderr, "heldout: unknown '%s'\n", argv[i]), 2;
  }
  std::set<std::string> names;
  for (const Case &c : onDevice()) names.insert(c.name);
  for (const std::string &name : options.only)
    if (!names.contains(name)) return std::fprintf(stderr, "heldout: there is no case '%s'\n", name.c_str()), 2;
  if (options.list) {
    for (const std::string &name : names) std::puts(name.c_str());
    return 0;
  }
  return measure(options, options.times || options.modes ? std::set<std::string>() : notVectorised(argv[0]));
}
