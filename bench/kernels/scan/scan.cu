// SPDX-License-Identifier: Apache-2.0
// Inclusive prefix sum of integers: blocks of 1024, totals, totals added back.
#include "../case.h"

constexpr int kThreads = 256, kPerThread = 4, kChunk = kThreads * kPerThread;

__device__ unsigned blockScan(unsigned value, unsigned &total) {
  __shared__ unsigned perWarp[kThreads / 32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned sum = value;
  for (int o = 1; o < 32; o *= 2) {
    unsigned left = __shfl_up_sync(~0u, sum, o);
    if (lane >= o) sum += left;
  }
  if (lane == 31) perWarp[warp] = sum;
  __syncthreads();
  total = 0;
  for (int w = 0; w < kThreads / 32; ++w) {
    if (w == warp) sum += total;
    total += perWarp[w];
  }
  __syncthreads();
  return sum - value;
}

__global__ void scanChunks(const unsigned *in, unsigned *out, unsigned *totals) {
  int base = blockIdx.x * kChunk + threadIdx.x * kPerThread;
  uint4 v = *reinterpret_cast<const uint4 *>(in + base);
  v.y += v.x, v.z += v.y, v.w += v.z;
  unsigned total, before = blockScan(v.w, total);
  *reinterpret_cast<uint4 *>(out + base) = make_uint4(v.x + before, v.y + before, v.z + before, v.w + before);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

__global__ void scanTotals(unsigned *totals, int count) {
  unsigned carry = 0;
  for (int base = 0; base < count; base += kThreads) {
    int i = base + threadIdx.x;
    unsigned value = i < count ? totals[i] : 0, total, before = blockScan(value, total);
    if (i < count) totals[i] = carry + before;
    carry += total;
  }
}

__global__ void addTotals(unsigned *out, const unsigned *totals) {
  int base = blockIdx.x * kChunk + threadIdx.x * kPerThread;
  unsigned t = totals[blockIdx.x];
  uint4 v = *reinterpret_cast<uint4 *>(out + base);
  *reinterpret_cast<uint4 *>(out + base) = make_uint4(v.x + t, v.y + t, v.z + t, v.w + t);
}

void scanOpenmp(const unsigned *in, unsigned *out, int n);

static int added = bench::addCase([] {
  const int n = bench::size(1 << 24, 1 << 16);
  std::vector<unsigned> in(n);
  for (int i = 0; i < n; ++i) in[i] = (i * 2654435761u) >> 20;
  bench::Case c;
  c.name = "scan";
  c.bytes = 8.0 * n;
  c.flops = n;
  c.arrays = {bench::Array::of(in), bench::Array::poisoned<unsigned>(n), bench::Array::of(std::vector<unsigned>(n / kChunk))};
  c.cuda = [=](auto &p) {
    scanChunks<<<n / kChunk, kThreads>>>((unsigned *)p[0], (unsigned *)p[1], (unsigned *)p[2]);
    scanTotals<<<1, kThreads>>>((unsigned *)p[2], n / kChunk);
    addTotals<<<n / kChunk, kThreads>>>((unsigned *)p[1], (unsigned *)p[2]);
  };
  c.openmp = [=](auto &p) { scanOpenmp((unsigned *)p[0], (unsigned *)p[1], n); };
  c.opencl = {{{"scan_chunks", {n / 4}, {kThreads}}, {"scan_totals", {1}, {1}}, {"add_totals", {n / 4}, {kThreads}}}, bench::OpenCl::pack(n)};
  c.ispc = {n, n};
  c.element = bench::Element::u32;
  return c;
});
