// SPDX-License-Identifier: Apache-2.0
#include "../case.h"

constexpr int kBlock = 256;

__global__ void nbody(const float4 *bodies, float4 *out, int n) {
  __shared__ float4 tile[kBlock];
  int i = blockIdx.x * kBlock + threadIdx.x;
  float4 self = bodies[i];
  float ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += kBlock) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < kBlock; ++k) {
      float dx = tile[k].x - self.x, dy = tile[k].y - self.y, dz = tile[k].z - self.z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), s = tile[k].w * r * r * r;
      ax += dx * s;
      ay += dy * s;
      az += dz * s;
    }
    __syncthreads();
  }
  out[i] = make_float4(ax, ay, az, 0);
}

void nbodyOpenmp(const float *bodies, float *out, int n);

static int added = bench::addCase([] {
  const int n = bench::size(16384, 1024);
  bench::Case c;
  c.name = "nbody";
  c.bytes = 32.0 * n;
  c.flops = 20.0 * n * n;
  c.arrays = {bench::Array::of(bench::randomFloats(4 * n, 0, 1)), bench::Array::poisoned<float>(4 * n)};
  c.cuda = [=](auto &p) { nbody<<<n / kBlock, kBlock>>>((float4 *)p[0], (float4 *)p[1], n); };
  c.openmp = [=](auto &p) { nbodyOpenmp((float *)p[0], (float *)p[1], n); };
  c.ispc = {n, 256};
  c.opencl = {{{"nbody", {n}, {kBlock}}}, bench::OpenCl::pack(n)};
  c.tolerance = 1e-3;
  return c;
});
