// SPDX-License-Identifier: Apache-2.0
// What every example needs: error checks, random data from a printed seed, and a verdict.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

// Stops the program when a CUDA call fails, naming the call and the place.
#define CHECK(call)                                                                            \
  do {                                                                                         \
    cudaError_t status = (call);                                                               \
    if (status != cudaSuccess) {                                                               \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status)); \
      std::exit(1);                                                                            \
    }                                                                                          \
  } while (0)

// Fresh random inputs each run; SEED=n repeats one.
inline std::mt19937 &generator() {
  static std::mt19937 engine = [] {
    const char *given = std::getenv("SEED");
    unsigned seed = given ? std::strtoul(given, nullptr, 0) : std::random_device{}();
    std::printf("seed %u\n", seed);
    return std::mt19937(seed);
  }();
  return engine;
}

inline std::vector<float> randomFloats(std::size_t count, float low = -1, float high = 1) {
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<float> values(count);
  for (float &v : values) v = uniform(generator());
  return values;
}

// Device memory holding `values`.
template <class T>
T *toDevice(const std::vector<T> &values) {
  T *device = nullptr;
  CHECK(cudaMalloc(&device, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

// Device memory whose bytes are all 0xFF (NaN, -1), so that a kernel that writes nothing is caught.
template <class T>
T *poisonedDevice(std::size_t count) {
  T *device = nullptr;
  CHECK(cudaMalloc(&device, count * sizeof(T)));
  CHECK(cudaMemset(device, 0xFF, count * sizeof(T)));
  return device;
}

template <class T>
std::vector<T> toHost(const T *device, std::size_t count) {
  std::vector<T> values(count);
  CHECK(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

// |got - want| <= tolerance * max(1, |want|), and not NaN.
inline bool close(double got, double want, double tolerance) {
  return std::fabs(got - want) <= tolerance * std::fmax(1.0, std::fabs(want));
}

// Counts mismatches and gives the exit status of main().
class Verdict {
public:
  void expect(bool ok, const char *what, std::size_t index, double got, double want) {
    if (ok) return;
    if (++failures_ <= 5) std::printf("wrong %s[%zu]: got %.9g, want %.9g\n", what, index, got, want);
  }
  int report(const char *name) const {
    if (failures_) std::printf("%s: FAILED, %zu wrong values\n", name, failures_);
    else std::printf("%s: PASSED\n", name);
    return failures_ ? 1 : 0;
  }

private:
  std::size_t failures_ = 0;
};

// The size argument of the command line, or `fallback`.
inline int argument(int argc, char **argv, int index, int fallback) {
  return argc > index ? std::atoi(argv[index]) : fallback;
}
