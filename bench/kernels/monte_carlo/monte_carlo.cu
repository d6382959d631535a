// SPDX-License-Identifier: Apache-2.0
// π from a counter-based generator (Philox 4×32, 7 rounds): each thread counts points in the quarter circle.
#include "../case.h"

constexpr int kThreads = 1 << 18, kRounds = 64;

__device__ void philox(unsigned &a, unsigned &b, unsigned &c, unsigned &d) {
  unsigned k0 = 0xA4093822u, k1 = 0x299F31D0u;
  for (int r = 0; r < 7; ++r) {
    unsigned h0 = __umulhi(0xD2511F53u, a), l0 = 0xD2511F53u * a, h1 = __umulhi(0xCD9E8D57u, c), l1 = 0xCD9E8D57u * c;
    a = h1 ^ b ^ k0;
    b = l1;
    c = h0 ^ d ^ k1;
    d = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

__global__ void monteCarlo(unsigned *hits) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
  for (unsigned r = 0; r < kRounds; ++r) {
    unsigned a = i, b = r, c = 0, d = 0;
    philox(a, b, c, d);
    float x = a * 0x1p-32f, y = b * 0x1p-32f, z = c * 0x1p-32f, w = d * 0x1p-32f;
    count += (x * x + y * y < 1) + (z * z + w * w < 1);
  }
  hits[i] = count;
}

void monteCarloOpenmp(unsigned *hits, int threads, int rounds);

static int added = bench::addCase([] {
  bench::Case c;
  c.name = "monte_carlo";
  c.bytes = 4.0 * kThreads;
  c.flops = 80.0 * kThreads * kRounds;
  c.arrays = {bench::Array::poisoned<unsigned>(kThreads)};
  c.cuda = [=](auto &p) { monteCarlo<<<kThreads / 256, 256>>>((unsigned *)p[0]); };
  c.openmp = [=](auto &p) { monteCarloOpenmp((unsigned *)p[0], kThreads, kRounds); };
  c.ispc = {kThreads, 1024};
  c.opencl = {{{"monte_carlo", {kThreads}, {256}}}, bench::OpenCl::pack(kRounds)};
  c.element = bench::Element::u32;
  c.mayDiffer = 0.001;  // contraction decides points on the circle
  return c;
});
