// SPDX-License-Identifier: Apache-2.0
#include <cmath>

// A vector of bodies against every other body; 1/sqrt becomes vrsqrt14 and a Newton step under -ffast-math.
void nbodyOpenmp(const float *bodies, float *out, int n) {
  constexpr int kLanes = 32;
#pragma omp parallel for
  for (int i = 0; i < n; i += kLanes) {
    float x[kLanes], y[kLanes], z[kLanes], ax[kLanes] = {}, ay[kLanes] = {}, az[kLanes] = {};
    for (int l = 0; l < kLanes; ++l)
      x[l] = bodies[4 * (i + l)], y[l] = bodies[4 * (i + l) + 1], z[l] = bodies[4 * (i + l) + 2];
    for (int k = 0; k < n; ++k) {
      float bx = bodies[4 * k], by = bodies[4 * k + 1], bz = bodies[4 * k + 2], mass = bodies[4 * k + 3];
#pragma omp simd
      for (int l = 0; l < kLanes; ++l) {
        float dx = bx - x[l], dy = by - y[l], dz = bz - z[l];
        float r = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), s = mass * r * r * r;
        ax[l] += dx * s;
        ay[l] += dy * s;
        az[l] += dz * s;
      }
    }
    for (int l = 0; l < kLanes; ++l)
      out[4 * (i + l)] = ax[l], out[4 * (i + l) + 1] = ay[l], out[4 * (i + l) + 2] = az[l], out[4 * (i + l) + 3] = 0;
  }
}
