// SPDX-License-Identifier: Apache-2.0
void stencil3dOpenmp(const float *in, float *out, int n) {
#pragma omp parallel for collapse(2)
  for (int z = 1; z < n - 1; ++z)
    for (int y = 1; y < n - 1; ++y)
#pragma omp simd
      for (int x = 1; x < n - 1; ++x) {
        int i = (z * n + y) * n + x;
        out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n]);
      }
}
