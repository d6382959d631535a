// SPDX-License-Identifier: Apache-2.0
#include "../case.h"

__global__ void stencil3d(const float *in, float *out, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  int i = (z * n + y) * n + x;
  out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n]);
}

void stencil3dOpenmp(const float *in, float *out, int n);

static int added = bench::addCase([] {
  const int n = bench::size(256, 32);
  const size_t count = (size_t)n * n * n;
  bench::Case c;
  c.name = "stencil3d";
  c.bytes = 8.0 * count;
  c.flops = 8.0 * count;
  bench::Array out = bench::Array::of(std::vector<float>(count));
  out.output = true;
  c.arrays = {bench::Array::of(bench::randomFloats(count, -1, 1)), out};
  c.cuda = [=](auto &p) { stencil3d<<<dim3(n / 32, n / 8, n), dim3(32, 8)>>>((float *)p[0], (float *)p[1], n); };
  c.openmp = [=](auto &p) { stencil3dOpenmp((float *)p[0], (float *)p[1], n); };
  c.ispc = {n, 4};
  c.opencl = {{{"stencil3d", {n, n, n}, {32, 8, 1}}}, bench::OpenCl::pack(n)};
  c.tolerance = 1e-6;
  return c;
});
