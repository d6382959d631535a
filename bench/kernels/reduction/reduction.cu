// SPDX-License-Identifier: Apache-2.0
// A sum: each block leaves one partial sum, which a second kernel adds.
#include "../case.h"

constexpr int kBlocks = 256, kThreads = 256;

__global__ void reduction(const float *in, float *partial, int n) {
  __shared__ float perWarp[kThreads / 32];
  float sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += kBlocks * kThreads) sum += in[i];
  for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) perWarp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0;
    for (int w = 0; w < kThreads / 32; ++w) total += perWarp[w];
    partial[blockIdx.x] = total;
  }
}

__global__ void total(const float *partial, float *sum) {
  float t = 0;
  for (int i = 0; i < kBlocks; ++i) t += partial[i];
  *sum = t;
}

void reductionOpenmp(const float *in, float *sum, int n);

static int added = bench::addCase([] {
  const int n = bench::size(1 << 25, 1 << 18);
  bench::Case c;
  c.name = "reduction";
  c.bytes = 4.0 * n;
  c.flops = n;
  c.arrays = {bench::Array::of(bench::randomFloats(n, 0, 1)), bench::Array::poisoned<float>(1), bench::Array::of(std::vector<float>(kBlocks))};
  c.cuda = [=](auto &p) {
    reduction<<<kBlocks, kThreads>>>((float *)p[0], (float *)p[2], n);
    total<<<1, 1>>>((float *)p[2], (float *)p[1]);
  };
  c.openmp = [=](auto &p) { reductionOpenmp((float *)p[0], (float *)p[1], n); };
  c.ispc = {n, n / kBlocks};
  c.opencl = {{{"reduction", {kBlocks * kThreads}, {kThreads}}, {"total", {1}, {1}}}, bench::OpenCl::pack(n)};
  c.tolerance = 1e-4;
  return c;
});
