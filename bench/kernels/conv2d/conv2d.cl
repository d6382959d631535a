// SPDX-License-Identifier: Apache-2.0
kernel void conv2d(global const float *in, global const float *w, global float *out, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (int dy = 0; dy < 5; ++dy)
    for (int dx = 0; dx < 5; ++dx) {
      int sx = x + dx - 2, sy = y + dy - 2;
      if (sx >= 0 && sx < n && sy >= 0 && sy < n) sum += w[dy * 5 + dx] * in[sy * n + sx];
    }
  out[y * n + x] = sum;
}
