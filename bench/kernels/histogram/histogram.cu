// SPDX-License-Identifier: Apache-2.0
// 256 bins of bytes; atomics in shared memory, one global atomic per bin and block.
#include <random>

#include "../case.h"

__global__ void clear(unsigned *bins) { bins[threadIdx.x] = 0; }

__global__ void histogram(const unsigned char *data, unsigned *bins, int n) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

void histogramOpenmp(const unsigned char *data, unsigned *bins, int n);

static int added = bench::addCase([] {
  const int n = bench::size(1 << 25, 1 << 18);
  std::mt19937 &engine = bench::randomEngine();
  std::vector<unsigned char> data(n);
  for (auto &v : data) v = engine();
  bench::Case c;
  c.name = "histogram";
  c.bytes = n;
  c.flops = 0;
  c.arrays = {bench::Array::of(data), bench::Array::poisoned<unsigned>(256)};
  c.cuda = [=](auto &p) {
    clear<<<1, 256>>>((unsigned *)p[1]);
    histogram<<<256, 256>>>((unsigned char *)p[0], (unsigned *)p[1], n);
  };
  c.openmp = [=](auto &p) { histogramOpenmp((unsigned char *)p[0], (unsigned *)p[1], n); };
  c.opencl = {{{"clear", {256}, {256}}, {"histogram", {65536}, {256}}}, bench::OpenCl::pack(n)};
  c.ispc = {n, n};
  c.element = bench::Element::u32;
  return c;
});
