// SPDX-License-Identifier: Apache-2.0
#include "limits.h"

#include <immintrin.h>
#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
typedef float Vector __attribute__((vector_size(4 * kLanes)));

Vector load(const float *from) { return *reinterpret_cast<const Vector *>(from); }
void store(float *to, Vector value) { *reinterpret_cast<Vector *>(to) = value; }
// Past the caches, which spares reading the lines first.
void stream(float *to, Vector value) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, value);
#elif defined(__AVX__)
  _mm256_stream_ps(to, value);
#else
  _mm_stream_ps(to, value);
#endif
}

constexpr long kCount = 1 << 25;

// The best bandwidth of `part` over all of 0…kCount: in one range a thread, and in short ranges by turns.
template <class Part>
double bandwidth(double bytes, const Part &part) {
  double best = 0;
  for (long length : {kCount / omp_get_max_threads() / kLanes * kLanes, 1l << 14})
    for (int run = 0; run < 8; ++run) {
      auto start = Clock::now();
#pragma omp parallel for schedule(static, 1)
      for (long begin = 0; begin < kCount; begin += length) part(begin, std::min(kCount, begin + length));
      best = std::max(best, bytes / seconds(start));
    }
  return best;
}

void measureMemory(Limits &limits) {
  auto make = [] {
    auto *p = static_cast<float *>(allocateHuge(kCount * sizeof(float)));
#pragma omp parallel for
    for (long i = 0; i < kCount; ++i) p[i] = (float)i;
    return p;
  };
  float *a = make(), *b = make(), *c = make();
  limits.read = bandwidth(4.0 * kCount, [=](long begin, long end) {
    Vector sums[8] = {};
    for (long i = begin; i < end; i += 8 * kLanes)
      for (int k = 0; k < 8; ++k) sums[k] += load(a + i + k * kLanes);
    for (Vector &sum : sums) asm volatile("" : "+v"(sum));
  });
  limits.copy = std::max(bandwidth(8.0 * kCount,
                                   [=](long begin, long end) {
                                     for (long i = begin; i < end; i += kLanes) stream(c + i, load(a + i));
                                   }),
                         bandwidth(8.0 * kCount, [=](long begin, long end) {
                           for (long i = begin; i < end; i += kLanes) store(c + i, load(a + i));
                         }));
  limits.add = std::max(bandwidth(12.0 * kCount,
                                  [=](long begin, long end) {
                                    for (long i = begin; i < end; i += kLanes) stream(c + i, load(a + i) + load(b + i));
                                  }),
                        bandwidth(12.0 * kCount, [=](long begin, long end) {
                          for (long i = begin; i < end; i += kLanes) store(c + i, load(a + i) + load(b + i));
                        }));
  for (float *p : {a, b, c}) std::free(p);
}

// Chains enough for two ports of four cycles' latency, each kept in its register.
void multiplyAdd(long rounds) {
  constexpr int kChains = 12;
  Vector x[kChains], scale = Vector{} + 0.999f, offset = Vector{} + 1e-3f;
#pragma GCC unroll 12
  for (int k = 0; k < kChains; ++k) x[k] = Vector{} + (float)k;
  for (long r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int k = 0; k < kChains; ++k) {
      x[k] = x[k] * scale + offset;
      asm volatile("" : "+v"(x[k]));
    }
  }
}

// All processors at once; the first runs bring them to the frequency that they keep with wide vectors.
double fmaRate() {
  const long rounds = 2'000'000;
  const double flops = 2.0 * 12 * kLanes * rounds;
  double best = 0;
  for (int run = 0; run < 12; ++run) {
    double time = 0;
#pragma omp parallel reduction(max : time)
    {
#pragma omp barrier
      auto start = Clock::now();
      multiplyAdd(rounds);
      time = seconds(start);
    }
    best = std::max(best, flops * omp_get_max_threads() / time);
  }
  return best;
}

}  // namespace

void *allocateHuge(std::size_t bytes) {
  constexpr std::size_t kPage = 2 << 20;
  const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
  void *memory = std::aligned_alloc(kPage, whole);
  if (memory) madvise(memory, whole, MADV_HUGEPAGE);
  return memory;
}

Limits::Memory Limits::memory(std::size_t inputBytes, std::size_t outputBytes) const {
  const double written = double(outputBytes) / double(inputBytes + outputBytes);
  if (written < 1 / 6.) return {"read", read};
  return written < 5 / 12. ? Memory{"add", add} : Memory{"copy", copy};
}

Limits measureLimits() {
  Limits limits;
  measureMemory(limits);
  limits.flopsPerSecond = fmaRate();
  return limits;
}

}  // namespace bench
