// SPDX-License-Identifier: Apache-2.0
// Inclusive prefix sum: scan each block, scan the blocks' totals, add them back.
#include "check.h"

constexpr int kBlock = 256;

// Scans kBlock elements of `data` in place; the block's total goes to totals[blockIdx.x] if wanted.
__global__ void scanBlocks(int *data, int *totals, int n) {
  __shared__ int perWarp[kBlock / 32];
  int i = blockIdx.x * kBlock + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int sum = i < n ? data[i] : 0;
  for (int offset = 1; offset < 32; offset *= 2) {
    int left = __shfl_up_sync(~0u, sum, offset);
    if (lane >= offset) sum += left;
  }
  if (lane == 31) perWarp[warp] = sum;
  __syncthreads();
  for (int w = 0; w < warp; ++w) sum += perWarp[w];
  if (i < n) data[i] = sum;
  if (totals && threadIdx.x == kBlock - 1) totals[blockIdx.x] = sum;
}

__global__ void addTotals(int *data, const int *totals, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  if (blockIdx.x > 0 && i < n) data[i] += totals[blockIdx.x - 1];
}

void scan(int *data, int n) {
  int blocks = (n + kBlock - 1) / kBlock;
  if (blocks == 1) {
    scanBlocks<<<1, kBlock>>>(data, nullptr, n);
    return;
  }
  int *totals = poisonedDevice<int>(blocks);
  scanBlocks<<<blocks, kBlock>>>(data, totals, n);
  scan(totals, blocks);
  addTotals<<<blocks, kBlock>>>(data, totals, n);
  CHECK(cudaFree(totals));
}

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1, 300007);
  std::vector<int> in(n);
  for (int &v : in) v = (int)(generator()() % 2001) - 1000;
  int *data = toDevice(in);

  scan(data, n);
  CHECK(cudaGetLastError());

  auto out = toHost(data, n);
  Verdict verdict;
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += in[i];
    verdict.expect(out[i] == sum, "scan", i, out[i], sum);
  }
  CHECK(cudaFree(data));
  return verdict.report("scan");
}
