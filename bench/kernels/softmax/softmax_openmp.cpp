// SPDX-License-Identifier: Apache-2.0
#include <cmath>

void softmaxOpenmp(const float *in, float *out, int rows, int columns) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const float *x = in + (long)r * columns;
    float *y = out + (long)r * columns;
    float highest = -1e30f, sum = 0;
#pragma omp simd reduction(max : highest)
    for (int c = 0; c < columns; ++c) highest = x[c] > highest ? x[c] : highest;
#pragma omp simd reduction(+ : sum)
    for (int c = 0; c < columns; ++c) {
      y[c] = expf(x[c] - highest);
      sum += y[c];
    }
    float scale = 1 / sum;
#pragma omp simd
    for (int c = 0; c < columns; ++c) y[c] *= scale;
  }
}
