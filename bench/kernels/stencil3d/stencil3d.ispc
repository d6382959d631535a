// SPDX-License-Identifier: Apache-2.0
export void stencil3d_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform float *uniform source = (const uniform float *uniform)arrays[0];
  uniform float *uniform out = (uniform float *uniform)arrays[1];
  for (uniform int z = max(begin, 1); z < min(end, n - 1); ++z)
    for (uniform int y = 1; y < n - 1; ++y)
      foreach (x = 1 ... n - 1) {
        int i = (z * n + y) * n + x;
        out[i] = 0.4f * source[i] + 0.1f * (source[i - 1] + source[i + 1] + source[i - n] + source[i + n] + source[i - n * n] + source[i + n * n]);
      }
}
