// SPDX-License-Identifier: Apache-2.0
// A histogram of bytes: atomics in shared memory first, then one global atomic per bin and block.
#include "check.h"

constexpr int kBins = 256;

__global__ void histogram(const unsigned char *data, unsigned *bins, int n) {
  __shared__ unsigned local[kBins];
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1, 1000003);
  std::vector<unsigned char> data(n);
  for (auto &v : data) v = (unsigned char)(generator()() % 200);
  unsigned char *ddata = toDevice(data);
  unsigned *dbins = toDevice(std::vector<unsigned>(kBins, 0));

  histogram<<<32, 192>>>(ddata, dbins, n);
  CHECK(cudaGetLastError());

  auto bins = toHost(dbins, kBins);
  std::vector<unsigned> want(kBins, 0);
  for (auto v : data) ++want[v];
  Verdict verdict;
  for (int b = 0; b < kBins; ++b) verdict.expect(bins[b] == want[b], "bin", b, bins[b], want[b]);
  CHECK(cudaFree(ddata));
  CHECK(cudaFree(dbins));
  return verdict.report("histogram");
}
