// SPDX-License-Identifier: Apache-2.0
// A sum twice: by warp shuffles and shared memory, and by cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void sumByShuffles(const float *in, double *out, int n) {
  __shared__ double perWarp[32];
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];

  for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) perWarp[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < blockDim.x / 32 ? perWarp[lane] : 0;
    for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
    if (lane == 0) atomicAdd(out, sum);
  }
}

__global__ void sumByGroups(const float *in, double *out, int n) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  double sum = 0;
  for (int i = blockIdx.x * block.size() + block.thread_rank(); i < n; i += gridDim.x * block.size()) sum += in[i];

  sum = cg::reduce(warp, sum, cg::plus<double>());
  if (warp.thread_rank() == 0) atomicAdd(out, sum);
}

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1, 2000003);
  auto in = randomFloats(n);
  float *din = toDevice(in);
  double *dout = toDevice(std::vector<double>(2, 0.0));

  sumByShuffles<<<64, 256>>>(din, dout, n);
  sumByGroups<<<64, 256>>>(din, dout + 1, n);
  CHECK(cudaGetLastError());

  auto out = toHost(dout, 2);
  double want = 0;
  for (float v : in) want += v;
  Verdict verdict;
  for (int i = 0; i < 2; ++i) verdict.expect(close(out[i], want, 1e-9), "sum", i, out[i], want);
  CHECK(cudaFree(din));
  CHECK(cudaFree(dout));
  return verdict.report("reduction");
}
