// SPDX-License-Identifier: Apache-2.0
// Threads of a block that work together: shared memory, barriers, shuffles, atomics. The host's loops are written
// apart.
#include <algorithm>

#include "heldout.h"

namespace heldout {
namespace {

constexpr int kMany = 1 << 20, kBlock = 256;

#ifdef __CUDACC__

__global__ void dotKernel(const float *a, const float *b, float *parts) {
  __shared__ float sums[kBlock];
  float sum = 0;
  const int first = blockIdx.x * 4096;
  for (int i = threadIdx.x; i < 4096; i += kBlock) sum += a[first + i] * b[first + i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int s = kBlock / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = sums[0];
}

__global__ void prefixKernel(const int *from, int *to) {
  __shared__ int sums[2][kBlock];
  const int t = threadIdx.x, i = blockIdx.x * kBlock + t;
  int now = 0;
  sums[0][t] = from[i];
  for (int step = 1; step < kBlock; step *= 2) {
    __syncthreads();
    sums[1 - now][t] = sums[now][t] + (t >= step ? sums[now][t - step] : 0);
    now = 1 - now;
  }
  to[i] = sums[now][t];
}

__global__ void turnKernel(const double *from, double *to, int n) {
  __shared__ double tile[16][17];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = from[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x];
  __syncthreads();
  to[(blockIdx.x * 16 + y) * n + blockIdx.y * 16 + x] = tile[x][y];
}

__global__ void largestKernel(const float *rows, float *largest, int columns) {  // a warp a row
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  float most = -1e30f;
  for (int k = threadIdx.x; k < columns; k += 32) most = fmaxf(most, rows[row * columns + k]);
  for (int s = 16; s > 0; s /= 2) most = fmaxf(most, __shfl_down_sync(~0u, most, s));
  if (threadIdx.x == 0) largest[row] = most;
}

__global__ void bucketsKernel(const int *keys, int *buckets, int n) {
  __shared__ int counts[64];
  if (threadIdx.x < 64) counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[keys[i]], 1);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&buckets[threadIdx.x], counts[threadIdx.x]);
}

__global__ void pathKernel(const int *wall, const int *from, int *to, int columns, int row, int steps) {
  __shared__ int best[2][kBlock];
  const int t = threadIdx.x, inner = kBlock - 2 * steps, column = static_cast<int>(blockIdx.x) * inner + t - steps;
  const bool inside = column >= 0 && column < columns;
  int now = 0;
  best[0][t] = inside ? from[column] : 1 << 30;
  for (int s = 0; s < steps; ++s) {
    __syncthreads();
    int least = best[now][t];
    if (t > 0) least = min(least, best[now][t - 1]);
    if (t < kBlock - 1) least = min(least, best[now][t + 1]);
    best[1 - now][t] = inside ? least + wall[(row + s) * columns + column] : 1 << 30;
    now = 1 - now;
  }
  if (inside && t >= steps && t < kBlock - steps) to[column] = best[now][t];
}

__global__ void sortKernel(int *values) {  // 512 a block, neighbours by turns
  __shared__ int v[512];
  const int t = threadIdx.x, first = blockIdx.x * 512;
  v[t] = values[first + t], v[t + 256] = values[first + t + 256];
  for (int pass = 0; pass < 512; ++pass) {
    __syncthreads();
    const int i = 2 * t + pass % 2;
    if (i + 1 < 512 && v[i] > v[i + 1]) {
      const int x = v[i];
      v[i] = v[i + 1], v[i + 1] = x;
    }
  }
  __syncthreads();
  values[first + t] = v[t], values[first + t + 256] = v[t + 256];
}

__global__ void compactKernel(const int *from, int *to, int *count) {  // those that are even, of each block
  __shared__ int place;
  if (threadIdx.x == 0) place = 0;
  __syncthreads();
  const int v = from[blockIdx.x * blockDim.x + threadIdx.x];
  if (v % 2 == 0) atomicAdd(&place, v);
  __syncthreads();
  if (threadIdx.x == 0) to[blockIdx.x] = place, count[blockIdx.x] = place / 2;
}

#else

void dotLoop(const float *a, const float *b, float *parts) {
#pragma omp parallel for
  for (int block = 0; block < kMany / 4096; ++block) {
    float sum = 0;
    for (int i = 0; i < 4096; ++i) sum += a[block * 4096 + i] * b[block * 4096 + i];
    parts[block] = sum;
  }
}
void prefixLoop(const int *from, int *to) {
#pragma omp parallel for
  for (int block = 0; block < kMany / kBlock; ++block) {
    int sum = 0;
    for (int i = 0; i < kBlock; ++i) to[block * kBlock + i] = sum += from[block * kBlock + i];
  }
}
void turnLoop(const double *from, double *to, int n) {
#pragma omp parallel for collapse(2)
  for (int by = 0; by < n; by += 16)
    for (int bx = 0; bx < n; bx += 16)
      for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x) to[(bx + y) * n + by + x] = from[(by + x) * n + bx + y];
}
void largestLoop(const float *rows, float *largest, int count, int columns) {
#pragma omp parallel for
  for (int row = 0; row < count; ++row) {
    float most = -1e30f;
    for (int k = 0; k < columns; ++k) most = std::max(most, rows[row * columns + k]);
    largest[row] = most;
  }
}
void bucketsLoop(const int *keys, int *buckets, int n) {
#pragma omp parallel
  {
    int counts[64] = {};
#pragma omp for
    for (int i = 0; i < n; ++i) ++counts[keys[i]];
#pragma omp critical
    for (int k = 0; k < 64; ++k) buckets[k] += counts[k];
  }
}
void pathLoop(const int *wall, const int *from, int *to, int columns, int row, int steps) {
  static std::vector<int> a, b;
  a.assign(from, from + columns), b.resize(columns);
  for (int s = 0; s < steps; ++s) {
#pragma omp parallel for
    for (int c = 0; c < columns; ++c) {
      int least = a[c];
      if (c > 0) least = std::min(least, a[c - 1]);
      if (c < columns - 1) least = std::min(least, a[c + 1]);
      b[c] = least + wall[(row + s) * columns + c];
    }
    a.swap(b);
  }
  std::copy(a.begin(), a.end(), to);
}
void sortLoop(int *values, int blocks) {
#pragma omp parallel for
  for (int block = 0; block < blocks; ++block) std::sort(values + 512 * block, values + 512 * (block + 1));
}
void compactLoop(const int *from, int *to, int *count) {
#pragma omp parallel for
  for (int block = 0; block < kMany / kBlock; ++block) {
    int place = 0;
    for (int i = 0; i < kBlock; ++i) {
      const int v = from[block * kBlock + i];
      if (v % 2 == 0) place += v;
    }
    to[block] = place, count[block] = place / 2;
  }
}

#endif

CASE(dot, ARRAYS(in<float>(kMany, 0, 1), in<float>(kMany, 0, 1), out<float>(kMany / 4096)),
     ON((dotKernel<<<kMany / 4096, kBlock>>>(P(const float, 0), P(const float, 1), P(float, 2))),
        dotLoop(P(const float, 0), P(const float, 1), P(float, 2)));)
CASE(prefix, ARRAYS(in<int>(kMany, 0, 100), out<int>(kMany)),
     ON((prefixKernel<<<kMany / kBlock, kBlock>>>(P(const int, 0), P(int, 1))),
        prefixLoop(P(const int, 0), P(int, 1)));)
CASE(turn, ARRAYS(in<double>(1 << 20, 0, 1), out<double>(1 << 20)),
     ON((turnKernel<<<dim3(64, 64), dim3(16, 16)>>>(P(const double, 0), P(double, 1), 1024)),
        turnLoop(P(const double, 0), P(double, 1), 1024));)
CASE(largest, ARRAYS(in<float>(1 << 20, -1, 1), out<float>(1 << 11)),
     ON((largestKernel<<<256, dim3(32, 8)>>>(P(const float, 0), P(float, 1), 512)),
        largestLoop(P(const float, 0), P(float, 1), 1 << 11, 512));)
CASE(buckets, ARRAYS(in<int>(kMany, 0, 64), inOut<int>(64, 0, 1)),
     ON((bucketsKernel<<<64, kBlock>>>(P(const int, 0), P(int, 1), kMany)),
        bucketsLoop(P(const int, 0), P(int, 1), kMany));)
CASE(
    path, ARRAYS(in<int>(64 * 8192, 0, 10), in<int>(8192, 0, 10), out<int>(8192), out<int>(8192)),
    const int *from = P(const int, 1);
    for (int row = 0; row < 64; row += 16) {
      int *to = P(int, 2 + row / 16 % 2);
      ON((pathKernel<<<(8192 + 223) / 224, kBlock>>>(P(const int, 0), from, to, 8192, row, 16)),
         pathLoop(P(const int, 0), from, to, 8192, row, 16));
      from = to;
    })
CASE(sort_blocks, ARRAYS(inOut<int>(512 * 64, 0, 1e6)),
     ON((sortKernel<<<64, 256>>>(P(int, 0))), sortLoop(P(int, 0), 64));)
CASE(sum_of_even, ARRAYS(in<int>(kMany, 0, 100), out<int>(kMany / kBlock), out<int>(kMany / kBlock)),
     ON((compactKernel<<<kMany / kBlock, kBlock>>>(P(const int, 0), P(int, 1), P(int, 2))),
        compactLoop(P(const int, 0), P(int, 1), P(int, 2)));)

}  // namespace
}  // namespace heldout
