// SPDX-License-Identifier: Apache-2.0
// Bitonic sort of a power of two of keys: small strides in shared memory, large ones in global memory.
#include <algorithm>

#include "check.h"

constexpr int kBlock = 512;  // threads; each block sorts 2·kBlock keys in shared memory

__device__ void order(unsigned &low, unsigned &high, bool ascending) {
  if ((low > high) != ascending) return;
  unsigned t = low;
  low = high;
  high = t;
}

// All steps of merges of `size` whose stride is at most kBlock.
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
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int i = 2 * t - (t & (stride - 1));
  order(keys[i], keys[i + stride], (i & size) == 0);
}

int main(int argc, char **argv) {
  int n = 1 << argument(argc, argv, 1, 17);
  std::vector<unsigned> keys(n);
  for (auto &k : keys) k = generator()();
  unsigned *dkeys = toDevice(keys);

  int blocks = n / (2 * kBlock);
  mergeShared<<<blocks, kBlock>>>(dkeys, 2, 2 * kBlock);
  for (int size = 4 * kBlock; size <= n; size *= 2) {
    for (int stride = size / 2; stride > kBlock; stride /= 2) mergeGlobal<<<blocks, kBlock>>>(dkeys, size, stride);
    mergeShared<<<blocks, kBlock>>>(dkeys, size, size);
  }
  CHECK(cudaGetLastError());

  auto got = toHost(dkeys, n);
  std::sort(keys.begin(), keys.end());
  Verdict verdict;
  for (int i = 0; i < n; ++i) verdict.expect(got[i] == keys[i], "key", i, got[i], keys[i]);
  CHECK(cudaFree(dkeys));
  return verdict.report("bitonic sort");
}
