// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

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

void bitonicOpenmp(const unsigned *in, unsigned *out, int n) {
  constexpr int kChunk = 1024;
  std::memcpy(out, in, 4ul * n);
#pragma omp parallel for
  for (int base = 0; base < n; base += kChunk)
    for (int size = 2; size <= kChunk; size *= 2)
      for (int stride = size / 2; stride; stride /= 2) merge(out, base, kChunk, size, stride);
  for (int size = 2 * kChunk; size <= n; size *= 2) {
    for (int stride = size / 2; stride >= kChunk; stride /= 2)
#pragma omp parallel for
      for (int base = 0; base < n; base += 2 * stride) merge(out, base, 2 * stride, size, stride);
#pragma omp parallel for
    for (int base = 0; base < n; base += kChunk)
      for (int stride = kChunk / 2; stride; stride /= 2) merge(out, base, kChunk, size, stride);
  }
}
