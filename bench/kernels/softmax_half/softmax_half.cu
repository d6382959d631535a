// SPDX-License-Identifier: Apache-2.0
// One warp a row, two columns a lane; halves in memory, floats in registers.
#include <cuda_fp16.h>

#include "../case.h"

__global__ void softmaxHalf(const __half2 *in, __half2 *out, int columns) {
  int row = blockIdx.x * blockDim.y + threadIdx.y, pairs = columns / 2;
  const __half2 *x = in + (size_t)row * pairs;
  __half2 *y = out + (size_t)row * pairs;
  float highest = -1e30f, sum = 0;
  for (int c = threadIdx.x; c < pairs; c += 32) {
    float2 v = __half22float2(x[c]);
    highest = fmaxf(highest, fmaxf(v.x, v.y));
  }
  for (int o = 16; o; o /= 2) highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, o));
  for (int c = threadIdx.x; c < pairs; c += 32) {
    float2 v = __half22float2(x[c]);
    sum += __expf(v.x - highest) + __expf(v.y - highest);
  }
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  float scale = 1 / sum;
  for (int c = threadIdx.x; c < pairs; c += 32) {
    float2 v = __half22float2(x[c]);
    y[c] = __floats2half2_rn(__expf(v.x - highest) * scale, __expf(v.y - highest) * scale);
  }
}

void softmaxHalfOpenmp(const unsigned short *in, unsigned short *out, int rows, int columns);

static int added = bench::addCase([] {
  const int rows = bench::size(8192, 64), columns = 1024;
  bench::Case c;
  c.name = "softmax_half";
  c.bytes = 4.0 * rows * columns;
  c.flops = 25.0 * rows * columns;
  c.arrays = {bench::Array::of(bench::randomHalves((size_t)rows * columns, -5, 5)), bench::Array::poisoned<unsigned short>((size_t)rows * columns)};
  c.cuda = [=](auto &p) { softmaxHalf<<<rows / 8, dim3(32, 8)>>>((__half2 *)p[0], (__half2 *)p[1], columns); };
  c.openmp = [=](auto &p) { softmaxHalfOpenmp((unsigned short *)p[0], (unsigned short *)p[1], rows, columns); };
  c.ispc = {rows, 64};
  c.opencl = {{{"softmax_half", {rows}, {8}}}, bench::OpenCl::pack(columns)};
  c.element = bench::Element::f16;
  c.tolerance = 1e-4;
  return c;
});
