// SPDX-License-Identifier: Apache-2.0
#include "../case.h"

__global__ void mandelbrot(int *out, int width, int iterations) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  float cx = -2.2f + 3.0f * px / width, cy = -1.5f + 3.0f * py / width, x = 0, y = 0;
  int i = 0;
  for (; i < iterations && x * x + y * y < 4; ++i) {
    float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
  }
  out[py * width + px] = i;
}

void mandelbrotOpenmp(int *out, int width, int iterations);

static int added = bench::addCase([] {
  const int width = bench::size(2048, 128), iterations = 256;
  bench::Case c;
  c.name = "mandelbrot";
  c.bytes = 4.0 * width * width;
  c.flops = 10.0 * width * width * 60;  // about 60 iterations a pixel on average
  c.arrays = {bench::Array::poisoned<int>((size_t)width * width)};
  c.cuda = [=](auto &p) { mandelbrot<<<dim3(width / 32, width / 8), dim3(32, 8)>>>((int *)p[0], width, iterations); };
  c.openmp = [=](auto &p) { mandelbrotOpenmp((int *)p[0], width, iterations); };
  c.ispc = {width, 8};
  c.opencl = {{{"mandelbrot", {width, width}, {32, 8}}}, bench::OpenCl::pack(width, iterations)};
  c.element = bench::Element::i32;
  c.mayDiffer = 0.02;  // contraction differs; the edge of the set is chaotic
  return c;
});
