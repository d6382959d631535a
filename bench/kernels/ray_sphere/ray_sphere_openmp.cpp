// SPDX-License-Identifier: Apache-2.0
#include <cmath>

void raySphereOpenmp(const float *spheres, float *depth, int n, int count) {
#pragma omp parallel for
  for (int py = 0; py < n; ++py)
#pragma omp simd
    for (int px = 0; px < n; ++px) {
      float dx = (px + 0.5f) / n - 0.5f, dy = (py + 0.5f) / n - 0.5f, dz = 1,
            inverse = 1 / sqrtf(dx * dx + dy * dy + 1);
      dx *= inverse, dy *= inverse, dz *= inverse;
      float nearest = 1e30f;
      for (int s = 0; s < count; ++s) {
        float x = spheres[4 * s], y = spheres[4 * s + 1], z = spheres[4 * s + 2], r = spheres[4 * s + 3];
        float along = x * dx + y * dy + z * dz, room = r * r - (x * x + y * y + z * z - along * along);
        float t = along - sqrtf(room > 0 ? room : 0);
        nearest = room > 0 && t > 0 && t < nearest ? t : nearest;
      }
      depth[py * n + px] = nearest;
    }
}
