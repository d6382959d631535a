// SPDX-License-Identifier: Apache-2.0
export void nbody_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform float *uniform bodies = (const uniform float *uniform)arrays[0];
  uniform float *uniform out = (uniform float *uniform)arrays[1];
  foreach (i = begin ... end) {
    float x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2], ax = 0, ay = 0, az = 0;
    for (uniform int k = 0; k < n; ++k) {
      float dx = bodies[4 * k] - x, dy = bodies[4 * k + 1] - y, dz = bodies[4 * k + 2] - z;
      float r = rsqrt(dx * dx + dy * dy + dz * dz + 1e-3f);
      float s = bodies[4 * k + 3] * r * r * r;
      ax += dx * s;
      ay += dy * s;
      az += dz * s;
    }
    out[4 * i] = ax;
    out[4 * i + 1] = ay;
    out[4 * i + 2] = az;
    out[4 * i + 3] = 0;
  }
}
