// SPDX-License-Identifier: Apache-2.0
void transposeOpenmp(const float *in, float *out, int n) {
#pragma omp parallel for collapse(2)
  for (int y0 = 0; y0 < n; y0 += 32)
    for (int x0 = 0; x0 < n; x0 += 32)
      for (int x = x0; x < x0 + 32; ++x)
#pragma omp simd
        for (int y = y0; y < y0 + 32; ++y) out[(long)x * n + y] = in[(long)y * n + x];
}
