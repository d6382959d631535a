// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies to shared memory: __pipeline_* in every size with zero fill, cooperative_groups::memcpy_async,
// two stages in flight.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <random>
#include <vector>

#include "check.h"

namespace cg = cooperative_groups;
constexpr int kThreads = 96, kTiles = 5;

// Each thread copies one unit and keeps the first real bytes.
template <typename Unit>
__global__ void zeroFill(const Unit *from, Unit *to) {
  __shared__ Unit unit[kThreads];
  const unsigned t = threadIdx.x;
  __pipeline_memcpy_async(&unit[t], from + t, sizeof(Unit), t % (sizeof(Unit) + 1));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  to[t] = unit[t];
}

// One tile is copied while the last is summed.
__global__ void twoStages(const int *from, int *sums) {
  __shared__ int tile[2][kThreads];
  const unsigned t = threadIdx.x;
  __pipeline_memcpy_async(&tile[0][t], from + t, sizeof(int));
  __pipeline_commit();
  int sum = 0;
  for (int i = 0; i < kTiles; ++i) {
    if (i + 1 < kTiles) __pipeline_memcpy_async(&tile[(i + 1) % 2][t], from + (i + 1) * kThreads + t, sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += tile[i % 2][kThreads - 1 - t];
    __syncthreads();
  }
  sums[t] = sum;
}

__global__ void byGroup(const int *from, int *to) {
  __shared__ int tile[kThreads];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, from, sizeof tile);
  cg::wait(block);
  to[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

template <typename T>
struct Buffer {
  T *data;
  explicit Buffer(int count) { CHECK_CUDA(cudaMallocManaged(&data, count * sizeof(T))); }
  ~Buffer() { cudaFree(data); }
};

template <typename Unit>
void checkZeroFill(std::mt19937 &random) {
  Buffer<Unit> from(kThreads), to(kThreads);
  auto *in = reinterpret_cast<unsigned char *>(from.data), *out = reinterpret_cast<unsigned char *>(to.data);
  for (std::size_t i = 0; i < kThreads * sizeof(Unit); ++i) in[i] = 1 + random() % 255, out[i] = 0xee;
  zeroFill<<<1, kThreads>>>(from.data, to.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (std::size_t i = 0; i < kThreads * sizeof(Unit); ++i) {
    const std::size_t real = sizeof(Unit) - i / sizeof(Unit) % (sizeof(Unit) + 1);
    CHECK(out[i] == (i % sizeof(Unit) < real ? in[i] : 0));
  }
}

int main() {
  const unsigned seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  checkZeroFill<unsigned>(random);
  checkZeroFill<uint2>(random);
  checkZeroFill<uint4>(random);

  Buffer<int> from(kTiles * kThreads), to(kThreads);
  for (int i = 0; i < kTiles * kThreads; ++i) from.data[i] = static_cast<int>(random() % 1000);
  twoStages<<<1, kThreads>>>(from.data, to.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int t = 0; t < kThreads; ++t) {
    int sum = 0;
    for (int i = 0; i < kTiles; ++i) sum += from.data[i * kThreads + kThreads - 1 - t];
    CHECK(to.data[t] == sum);
  }
  byGroup<<<1, kThreads>>>(from.data, to.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int t = 0; t < kThreads; ++t) CHECK(to.data[t] == from.data[kThreads - 1 - t]);
  return 0;
}
