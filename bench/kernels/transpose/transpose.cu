// SPDX-License-Identifier: Apache-2.0
#include "../case.h"

__global__ void transpose(const float *in, float *out, int n) {
  __shared__ float tile[32][33];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
  for (int r = 0; r < 32; r += 8) tile[ty + r][tx] = in[(y + r) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + tx;
  y = blockIdx.x * 32 + ty;
  for (int r = 0; r < 32; r += 8) out[(y + r) * n + x] = tile[tx][ty + r];
}

void transposeOpenmp(const float *in, float *out, int n);

static int added = bench::addCase([] {
  const int n = bench::size(4096, 256);
  bench::Case c;
  c.name = "transpose";
  c.bytes = 8.0 * n * n;
  c.arrays = {bench::Array::of(bench::randomFloats((size_t)n * n, -1, 1)), bench::Array::poisoned<float>((size_t)n * n)};
  c.cuda = [=](auto &p) { transpose<<<dim3(n / 32, n / 32), dim3(32, 8)>>>((float *)p[0], (float *)p[1], n); };
  c.openmp = [=](auto &p) { transposeOpenmp((float *)p[0], (float *)p[1], n); };
  c.ispc = {n, 32};
  c.opencl = {{{"transpose", {n, n / 4}, {32, 8}}}, bench::OpenCl::pack(n)};
  return c;
});
