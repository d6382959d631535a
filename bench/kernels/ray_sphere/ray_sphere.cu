// SPDX-License-Identifier: Apache-2.0
// Rays through a scene of spheres: the nearest hit's distance; the branches differ from lane to lane.
#include "../case.h"

constexpr int kSpheres = 64;

__global__ void raySphere(const float *spheres, float *depth, int n) {
  int px = blockIdx.x * 32 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y;
  float dx = (px + 0.5f) / n - 0.5f, dy = (py + 0.5f) / n - 0.5f, dz = 1, inverse = rsqrtf(dx * dx + dy * dy + 1);
  dx *= inverse, dy *= inverse, dz *= inverse;
  float nearest = 1e30f;
  for (int s = 0; s < kSpheres; ++s) {
    float x = spheres[4 * s], y = spheres[4 * s + 1], z = spheres[4 * s + 2], r = spheres[4 * s + 3];
    float along = x * dx + y * dy + z * dz, miss = x * x + y * y + z * z - along * along;
    if (miss < r * r) {
      float t = along - sqrtf(r * r - miss);
      if (t > 0 && t < nearest) nearest = t;
    }
  }
  depth[py * n + px] = nearest;
}

void raySphereOpenmp(const float *spheres, float *depth, int n, int count);

static int added = bench::addCase([] {
  const int n = bench::size(1024, 128);
  auto spheres = bench::randomFloats(4 * kSpheres, -1, 1);
  for (int s = 0; s < kSpheres; ++s) spheres[4 * s + 2] += 3, spheres[4 * s + 3] = 0.1f + 0.1f * (spheres[4 * s + 3] + 1);
  bench::Case c;
  c.name = "ray_sphere";
  c.bytes = 4.0 * n * n;
  c.flops = 14.0 * n * n * kSpheres;
  c.arrays = {bench::Array::of(spheres), bench::Array::poisoned<float>(n * n)};
  c.cuda = [=](auto &p) { raySphere<<<dim3(n / 32, n / 8), dim3(32, 8)>>>((float *)p[0], (float *)p[1], n); };
  c.openmp = [=](auto &p) { raySphereOpenmp((float *)p[0], (float *)p[1], n, kSpheres); };
  c.ispc = {n, 16};
  c.opencl = {{{"ray_sphere", {n, n}, {32, 8}}}, bench::OpenCl::pack(n, kSpheres)};
  c.tolerance = 1e-3;
  c.mayDiffer = 0.001;  // a ray at a sphere's edge
  return c;
});
