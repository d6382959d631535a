// SPDX-License-Identifier: Apache-2.0
// A row is widened once into a buffer that stays in the cache.
#include <immintrin.h>

#include <cmath>

void softmaxHalfOpenmp(const unsigned short *in, unsigned short *out, int rows, int columns) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const unsigned short *x = in + (long)r * columns;
    unsigned short *y = out + (long)r * columns;
    alignas(64) float row[1024];
    float highest = -1e30f, sum = 0;
    for (int c = 0; c < columns; c += 8)
      _mm256_store_ps(row + c, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(x + c))));
#pragma omp simd reduction(max : highest)
    for (int c = 0; c < columns; ++c) highest = row[c] > highest ? row[c] : highest;
#pragma omp simd reduction(+ : sum)
    for (int c = 0; c < columns; ++c) {
      row[c] = expf(row[c] - highest);
      sum += row[c];
    }
    __m256 scale = _mm256_set1_ps(1 / sum);
    for (int c = 0; c < columns; c += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i *>(y + c),
                       _mm256_cvtps_ph(_mm256_mul_ps(_mm256_load_ps(row + c), scale), _MM_FROUND_TO_NEAREST_INT));
  }
}
