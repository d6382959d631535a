// SPDX-License-Identifier: Apache-2.0
// A tile's rows of C in registers, one vector of columns at a time.
#define ROWS 16

export void matmul32_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform float *uniform a = (const uniform float *uniform)arrays[0], *uniform b = (const uniform float *uniform)arrays[1];
  uniform float *uniform c = (uniform float *uniform)arrays[2];
  for (uniform int row = begin; row < end; row += ROWS)
    foreach (x = 0 ... n) {
      float sum[ROWS];
      for (uniform int y = 0; y < ROWS; ++y) sum[y] = 0;
      for (uniform int k = 0; k < n; ++k) {
        float right = b[k * n + x];
        for (uniform int y = 0; y < ROWS; ++y) sum[y] += a[(row + y) * n + k] * right;
      }
      for (uniform int y = 0; y < ROWS; ++y) c[(row + y) * n + x] = sum[y];
    }
}
