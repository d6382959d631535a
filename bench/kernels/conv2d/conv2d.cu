// SPDX-License-Identifier: Apache-2.0
// 5×5 convolution of one channel, zero outside.
#include "../case.h"

__global__ void conv2d(const float *in, const float *w, float *out, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float sum = 0;
  for (int dy = 0; dy < 5; ++dy)
    for (int dx = 0; dx < 5; ++dx) {
      int sx = x + dx - 2, sy = y + dy - 2;
      if (sx >= 0 && sx < n && sy >= 0 && sy < n) sum += w[dy * 5 + dx] * in[sy * n + sx];
    }
  out[y * n + x] = sum;
}

void conv2dOpenmp(const float *in, const float *w, float *out, int n);

static int added = bench::addCase([] {
  const int n = bench::size(2048, 128);
  bench::Case c;
  c.name = "conv2d";
  c.bytes = 8.0 * n * n;
  c.flops = 50.0 * n * n;
  c.arrays = {bench::Array::of(bench::randomFloats(n * n, -1, 1)), bench::Array::of(bench::randomFloats(25, -1, 1)), bench::Array::poisoned<float>(n * n)};
  c.cuda = [=](auto &p) { conv2d<<<dim3(n / 32, n / 8), dim3(32, 8)>>>((float *)p[0], (float *)p[1], (float *)p[2], n); };
  c.openmp = [=](auto &p) { conv2dOpenmp((float *)p[0], (float *)p[1], (float *)p[2], n); };
  c.ispc = {n, 32};
  c.opencl = {{{"conv2d", {n, n}, {32, 8}}}, bench::OpenCl::pack(n)};
  c.tolerance = 1e-4;
  return c;
});
