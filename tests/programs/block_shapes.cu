// SPDX-License-Identifier: Apache-2.0
// What depends on the shape of the block: tiles in rows of any width, guarded at the matrix's edge, transposed through
// shared memory between barriers; bins in shared memory named by bytes, shorts and words; warps that leave before,
// between and behind barriers.
#include <algorithm>
#include <random>
#include <vector>

#include "check.h"

static unsigned seed = std::random_device{}();
static std::mt19937 engine(seed);

template <class T>
struct Device {
  T *data;
  int count;
  Device(const std::vector<T> &from) : count(from.size()) {
    CHECK_CUDA(cudaMallocManaged(&data, count * sizeof(T)));
    std::copy(from.begin(), from.end(), data);
  }
  ~Device() { cudaFree(data); }
};

// --- tiles ----------------------------------------------------------------------------------------------

// out[x][y] = sum over k of a[y][k] * b[k][x], in tiles of the block's shape; the block is square or wider than high.
__global__ void product(const int *a, const int *b, int *out, int n) {
  __shared__ int left[32][33], right[32][33], turned[32][33];
  const int w = blockDim.x, h = blockDim.y, tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * w + tx, y = blockIdx.y * h + ty;
  int sum = 0;
  for (int k = 0; k < n; k += w) {
    left[ty][tx] = y < n && k + tx < n ? a[y * n + k + tx] : 0;
    for (int r = ty; r < w; r += h) right[r][tx] = x < n && k + r < n ? b[(k + r) * n + x] : 0;
    __syncthreads();
    for (int i = 0; i < w; ++i) sum += left[ty][i] * right[i][tx];
    __syncthreads();
  }
  turned[tx][ty] = sum;
  __syncthreads();
  for (int i = ty * w + tx; i < w * h; i += w * h) {
    const int r = i / h, c = i % h, column = blockIdx.x * w + r, row = blockIdx.y * h + c;
    if (column < n && row < n) out[column * n + row] = turned[r][c];
  }
}

static void checkProduct(int w, int h, int n) {
  std::vector<int> a(n * n), b(n * n);
  for (int &v : a) v = engine() % 17 - 8;
  for (int &v : b) v = engine() % 17 - 8;
  Device<int> da(a), db(b), out(std::vector<int>(n * n + 64, 0x55555555));
  product<<<dim3((n + w - 1) / w, (n + h - 1) / h), dim3(w, h)>>>(da.data, db.data, out.data, n);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      int sum = 0;
      for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
      CHECK(out.data[x * n + y] == sum);
    }
  for (int i = n * n; i < out.count; ++i) CHECK(out.data[i] == 0x55555555);
}

// --- bins -----------------------------------------------------------------------------------------------

constexpr int kBins = 64;

template <class Key>
__global__ void bins(const Key *keys, int n, int *out) {
  __shared__ int sum[kBins], least[kBins], bits[kBins], last[kBins];
  const int t = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
  for (int i = t; i < kBins; i += threads) sum[i] = bits[i] = last[i] = 0, least[i] = 1 << 20;
  __syncthreads();
  for (int i = blockIdx.x * threads + t; i < n; i += gridDim.x * threads) {
    const int bin = keys[i] % kBins;
    atomicAdd(&sum[bin], 1);
    atomicMin(&least[bin], i);
    atomicOr(&bits[kBins - 1 - bin], 1 << i % 29);
    const int before = atomicMax(&last[bin], i);
    if (before > i) atomicSub(&sum[0], 0);
  }
  __syncthreads();
  for (int i = t; i < kBins; i += threads) {
    atomicAdd(&out[i], sum[i]);
    atomicMin(&out[kBins + i], least[i]);
    atomicOr(&out[2 * kBins + i], bits[i]);
    atomicMax(&out[3 * kBins + i], last[i]);
  }
}

template <class Key>
static void checkBins(dim3 block, int n) {
  std::vector<Key> keys(n);
  for (Key &key : keys) key = engine() % (engine() % 2 ? 250 : 3);
  std::vector<int> start(4 * kBins, 0), want;
  std::fill(start.begin() + kBins, start.begin() + 2 * kBins, 1 << 20);
  want = start;
  for (int i = 0; i < n; ++i) {
    const int bin = keys[i] % kBins;
    ++want[bin];
    want[kBins + bin] = std::min(want[kBins + bin], i);
    want[2 * kBins + kBins - 1 - bin] |= 1 << i % 29;
    want[3 * kBins + bin] = std::max(want[3 * kBins + bin], i);
  }
  Device<Key> device(keys);
  Device<int> out(start);
  bins<<<3, block>>>(device.data, n, out.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(std::equal(want.begin(), want.end(), out.data));
}

// --- warps that leave -----------------------------------------------------------------------------------

// Warp w takes part in w + 1 rounds; lanes of the last one leave before its last barrier.
__global__ void leave(int *out) {
  __shared__ int rounds[32];
  const int t = threadIdx.y * blockDim.x + threadIdx.x, w = t / 32;
  if (t % 32 == 0) rounds[w] = 0;
  int mine = t;
  __syncthreads();
  for (int r = 0; r <= w; ++r) {
    if (t % 32 == 0) ++rounds[w];
    __syncwarp();
    mine += r * rounds[w];
    __syncthreads();
  }
  if (t & 1) return;
  int all = 0;
  for (int i = 0; i <= w; ++i) all += rounds[i];
  out[t] = mine * 1000 + all;
}

static void checkLeave(dim3 block) {
  const int threads = block.x * block.y;
  Device<int> out(std::vector<int>(threads, -1));
  leave<<<1, block>>>(out.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int t = 0; t < threads; ++t) {
    int w = t / 32, mine = t, all = (w + 1) * (w + 2) / 2;
    for (int r = 0; r <= w; ++r) mine += r * (r + 1);
    CHECK(out.data[t] == (t & 1 ? -1 : mine * 1000 + all));
  }
}

int main() {
  std::printf("seed %u\n", seed);
  const int shapes[][2] = {{16, 16}, {8, 8}, {16, 3}, {8, 5}, {32, 8}, {32, 32}, {10, 7}, {4, 4}, {16, 1}};
  for (auto [w, h] : shapes)
    for (int n : {1, 16, 37}) checkProduct(w, h, n);
  for (dim3 block : {dim3(256), dim3(16, 16), dim3(8, 5), dim3(33)})
    for (int n : {5, 1000, 20000}) {
      checkBins<unsigned char>(block, n);
      checkBins<unsigned short>(block, n);
      checkBins<unsigned>(block, n);
    }
  for (dim3 block : {dim3(256), dim3(16, 16), dim3(8, 9), dim3(100), dim3(1024)}) checkLeave(block);
  return 0;
}
