// SPDX-License-Identifier: Apache-2.0
#include "../case.h"

__global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

void addOpenmp(const float *a, const float *b, float *c, int n);

static int added = bench::addCase([] {
  const int n = bench::size(1 << 25, 1 << 16);
  bench::Case c;
  c.name = "add";
  c.bytes = 12.0 * n;
  c.flops = n;
  c.arrays = {bench::Array::of(bench::randomFloats(n, -1, 1)), bench::Array::of(bench::randomFloats(n, -1, 1)), bench::Array::poisoned<float>(n)};
  c.cuda = [=](auto &p) { add<<<(n + 255) / 256, 256>>>((float *)p[0], (float *)p[1], (float *)p[2], n); };
  c.openmp = [=](auto &p) { addOpenmp((float *)p[0], (float *)p[1], (float *)p[2], n); };
  c.ispc = {n, 1 << 18};
  c.opencl = {{{"add", {n}, {256}}}, bench::OpenCl::pack(n)};
  return c;
});
