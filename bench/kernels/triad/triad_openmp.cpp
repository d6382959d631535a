// SPDX-License-Identifier: Apache-2.0
void triadOpenmp(const float *a, const float *b, float *c, float scale, int n) {
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i) c[i] = a[i] + scale * b[i];
}
