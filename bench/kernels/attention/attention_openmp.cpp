// SPDX-License-Identifier: Apache-2.0
#include <cmath>

constexpr int kDim = 64;

void attentionOpenmp(const float *q, const float *k, const float *v, float *scores, float *out, int n) {
#pragma omp parallel for
  for (int row = 0; row < n; ++row) {
    float *s = scores + (long)row * n, highest = -1e30f, sum = 0, acc[kDim] = {};
    for (int j = 0; j < n; ++j) s[j] = 0;
    for (int d = 0; d < kDim; ++d) {
      float left = q[row * kDim + d] * 0.125f;
#pragma omp simd
      for (int j = 0; j < n; ++j) s[j] += left * k[d * n + j];
    }
#pragma omp simd reduction(max : highest)
    for (int j = 0; j < n; ++j) highest = s[j] > highest ? s[j] : highest;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < n; ++j) {
      s[j] = expf(s[j] - highest);
      sum += s[j];
    }
    for (int j = 0; j < n; ++j)
#pragma omp simd
      for (int d = 0; d < kDim; ++d) acc[d] += s[j] * v[j * kDim + d];
    for (int d = 0; d < kDim; ++d) out[row * kDim + d] = acc[d] / sum;
  }
}
