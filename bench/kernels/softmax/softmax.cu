// SPDX-License-Identifier: Apache-2.0
// One warp a row.
#include "../case.h"

__global__ void softmax(const float *in, float *out, int columns) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  const float *x = in + (size_t)row * columns;
  float *y = out + (size_t)row * columns;
  float highest = -1e30f, sum = 0;
  for (int c = threadIdx.x; c < columns; c += 32) highest = fmaxf(highest, x[c]);
  for (int o = 16; o; o /= 2) highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, o));
  for (int c = threadIdx.x; c < columns; c += 32) {
    float e = __expf(x[c] - highest);
    y[c] = e;
    sum += e;
  }
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  float scale = 1 / sum;
  for (int c = threadIdx.x; c < columns; c += 32) y[c] *= scale;
}

void softmaxOpenmp(const float *in, float *out, int rows, int columns);

static int added = bench::addCase([] {
  const int rows = bench::size(8192, 64), columns = 1024;
  bench::Case c;
  c.name = "softmax";
  c.bytes = 8.0 * rows * columns;
  c.flops = 15.0 * rows * columns;
  c.arrays = {bench::Array::of(bench::randomFloats((size_t)rows * columns, -5, 5)), bench::Array::poisoned<float>((size_t)rows * columns)};
  c.cuda = [=](auto &p) { softmax<<<rows / 8, dim3(32, 8)>>>((float *)p[0], (float *)p[1], columns); };
  c.openmp = [=](auto &p) { softmaxOpenmp((float *)p[0], (float *)p[1], rows, columns); };
  c.ispc = {rows, 64};
  c.opencl = {{{"softmax", {rows}, {8}}}, bench::OpenCl::pack(columns)};
  c.tolerance = 1e-6;
  return c;
});
