// SPDX-License-Identifier: Apache-2.0
// Kernels that the engine was not made for, against the same work as a plain OpenMP loop. Each .cu file is compiled
// twice: by nvcc, when its cases launch kernels, and by g++ as C++, when they loop over the items. A body that both
// share is written once, as a function object over the item's number.
//
//   struct Scale { const float *x; float *y; DEVICE void operator()(int i) const { y[i] = 2 * x[i]; } };
//   EACH(scale, kMany, 256, ARRAYS(in<float>(kMany, -1, 1), out<float>(kMany)), (Scale{P(const float, 0), P(float,
//   1)}))
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#ifdef __CUDACC__
#define DEVICE __device__
#define ON(device, host) device
#else
#define DEVICE
#define ON(device, host) host
#endif

namespace heldout {

enum class Element { f32, f64, bits };

struct Array {
  std::vector<std::uint8_t> bytes;
  bool output = false;
  Element element = Element::bits;
};

struct Case {
  std::string name;
  std::function<std::vector<Array>(std::mt19937 &)> arrays;  // the same for the same seed
  std::function<void(void *const *)> run;
};

std::vector<Case> &onDevice();
std::vector<Case> &onHost();

template <class T>
constexpr Element elementOf() {
  return std::is_same_v<T, float> ? Element::f32 : std::is_same_v<T, double> ? Element::f64 : Element::bits;
}

template <class T>
Array of(const std::vector<T> &values) {
  auto *first = reinterpret_cast<const std::uint8_t *>(values.data());
  return {{first, first + values.size() * sizeof(T)}, false, elementOf<T>()};
}
template <class T>
std::function<Array(std::mt19937 &)> in(std::size_t count, double low, double high) {
  return [=](std::mt19937 &random) {
    std::uniform_real_distribution<double> uniform(low, high);
    std::vector<T> values(count);
    for (T &v : values) v = static_cast<T>(uniform(random));
    return of(values);
  };
}
template <class T>
std::function<Array(std::mt19937 &)> made(std::vector<T> (*make)(std::mt19937 &)) {
  return [=](std::mt19937 &random) { return of(make(random)); };
}
template <class T>
std::function<Array(std::mt19937 &)> out(std::size_t count) {  // poisoned
  return
      [=](std::mt19937 &) { return Array{std::vector<std::uint8_t>(count * sizeof(T), 0xFF), true, elementOf<T>()}; };
}
// Read and written, so that each run starts from it again.
template <class T>
std::function<Array(std::mt19937 &)> inOut(std::size_t count, double low, double high) {
  return [=](std::mt19937 &random) {
    Array array = in<T>(count, low, high)(random);
    array.output = true;
    return array;
  };
}

// Not inline, as it is another function in each of the two compilations.
[[maybe_unused]] static int add(const char *name, std::vector<std::function<Array(std::mt19937 &)>> makers,
                                std::function<void(void *const *)> run) {
  ON(onDevice(), onHost())
      .push_back({name,
                  [makers](std::mt19937 &random) {
                    std::vector<Array> arrays;
                    for (auto &make : makers) arrays.push_back(make(random));
                    return arrays;
                  },
                  std::move(run)});
  return 0;
}

#ifdef __CUDACC__
template <class Body>
__global__ void eachKernel(Body body, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) body(i);
}
template <class Body>
void each(int n, int block, Body body) {
  eachKernel<<<(n + block - 1) / block, block>>>(body, n);
}
template <class Body>
__global__ void planeKernel(Body body, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) body(x, y);
}
template <class Body>
void plane(int width, int height, int bx, int by, Body body) {
  planeKernel<<<dim3((width + bx - 1) / bx, (height + by - 1) / by), dim3(bx, by)>>>(body, width, height);
}
#else
template <class Body>
void each(int n, int, Body body) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i) body(i);
}
template <class Body>
void plane(int width, int height, int, int, Body body) {
#pragma omp parallel for schedule(static)
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) body(x, y);
}
#endif

#define ARRAYS(...) \
  { __VA_ARGS__ }
#define P(type, i) static_cast<type *>(p[i])
#define CASE(name, arrays, ...) \
  static const int name##Added = add(#name, arrays, [](void *const *p) { __VA_ARGS__; });
#define EACH(name, n, block, arrays, ...) CASE(name, ARRAYS arrays, each(n, block, __VA_ARGS__))
#define PLANE(name, w, h, bx, by, arrays, ...) CASE(name, ARRAYS arrays, plane(w, h, bx, by, __VA_ARGS__))

}  // namespace heldout
