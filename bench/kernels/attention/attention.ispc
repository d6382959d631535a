// SPDX-License-Identifier: Apache-2.0
#define DIM 64

export void attention_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform float *uniform q = (const uniform float *uniform)arrays[0], *uniform k = (const uniform float *uniform)arrays[1];
  const uniform float *uniform v = (const uniform float *uniform)arrays[2];
  uniform float *uniform out = (uniform float *uniform)arrays[4];
  for (uniform int row = begin; row < end; ++row) {
    uniform float *uniform s = (uniform float *uniform)arrays[3] + row * n;
    float top = -1e30f, total = 0;
    foreach (j = 0 ... n) {
      float dot = 0;
      for (uniform int d = 0; d < DIM; ++d) dot += q[row * DIM + d] * k[d * n + j];
      dot *= 0.125f;
      s[j] = dot;
      top = max(top, dot);
    }
    const uniform float highest = reduce_max(top);
    foreach (j = 0 ... n) {
      float e = exp(s[j] - highest);
      s[j] = e;
      total += e;
    }
    const uniform float sum = reduce_add(total);
    float acc[DIM / programCount];
    for (uniform int d = 0; d < DIM / programCount; ++d) acc[d] = 0;
    for (uniform int j = 0; j < n; ++j)
      for (uniform int d = 0; d < DIM / programCount; ++d) acc[d] += s[j] * v[j * DIM + d * programCount + programIndex];
    for (uniform int d = 0; d < DIM / programCount; ++d) out[row * DIM + d * programCount + programIndex] = acc[d] / sum;
  }
}
