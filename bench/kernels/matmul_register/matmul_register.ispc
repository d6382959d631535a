// SPDX-License-Identifier: Apache-2.0
// 8 rows of C and two vectors of columns in registers.
#define ROWS 8

export void matmul_register_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform float *uniform a = (const uniform float *uniform)arrays[0], *uniform b = (const uniform float *uniform)arrays[1];
  uniform float *uniform c = (uniform float *uniform)arrays[2];
  for (uniform int column = 0; column < n; column += 2 * programCount)
    for (uniform int row = begin; row < end; row += ROWS) {
      const int x = column + programIndex;
      float left[ROWS], right[ROWS];
      for (uniform int y = 0; y < ROWS; ++y) left[y] = right[y] = 0;
      for (uniform int k = 0; k < n; ++k) {
        float first = b[k * n + x], second = b[k * n + x + programCount];
        for (uniform int y = 0; y < ROWS; ++y) {
          left[y] += a[(row + y) * n + k] * first;
          right[y] += a[(row + y) * n + k] * second;
        }
      }
      for (uniform int y = 0; y < ROWS; ++y) {
        c[(row + y) * n + x] = left[y];
        c[(row + y) * n + x + programCount] = right[y];
      }
    }
}
