// SPDX-License-Identifier: Apache-2.0
export void layernorm_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform int columns = 1024;
  const uniform float *uniform gain = (const uniform float *uniform)arrays[1], *uniform bias = (const uniform float *uniform)arrays[2];
  for (uniform int row = begin; row < end; ++row) {
    const uniform float *uniform x = (const uniform float *uniform)arrays[0] + row * columns;
    uniform float *uniform y = (uniform float *uniform)arrays[3] + row * columns;
    float sum = 0, squares = 0;
    foreach (c = 0 ... columns) sum += x[c];
    const uniform float mean = reduce_add(sum) / columns;
    foreach (c = 0 ... columns) squares += (x[c] - mean) * (x[c] - mean);
    const uniform float scale = 1 / sqrt(reduce_add(squares) / columns + 1e-5f);
    foreach (c = 0 ... columns) y[c] = (x[c] - mean) * scale * gain[c] + bias[c];
  }
}
