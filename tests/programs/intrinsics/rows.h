// SPDX-License-Identifier: Apache-2.0
// Device functions, one row each, against a model of what is documented about them:
//   ROW(name, on the device, on the host)   both are expressions of the words a, b and c
// Rows that must be equal bit by bit; a NaN equals a NaN. ROW_NEAR(name, device, host, bound) takes doubles, and a
// bound of the absolute error in x, the host's value. main() calls checkRows(words of inputs).
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "../check.h"

using Word = unsigned long long;

inline unsigned seed = std::random_device{}();
inline std::mt19937_64 engine(seed);

// A value as a word, and a word as a value; NaNs become one.
template <class T>
__host__ __device__ Word word(T value) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    if (value != value) return 0x7ff8dead;
  Word result = 0;
  memcpy(&result, &value, sizeof value);
  return result;
}
template <class T>
__host__ __device__ T as(Word bits) {
  T value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

struct Input {
  Word a, b, c;
};

constexpr int kFirstRow = __COUNTER__ + 1;
template <int index>
struct Row;
#define ROW_NEAR(label, device, host, bound)                            \
  template <>                                                           \
  struct Row<__COUNTER__ - kFirstRow> {                                 \
    static constexpr const char *name = #label;                         \
    static constexpr bool isNear = true;                                \
    static __device__ Word onDevice(Word a, Word b, Word c) {           \
      return word(static_cast<double>(device));                         \
    }                                                                   \
    static Word onHost(Word a, Word b, Word c) { return word(static_cast<double>(host)); } \
    static double most(double x, Word a, Word b, Word c) { return bound; } \
  };
#define ROW(label, device, host)                                                         \
  template <>                                                                            \
  struct Row<__COUNTER__ - kFirstRow> {                                                  \
    static constexpr const char *name = #label;                                          \
    static constexpr bool isNear = false;                                                \
    static __device__ Word onDevice(Word a, Word b, Word c) { return word(device); }     \
    static Word onHost(Word a, Word b, Word c) { return word(host); }                    \
    static double most(double, Word, Word, Word) { return 0; }                           \
  };

template <int first, int... i>
__global__ void applyRows(const Input *in, Word *out, unsigned count) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count) return;
  const Input x = in[at];
  ((out[i * count + at] = Row<first + i>::onDevice(x.a, x.b, x.c)), ...);
}

inline bool isClose(Word got, Word want, double most) {
  if (got == want || std::isinf(most)) return true;
  const double x = as<double>(got), y = as<double>(want);
  return std::fabs(x - y) <= most;
}

template <class R>
int compareRow(const std::vector<Input> &in, const Word *out) {
  int wrong = 0;
  for (std::size_t n = 0; n < in.size(); ++n) {
    const auto [a, b, c] = in[n];
    const Word want = R::onHost(a, b, c);
    if (out[n] == want || (R::isNear && isClose(out[n], want, R::most(as<double>(want), a, b, c)))) continue;
    if (++wrong <= 3)
      std::printf("%s(%llx, %llx, %llx) = %llx (%g), want %llx (%g)\n", R::name, a, b, c, out[n], as<double>(out[n]),
                  want, as<double>(want));
  }
  if (wrong) std::printf("%s: %d of %zu wrong\n", R::name, wrong, in.size());
  return wrong;
}

template <int first, int... i>
int checkGroup(const std::vector<Input> &in, std::integer_sequence<int, i...>) {
  const unsigned count = in.size();
  Input *deviceIn;
  Word *deviceOut;
  std::vector<Word> out(sizeof...(i) * count);
  CHECK_CUDA(cudaMalloc(&deviceIn, count * sizeof(Input)));
  CHECK_CUDA(cudaMalloc(&deviceOut, out.size() * sizeof(Word)));
  CHECK_CUDA(cudaMemcpy(deviceIn, in.data(), count * sizeof(Input), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(deviceOut, 0xa5, out.size() * sizeof(Word)));
  applyRows<first, i...><<<(count + 127) / 128, 128>>>(deviceIn, deviceOut, count);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(out.data(), deviceOut, out.size() * sizeof(Word), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(deviceIn));
  CHECK_CUDA(cudaFree(deviceOut));
  return (compareRow<Row<first + i>>(in, out.data() + i * std::size_t(count)) + ... + 0);
}

// Rows [first, rows) in kernels of eight.
template <int rows, int first = 0>
int checkFrom(const std::vector<Input> &in) {
  if constexpr (first < rows) {
    constexpr int size = rows - first < 8 ? rows - first : 8;
    const int wrong = checkGroup<first>(in, std::make_integer_sequence<int, size>());
    return wrong + checkFrom<rows, first + size>(in);
  }
  return 0;
}

#define CHECK_ROWS(in) checkFrom<__COUNTER__ - kFirstRow>(in)

inline int finish(int wrong) {
  std::printf("seed %u: %s\n", seed, wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}

// A word that a function of integers may treat in a way of its own: borders of each width, few bits, shifts.
inline Word anyInteger() {
  const Word random = engine();
  switch (random % 8) {
    case 0: return engine() % 70;
    case 1: return Word(1) << engine() % 64;
    case 2: return (Word(1) << engine() % 64) - 1;
    case 3: return ~(engine() % 70);
    case 4: return Word(0x8000000080008080) ^ (engine() & engine() & 0x8000000180018181);
    case 5: return engine() & engine() & engine();
    case 6: return engine() & 0xffff;
    default: return engine();
  }
}
inline std::vector<Input> integerInputs(int count) {
  std::vector<Input> in(count);
  for (Input &x : in) x = {anyInteger(), anyInteger(), anyInteger()};
  return in;
}
