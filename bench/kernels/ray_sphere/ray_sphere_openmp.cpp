// SPDX-License-Identifier: Apache-2.0
#include <cmath>

// Sixteen pixels of a row at once: one loop over all pixels of a row around that over the spheres is not vectorised by
// g++.
constexpr int kPixels = 16;

static void trace(const float *spheres, float *depth, int n, int count, int px, int py) {
  float dx[kPixels], dy[kPixels], dz[kPixels], nearest[kPixels];
#pragma omp simd
  for (int k = 0; k < kPixels; ++k) {
    const float x = (px + k + 0.5f) / n - 0.5f, y = (py + 0.5f) / n - 0.5f;
    const float inverse = 1 / sqrtf(x * x + y * y + 1);
    dx[k] = x * inverse, dy[k] = y * inverse, dz[k] = inverse;
    nearest[k] = 1e30f;
  }
  for (int s = 0; s < count; ++s) {
    const float x = spheres[4 * s], y = spheres[4 * s + 1], z = spheres[4 * s + 2], r = spheres[4 * s + 3];
    const float rest = r * r - (x * x + y * y + z * z);
#pragma omp simd
    for (int k = 0; k < kPixels; ++k) {
      const float along = x * dx[k] + y * dy[k] + z * dz[k], room = rest + along * along;
      const float t = along - sqrtf(room > 0 ? room : 0);
      nearest[k] = (room > 0) & (t > 0) & (t < nearest[k]) ? t : nearest[k];
    }
  }
  const int last = n - px < kPixels ? n - px : kPixels;
  for (int k = 0; k < last; ++k) depth[py * n + px + k] = nearest[k];
}

void raySphereOpenmp(const float *spheres, float *depth, int n, int count) {
#pragma omp parallel for
  for (int py = 0; py < n; ++py)
    for (int px = 0; px < n; px += kPixels) trace(spheres, depth, n, count, px, py);
}
