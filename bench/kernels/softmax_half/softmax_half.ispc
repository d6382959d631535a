// SPDX-License-Identifier: Apache-2.0
export void softmax_half_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform int columns = 1024;
  for (uniform int row = begin; row < end; ++row) {
    const uniform int16 *uniform x = (const uniform int16 *uniform)arrays[0] + row * columns;
    uniform int16 *uniform y = (uniform int16 *uniform)arrays[1] + row * columns;
    uniform float wide[1024];
    float top = -1e30f, sum = 0;
    foreach (c = 0 ... columns) {
      float v = half_to_float(x[c]);
      wide[c] = v;
      top = max(top, v);
    }
    const uniform float highest = reduce_max(top);
    foreach (c = 0 ... columns) {
      float e = exp(wide[c] - highest);
      wide[c] = e;
      sum += e;
    }
    const uniform float scale = 1 / reduce_add(sum);
    foreach (c = 0 ... columns) y[c] = float_to_half(wide[c] * scale);
  }
}
