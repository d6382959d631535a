// SPDX-License-Identifier: Apache-2.0
export void mandelbrot_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  uniform int *uniform out = (uniform int *uniform)arrays[0];
  for (uniform int py = begin; py < end; ++py) {
    uniform float cy = -1.5f + 3.0f * py / n;
    foreach (px = 0 ... n) {
      float cx = -2.2f + 3.0f * px / n, x = 0, y = 0;
      int i = 0;
      for (; i < 256; ++i) {
        if (x * x + y * y >= 4) break;
        float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
      }
      out[py * n + px] = i;
    }
  }
}
