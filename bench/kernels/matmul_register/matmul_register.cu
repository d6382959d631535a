// SPDX-License-Identifier: Apache-2.0
// 64×64 tiles of C a block of 16×16 threads, 4×4 of them in each thread's registers.
#include "../case.h"

__global__ void matmulRegister(const float *a, const float *b, float *c, int n) {
  __shared__ float tileA[16][64], tileB[16][64];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int k = 0; k < n; k += 16) {
    for (int i = t; i < 1024; i += 256) {
      tileA[i % 16][i / 16] = a[(row + i / 16) * n + k + i % 16];
      tileB[i / 64][i % 64] = b[(k + i / 64) * n + column + i % 64];
    }
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x) sum[y][x] += tileA[i][ty * 4 + y] * tileB[i][tx + 16 * x];
    __syncthreads();
  }
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 4; ++x) c[(row + ty * 4 + y) * n + column + tx + 16 * x] = sum[y][x];
}

void matmulRegisterOpenmp(const float *a, const float *b, float *c, int n);

static int added = bench::addCase([] {
  const int n = bench::size(1024, 128);
  bench::Case c;
  c.name = "matmul_register";
  c.bytes = 12.0 * n * n;
  c.flops = 2.0 * n * n * n;
  c.arrays = {bench::Array::of(bench::randomFloats(n * n, -1, 1)), bench::Array::of(bench::randomFloats(n * n, -1, 1)), bench::Array::poisoned<float>(n * n)};
  c.cuda = [=](auto &p) { matmulRegister<<<dim3(n / 64, n / 64), dim3(16, 16)>>>((float *)p[0], (float *)p[1], (float *)p[2], n); };
  c.openmp = [=](auto &p) { matmulRegisterOpenmp((float *)p[0], (float *)p[1], (float *)p[2], n); };
  c.ispc = {n, 64};
  c.opencl = {{{"matmul_register", {n / 4, n / 4}, {16, 16}}}, bench::OpenCl::pack(n)};
  c.tolerance = 1e-3;
  return c;
});
