// SPDX-License-Identifier: Apache-2.0
// One benchmark case: the same work as a CUDA kernel, an OpenMP loop, an OpenCL kernel and, where an ispc
// compiler is given, an ISPC function. Each case lives in one folder: NAME.cu (case and CUDA kernel),
// NAME_openmp.cpp, NAME.cl, NAME.ispc.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace bench {

// A buffer that all implementations use, each in its own copy.
struct Array {
  std::vector<std::uint8_t> bytes;  // initial contents; outputs are poisoned with 0xFF
  bool output = false;

  template <class T>
  static Array of(const std::vector<T> &values) {
    auto *first = reinterpret_cast<const std::uint8_t *>(values.data());
    return {{first, first + values.size() * sizeof(T)}, false};
  }
  template <class T>
  static Array poisoned(std::size_t count) {
    return {std::vector<std::uint8_t>(count * sizeof(T), 0xFF), true};
  }
};

using Pointers = std::vector<void *>;

// The OpenCL kernels of one run, launched in order. Arguments of each: all arrays in order, then the launch's own
// scalars, then those of all.
struct OpenCl {
  using Scalars = std::vector<std::vector<std::uint8_t>>;
  struct Launch {
    std::string kernel;
    std::vector<int> global, local;
    Scalars scalars = {};
  };
  std::vector<Launch> launches;
  Scalars scalars;

  template <class... T>
  static Scalars pack(T... values) {
    return {std::vector<std::uint8_t>(reinterpret_cast<const std::uint8_t *>(&values),
                                      reinterpret_cast<const std::uint8_t *>(&values) + sizeof(T))...};
  }
};

// The ISPC twin, NAME_ispc(arrays, n, begin, end), is called by several threads for parts of `grain` of the n items,
// then NAME_ispc_end(arrays, n), if there is one. With one part, the function starts ISPC tasks of its own. They are
// found by name, since they are built only where ispc is given.
struct Ispc {
  int n = 0, grain = 1;
};

enum class Element { f32, f16, i32, u32 };

struct Case {
  std::string name;
  double bytes = 0;  // least traffic to memory of one run
  double flops = 0;  // arithmetic of one run
  std::vector<Array> arrays;
  std::function<void(const Pointers &)> cuda;    // launches only; device pointers
  std::function<void(const Pointers &)> openmp;  // host pointers
  OpenCl opencl;
  Ispc ispc;
  Element element = Element::f32;  // of the outputs
  double tolerance = 0;            // relative to max(1, |value|); outputs of all must agree
  double mayDiffer = 0;            // share of elements that may disagree (chaotic edges)
};

// Adds a case to the list; used as a static initialiser in each case's .cu file.
int addCase(std::function<Case()> make);
std::vector<std::function<Case()>> &cases();
// The size of a case: `full`, or `small` where only what it computes matters.
int size(int full, int small);
// Inputs are random, and the same for the same seed.
void setUp(bool small, unsigned seed);
std::mt19937 &randomEngine();
std::vector<float> randomFloats(std::size_t count, float low, float high);
std::vector<std::uint16_t> randomHalves(std::size_t count, float low, float high);

}  // namespace bench
