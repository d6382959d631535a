// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

typedef unsigned Vector __attribute__((vector_size(64)));
constexpr int kLanes = sizeof(Vector) / sizeof(unsigned);

// The same network by hand, strides up to 512 on chunks that stay in the first-level cache.
static void merge(unsigned *keys, int first, int count, int size, int stride) {
  for (int base = first; base < first + count; base += 2 * stride) {
    bool up = (base & size) == 0;
    unsigned *low = keys + base, *high = low + stride;
#pragma omp simd
    for (int i = 0; i < stride; ++i) {
      unsigned small = std::min(low[i], high[i]), large = std::max(low[i], high[i]);
      low[i] = up ? small : large;
      high[i] = up ? large : small;
    }
  }
}

// All strides below a vector's width, in registers.
static void mergeInVectors(unsigned *keys, int first, int count, int size) {
  Vector lane;
  for (int l = 0; l < kLanes; ++l) lane[l] = l;
  for (int base = first; base < first + count; base += kLanes) {
    Vector value;
    std::memcpy(&value, keys + base, sizeof value);
    const auto up = ((lane + base) & size) == 0;
    for (int stride = std::min(size, kLanes) / 2; stride; stride /= 2) {
      const Vector other = __builtin_shuffle(value, lane ^ stride);
      const auto keepsSmall = (((lane & stride) == 0) == up);
      value = (value < other) == keepsSmall ? value : other;
    }
    std::memcpy(keys + base, &value, sizeof value);
  }
}

static void mergeChunk(unsigned *keys, int base, int chunk, int size) {
  for (int stride = std::min(size, chunk) / 2; stride >= kLanes; stride /= 2) merge(keys, base, chunk, size, stride);
  mergeInVectors(keys, base, chunk, size);
}

void bitonicOpenmp(const unsigned *in, unsigned *out, int n) {
  constexpr int kChunk = 1024;
  std::memcpy(out, in, 4ul * n);
#pragma omp parallel for
  for (int base = 0; base < n; base += kChunk)
    for (int size = 2; size <= kChunk; size *= 2) mergeChunk(out, base, kChunk, size);
  for (int size = 2 * kChunk; size <= n; size *= 2) {
    for (int stride = size / 2; stride >= kChunk; stride /= 2)
#pragma omp parallel for
      for (int base = 0; base < n; base += 2 * stride) merge(out, base, 2 * stride, size, stride);
#pragma omp parallel for
    for (int base = 0; base < n; base += kChunk) mergeChunk(out, base, kChunk, size);
  }
}
