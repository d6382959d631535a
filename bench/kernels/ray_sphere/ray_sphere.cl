// SPDX-License-Identifier: Apache-2.0
kernel void ray_sphere(global const float *spheres, global float *depth, int n, int count) {
  int px = get_global_id(0), py = get_global_id(1);
  float dx = (px + 0.5f) / n - 0.5f, dy = (py + 0.5f) / n - 0.5f, dz = 1, inverse = native_rsqrt(dx * dx + dy * dy + 1);
  dx *= inverse, dy *= inverse, dz *= inverse;
  float nearest = 1e30f;
  for (int s = 0; s < count; ++s) {
    float x = spheres[4 * s], y = spheres[4 * s + 1], z = spheres[4 * s + 2], r = spheres[4 * s + 3];
    float along = x * dx + y * dy + z * dz, miss = x * x + y * y + z * z - along * along;
    if (miss < r * r) {
      float t = along - sqrt(r * r - miss);
      if (t > 0 && t < nearest) nearest = t;
    }
  }
  depth[py * n + px] = nearest;
}
