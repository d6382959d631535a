// SPDX-License-Identifier: Apache-2.0
kernel void spmv(global const int *start, global const int *columns, global const float *values, global const float *x, global float *y, int rows) {
  int row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0;
  for (int i = start[row]; i < start[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}
