// SPDX-License-Identifier: Apache-2.0
#include "../case.h"

__global__ void triad(const float *a, const float *b, float *c, float scale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + scale * b[i];
}

void triadOpenmp(const float *a, const float *b, float *c, float scale, int n);

static int added = bench::addCase([] {
  const int n = bench::size(1 << 25, 1 << 16);
  const float scale = 1.5f;
  bench::Case c;
  c.name = "triad";
  c.bytes = 12.0 * n;
  c.flops = 2.0 * n;
  c.arrays = {bench::Array::of(bench::randomFloats(n, -1, 1)), bench::Array::of(bench::randomFloats(n, -1, 1)), bench::Array::poisoned<float>(n)};
  c.cuda = [=](auto &p) { triad<<<(n + 255) / 256, 256>>>((float *)p[0], (float *)p[1], (float *)p[2], scale, n); };
  c.openmp = [=](auto &p) { triadOpenmp((float *)p[0], (float *)p[1], (float *)p[2], scale, n); };
  c.ispc = {n, 1 << 18};
  c.opencl = {{{"triad", {n}, {256}}}, bench::OpenCl::pack(scale, n)};
  c.tolerance = 1e-6;
  return c;
});
