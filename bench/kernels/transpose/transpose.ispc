// SPDX-License-Identifier: Apache-2.0
export void transpose_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform float *uniform source = (const uniform float *uniform)arrays[0];
  uniform float *uniform out = (uniform float *uniform)arrays[1];
  for (uniform int y0 = begin; y0 < end; y0 += 32)
    for (uniform int x0 = 0; x0 < n; x0 += 32)
      for (uniform int x = x0; x < x0 + 32; ++x)
        foreach (y = y0 ... y0 + 32) out[x * n + y] = source[y * n + x];
}
