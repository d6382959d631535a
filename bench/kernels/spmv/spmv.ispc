// SPDX-License-Identifier: Apache-2.0
export void spmv_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform int *uniform start = (const uniform int *uniform)arrays[0], *uniform columns = (const uniform int *uniform)arrays[1];
  const uniform float *uniform values = (const uniform float *uniform)arrays[2], *uniform x = (const uniform float *uniform)arrays[3];
  uniform float *uniform y = (uniform float *uniform)arrays[4];
  for (uniform int row = begin; row < end; ++row) {
    float sum = 0;
    foreach (i = start[row] ... start[row + 1]) sum += values[i] * x[columns[i]];
    y[row] = reduce_add(sum);
  }
}
