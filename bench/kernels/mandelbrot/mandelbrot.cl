// SPDX-License-Identifier: Apache-2.0
kernel void mandelbrot(global int *out, int width, int iterations) {
  int px = get_global_id(0), py = get_global_id(1);
  float cx = -2.2f + 3.0f * px / width, cy = -1.5f + 3.0f * py / width, x = 0, y = 0;
  int i = 0;
  for (; i < iterations && x * x + y * y < 4; ++i) {
    float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
  }
  out[py * width + px] = i;
}
