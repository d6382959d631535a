// SPDX-License-Identifier: Apache-2.0
// 2^20 keys; strides up to 512 in shared memory.
#include "../case.h"

constexpr int kBlock = 512;

__global__ void load(const unsigned *in, unsigned *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x]; }

__device__ void order(unsigned &low, unsigned &high, bool up) {
  unsigned small = min(low, high), large = max(low, high);
  low = up ? small : large;
  high = up ? large : small;
}

__global__ void mergeShared(unsigned *keys, int firstSize, int lastSize) {
  __shared__ unsigned tile[2 * kBlock];
  int base = blockIdx.x * 2 * kBlock, t = threadIdx.x;
  tile[t] = keys[base + t];
  tile[t + kBlock] = keys[base + t + kBlock];
  for (int size = firstSize; size <= lastSize; size *= 2)
    for (int stride = min(size / 2, kBlock); stride; stride /= 2) {
      __syncthreads();
      int i = 2 * t - (t & (stride - 1));
      order(tile[i], tile[i + stride], ((base + i) & size) == 0);
    }
  __syncthreads();
  keys[base + t] = tile[t];
  keys[base + t + kBlock] = tile[t + kBlock];
}

__global__ void mergeGlobal(unsigned *keys, int size, int stride) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * t - (t & (stride - 1));
  order(keys[i], keys[i + stride], (i & size) == 0);
}

void bitonicOpenmp(const unsigned *in, unsigned *out, int n);

static int added = bench::addCase([] {
  const int n = bench::size(1 << 20, 1 << 13);
  std::vector<unsigned> in(n);
  for (int i = 0; i < n; ++i) in[i] = i * 2654435761u ^ (i * 40503u) << 7;
  bench::Case c;
  c.name = "bitonic";
  c.bytes = 8.0 * n;
  c.flops = 0;
  c.arrays = {bench::Array::of(in), bench::Array::poisoned<unsigned>(n)};
  c.cuda = [=](auto &p) {
    auto *keys = (unsigned *)p[1];
    int blocks = n / (2 * kBlock);
    load<<<n / 256, 256>>>((unsigned *)p[0], keys);
    mergeShared<<<blocks, kBlock>>>(keys, 2, 2 * kBlock);
    for (int size = 4 * kBlock; size <= n; size *= 2) {
      for (int stride = size / 2; stride > kBlock; stride /= 2) mergeGlobal<<<blocks, kBlock>>>(keys, size, stride);
      mergeShared<<<blocks, kBlock>>>(keys, size, size);
    }
  };
  c.openmp = [=](auto &p) { bitonicOpenmp((unsigned *)p[0], (unsigned *)p[1], n); };
  c.opencl.launches = {{"load", {n}, {256}, bench::OpenCl::pack(0, 0)}, {"merge_local", {n / 2}, {kBlock}, bench::OpenCl::pack(2, 2 * kBlock)}};
  for (int size = 4 * kBlock; size <= n; size *= 2) {
    for (int stride = size / 2; stride > kBlock; stride /= 2)
      c.opencl.launches.push_back({"merge_global", {n / 2}, {kBlock}, bench::OpenCl::pack(size, stride)});
    c.opencl.launches.push_back({"merge_local", {n / 2}, {kBlock}, bench::OpenCl::pack(size, size)});
  }
  c.ispc = {n, n};
  c.element = bench::Element::u32;
  return c;
});
