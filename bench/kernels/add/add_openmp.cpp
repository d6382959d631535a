// SPDX-License-Identifier: Apache-2.0
void addOpenmp(const float *a, const float *b, float *c, int n) {
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
}
