// SPDX-License-Identifier: Apache-2.0
// One warp a row.
#include "../case.h"

__device__ float warpSum(float v) {
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

__global__ void layernorm(const float *in, const float *gain, const float *bias, float *out, int columns) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  const float *x = in + (size_t)row * columns;
  float *y = out + (size_t)row * columns, sum = 0, squares = 0;
  for (int c = threadIdx.x; c < columns; c += 32) sum += x[c];
  float mean = warpSum(sum) / columns;
  for (int c = threadIdx.x; c < columns; c += 32) squares += (x[c] - mean) * (x[c] - mean);
  float scale = rsqrtf(warpSum(squares) / columns + 1e-5f);
  for (int c = threadIdx.x; c < columns; c += 32) y[c] = (x[c] - mean) * scale * gain[c] + bias[c];
}

void layernormOpenmp(const float *in, const float *gain, const float *bias, float *out, int rows, int columns);

static int added = bench::addCase([] {
  const int rows = bench::size(8192, 64), columns = 1024;
  bench::Case c;
  c.name = "layernorm";
  c.bytes = 8.0 * rows * columns;
  c.flops = 8.0 * rows * columns;
  c.arrays = {bench::Array::of(bench::randomFloats((size_t)rows * columns, -5, 5)), bench::Array::of(bench::randomFloats(columns, 0.5f, 2)),
              bench::Array::of(bench::randomFloats(columns, -1, 1)), bench::Array::poisoned<float>((size_t)rows * columns)};
  c.cuda = [=](auto &p) { layernorm<<<rows / 8, dim3(32, 8)>>>((float *)p[0], (float *)p[1], (float *)p[2], (float *)p[3], columns); };
  c.openmp = [=](auto &p) { layernormOpenmp((float *)p[0], (float *)p[1], (float *)p[2], (float *)p[3], rows, columns); };
  c.ispc = {rows, 64};
  c.opencl = {{{"layernorm", {rows}, {8}}}, bench::OpenCl::pack(columns)};
  c.tolerance = 1e-4;
  return c;
});
