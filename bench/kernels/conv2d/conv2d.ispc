// SPDX-License-Identifier: Apache-2.0
// The border with conditions, the inside without.
export void conv2d_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform float *uniform source = (const uniform float *uniform)arrays[0], *uniform w = (const uniform float *uniform)arrays[1];
  uniform float *uniform out = (uniform float *uniform)arrays[2];
  for (uniform int y = begin; y < end; ++y) {
    const uniform bool inside = y >= 2 && y < n - 2;
    if (inside)
      foreach (x = 2 ... n - 2) {
        float sum = 0;
        for (uniform int dy = 0; dy < 5; ++dy)
          for (uniform int dx = 0; dx < 5; ++dx) sum += w[dy * 5 + dx] * source[(y + dy - 2) * n + x + dx - 2];
        out[y * n + x] = sum;
      }
    for (uniform int x = 0; x < n; x += inside && x == 1 ? n - 3 : 1) {
      uniform float sum = 0;
      for (uniform int dy = max(0, 2 - y); dy < min(5, n + 2 - y); ++dy)
        for (uniform int dx = max(0, 2 - x); dx < min(5, n + 2 - x); ++dx) sum += w[dy * 5 + dx] * source[(y + dy - 2) * n + x + dx - 2];
      out[y * n + x] = sum;
    }
  }
}
