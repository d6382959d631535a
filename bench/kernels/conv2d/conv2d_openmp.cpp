// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

// The border by itself, so that the inside has no conditions.
static void pixel(const float *in, const float *w, float *out, int n, int x, int y) {
  float sum = 0;
  for (int dy = std::max(0, 2 - y); dy < std::min(5, n + 2 - y); ++dy)
    for (int dx = std::max(0, 2 - x); dx < std::min(5, n + 2 - x); ++dx)
      sum += w[dy * 5 + dx] * in[(y + dy - 2) * n + x + dx - 2];
  out[y * n + x] = sum;
}

void conv2dOpenmp(const float *in, const float *w, float *out, int n) {
#pragma omp parallel for
  for (int y = 0; y < n; ++y) {
    bool inside = y >= 2 && y < n - 2;
    for (int x = 0; x < n; x += inside && x == 2 ? n - 4 : 1) {
      if (!inside || x != 2) {
        pixel(in, w, out, n, x, y);
        continue;
      }
#pragma omp simd
      for (int i = 2; i < n - 2; ++i) {
        float sum = 0;
        for (int dy = 0; dy < 5; ++dy)
          for (int dx = 0; dx < 5; ++dx) sum += w[dy * 5 + dx] * in[(y + dy - 2) * n + i + dx - 2];
        out[y * n + i] = sum;
      }
    }
  }
}
