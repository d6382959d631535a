// SPDX-License-Identifier: Apache-2.0
export void softmax_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform int columns = 1024;
  for (uniform int row = begin; row < end; ++row) {
    const uniform float *uniform x = (const uniform float *uniform)arrays[0] + row * columns;
    uniform float *uniform y = (uniform float *uniform)arrays[1] + row * columns;
    float top = -1e30f, sum = 0;
    foreach (c = 0 ... columns) top = max(top, x[c]);
    const uniform float highest = reduce_max(top);
    foreach (c = 0 ... columns) {
      float e = exp(x[c] - highest);
      y[c] = e;
      sum += e;
    }
    const uniform float scale = 1 / reduce_add(sum);
    foreach (c = 0 ... columns) y[c] *= scale;
  }
}
