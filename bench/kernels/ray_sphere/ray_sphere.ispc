// SPDX-License-Identifier: Apache-2.0
export void ray_sphere_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform float *uniform spheres = (const uniform float *uniform)arrays[0];
  uniform float *uniform depth = (uniform float *uniform)arrays[1];
  for (uniform int py = begin; py < end; ++py)
    foreach (px = 0 ... n) {
      float dx = (px + 0.5f) / n - 0.5f, dy = (py + 0.5f) / n - 0.5f, dz = 1;
      float inverse = rsqrt(dx * dx + dy * dy + 1);
      dx *= inverse;
      dy *= inverse;
      dz *= inverse;
      float nearest = 1e30f;
      for (uniform int s = 0; s < 64; ++s) {
        uniform float x = spheres[4 * s], y = spheres[4 * s + 1], z = spheres[4 * s + 2], r = spheres[4 * s + 3];
        float along = x * dx + y * dy + z * dz;
        float room = r * r - (x * x + y * y + z * z - along * along);
        if (room > 0) {
          float t = along - sqrt(room);
          if (t > 0 && t < nearest) nearest = t;
        }
      }
      depth[py * n + px] = nearest;
    }
}
