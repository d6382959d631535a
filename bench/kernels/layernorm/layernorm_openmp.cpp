// SPDX-License-Identifier: Apache-2.0
#include <cmath>

void layernormOpenmp(const float *in, const float *gain, const float *bias, float *out, int rows, int columns) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const float *x = in + (long)r * columns;
    float *y = out + (long)r * columns, sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
    for (int c = 0; c < columns; ++c) sum += x[c];
    float mean = sum / columns;
#pragma omp simd reduction(+ : squares)
    for (int c = 0; c < columns; ++c) squares += (x[c] - mean) * (x[c] - mean);
    float scale = 1 / sqrtf(squares / columns + 1e-5f);
#pragma omp simd
    for (int c = 0; c < columns; ++c) y[c] = (x[c] - mean) * scale * gain[c] + bias[c];
  }
}
