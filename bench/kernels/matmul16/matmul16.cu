// SPDX-License-Identifier: Apache-2.0
#include "../case.h"

constexpr int kTile = 16;

__global__ void matmul16(const float *a, const float *b, float *c, int n) {
  __shared__ float tileA[kTile][kTile], tileB[kTile][kTile];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    tileA[y][x] = a[row * n + k + x];
    tileB[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tileA[y][i] * tileB[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

void matmul16Openmp(const float *a, const float *b, float *c, int n);

static int added = bench::addCase([] {
  const int n = bench::size(1024, 128);
  bench::Case c;
  c.name = "matmul16";
  c.bytes = 12.0 * n * n;
  c.flops = 2.0 * n * n * n;
  c.arrays = {bench::Array::of(bench::randomFloats(n * n, -1, 1)), bench::Array::of(bench::randomFloats(n * n, -1, 1)), bench::Array::poisoned<float>(n * n)};
  c.cuda = [=](auto &p) { matmul16<<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>((float *)p[0], (float *)p[1], (float *)p[2], n); };
  c.openmp = [=](auto &p) { matmul16Openmp((float *)p[0], (float *)p[1], (float *)p[2], n); };
  c.ispc = {n, 16};
  c.opencl = {{{"matmul16", {n, n}, {kTile, kTile}}}, bench::OpenCl::pack(n)};
  c.tolerance = 1e-3;
  return c;
});
