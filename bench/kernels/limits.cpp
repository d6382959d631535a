// SPDX-License-Identifier: Apache-2.0
#include "limits.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <omp.h>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double addBandwidth() {
  const long n = 1 << 25;
  auto make = [&] {
    auto *p = static_cast<float *>(std::aligned_alloc(4096, n * sizeof(float)));
#pragma omp parallel for
    for (long i = 0; i < n; ++i) p[i] = (float)i;
    return p;
  };
  float *a = make(), *b = make(), *c = make();
  double best = 0;
  for (int run = 0; run < 10; ++run) {
    auto start = Clock::now();
#ifdef __AVX512F__
#pragma omp parallel for
    for (long i = 0; i < n; i += 16) _mm512_stream_ps(c + i, _mm512_add_ps(_mm512_load_ps(a + i), _mm512_load_ps(b + i)));
#else
#pragma omp parallel for simd
    for (long i = 0; i < n; ++i) c[i] = a[i] + b[i];
#endif
    best = std::max(best, 12.0 * n / seconds(start));
  }
  for (float *p : {a, b, c}) std::free(p);
  return best;
}

double fmaRate() {
  const long rounds = 4'000'000;
  constexpr int kChains = 12, kLanes = 16;
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    volatile float sink = 0;
    auto start = Clock::now();
#pragma omp parallel
    {
      typedef float Vector __attribute__((vector_size(4 * kLanes)));
      Vector x[kChains], scale = Vector{} + 0.999f, offset = Vector{} + 1e-3f;
      for (auto &v : x) v = Vector{} + (float)(1 + omp_get_thread_num());
      for (long r = 0; r < rounds; ++r) {
        for (auto &v : x) v = v * scale + offset;
        asm volatile("" : "+v"(x[0]));
      }
      for (auto &v : x) sink = sink + v[0];
    }
    best = std::max(best, 2.0 * kLanes * kChains * rounds * omp_get_max_threads() / seconds(start));
  }
  return best;
}

}  // namespace

Limits measureLimits() { return {addBandwidth(), fmaRate()}; }

}  // namespace bench
