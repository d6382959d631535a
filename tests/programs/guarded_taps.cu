// SPDX-License-Identifier: Apache-2.0
// Rows of guards, each around one access: warps that pass all of them, some of them, or none; in blocks of any shape, at
// every border, with indices that wrap around; and many values alive at once, in loops and without.
#include <algorithm>
#include <random>
#include <vector>

#include "check.h"

static unsigned seed = std::random_device{}();
static std::mt19937 engine(seed);

static int *managed(int count, int fill) {
  int *data;
  CHECK_CUDA(cudaMallocManaged(&data, count * sizeof(int)));
  std::fill(data, data + count, fill);
  return data;
}

__host__ __device__ inline int tap(const int *in, int x, int y, int width, int height) {
  return x >= 0 && x < width && y >= 0 && y < height ? in[y * width + x] : 1000;
}

__global__ void taps(const int *in, int *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -2; dx <= 2; ++dx) {
      int sx = x + dx, sy = y + dy;
      if (sx >= 0 && sx < width && sy >= 0 && sy < height) sum = sum * 3 + in[sy * width + sx];
    }
  if (x < width && y < height) out[y * width + x] = sum;
}

static void checkTaps(dim3 block, int width, int height) {
  int *in = managed(width * height, 0), *out = managed(width * height + 64, 0x55555555);
  for (int i = 0; i < width * height; ++i) in[i] = engine() % 1000;
  taps<<<dim3((width + block.x - 1) / block.x, (height + block.y - 1) / block.y), block>>>(in, out, width, height);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      unsigned sum = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -2; dx <= 2; ++dx)
          if (int v = tap(in, x + dx, y + dy, width, height); v != 1000) sum = sum * 3 + v;
      CHECK(out[y * width + x] == (int)sum);
    }
  for (int i = 0; i < 64; ++i) CHECK(out[width * height + i] == 0x55555555);
  cudaFree(in), cudaFree(out);
}

// `first` may be near either end of the integers, so that lanes of one warp lie on both sides.
__global__ void wrapping(const int *in, int *out, int first, int low, int high) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, i = (int)((unsigned)first + t), before = (int)((unsigned)i - 1), sum = 0;
  if (i > low) sum += in[t];
  if (before < high) sum += in[t + 1] * 10;
  if (i > low && i < high) sum += in[t + 2] * 100;
  out[t] = sum;
}

static void checkWrapping(int first, int low, int high) {
  const int n = 256;
  int *in = managed(n + 2, 0), *out = managed(n, -1);
  for (int i = 0; i < n + 2; ++i) in[i] = 1 + engine() % 9;
  wrapping<<<n / 64, 64>>>(in, out, first, low, high);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int t = 0; t < n; ++t) {
    int i = (int)((unsigned)first + t), before = (int)((unsigned)i - 1);
    CHECK(out[t] == (i > low ? in[t] : 0) + (before < high ? in[t + 1] * 10 : 0) + (i > low && i < high ? in[t + 2] * 100 : 0));
  }
  cudaFree(in), cudaFree(out);
}

// More values than registers: each round mixes all of them; lanes of a warp have different rows.
constexpr int kMany = 24;
__global__ void many(const int *in, int *out, int rounds) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned value[kMany], sum = 0;
  for (int k = 0; k < kMany; ++k) value[k] = in[t + k];
  for (int r = 0; r < rounds; ++r) {
    int scale = in[r] | 1;
    for (int k = 0; k < kMany; ++k) value[k] = value[k] * scale + in[(t & 15) + k] + r;
  }
  for (int k = 0; k < kMany; ++k) sum = (sum << 5 | sum >> 27) ^ value[k];
  out[t] = sum;
}

static void checkMany(int blocks, int threads, int rounds) {
  const int n = blocks * threads;
  int *in = managed(n + kMany + 64, 0), *out = managed(n, -1);
  for (int i = 0; i < n + kMany + 64; ++i) in[i] = engine();
  many<<<blocks, threads>>>(in, out, rounds);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int t = 0; t < n; ++t) {
    unsigned value[kMany], sum = 0;
    for (int k = 0; k < kMany; ++k) value[k] = in[t + k];
    for (int r = 0; r < rounds; ++r)
      for (int k = 0; k < kMany; ++k) value[k] = value[k] * (in[r] | 1) + in[(t & 15) + k] + r;
    for (int k = 0; k < kMany; ++k) sum = (sum << 5 | sum >> 27) ^ value[k];
    CHECK(out[t] == (int)sum);
  }
  cudaFree(in), cudaFree(out);
}

// Loads that share elements, which one lane may need where the other's lane is idle; and the bounds of what is read.
struct Triple {
  int a, b, c;
};
__global__ void apart(const int *in, int *out, int n, int low, int high) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < low || t >= high) return;
  const Triple *triples = (const Triple *)in;
  out[t] = in[2 * t + 2] - in[2 * t];
  out[n + t] = in[3 * t] + in[3 * t + 3] * 10 + in[3 * t + 6] * 100;
  out[2 * n + t] = triples[t + 1].b - triples[t].b + triples[t].c;
  out[3 * n + t] = low < 1 ? 1 : min(low, 9);
}

static void checkApart(int threads, int low, int high) {
  const int n = 2 * threads;
  int *in = managed(3 * n + 9, 0), *out = managed(4 * n, -1);
  for (int i = 0; i < 3 * n + 9; ++i) in[i] = engine() % 1000;
  apart<<<2, threads>>>(in, out, n, low, high);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int t = 0; t < n; ++t) {
    const bool runs = t >= low && t < high;
    CHECK(out[t] == (runs ? in[2 * t + 2] - in[2 * t] : -1));
    CHECK(out[n + t] == (runs ? in[3 * t] + in[3 * t + 3] * 10 + in[3 * t + 6] * 100 : -1));
    CHECK(out[2 * n + t] == (runs ? in[3 * t + 4] - in[3 * t + 1] + in[3 * t + 2] : -1));
    CHECK(out[3 * n + t] == (runs ? std::clamp(low, 1, 9) : -1));
  }
  cudaFree(in), cudaFree(out);
}

int main() {
  std::printf("seed %u\n", seed);
  for (dim3 block : {dim3(32, 8), dim3(16, 16), dim3(37, 3), dim3(8, 4), dim3(64, 1)})
    for (int run = 0; run < 3; ++run) checkTaps(block, 1 + engine() % 150, 1 + engine() % 40);
  const int most = 0x7fffffff, least = -most - 1;
  for (int first : {0, most - 40, most - 31, least, least + 5, -20, (int)engine()})
    for (int run = 0; run < 4; ++run) {
      int low = run ? (int)((unsigned)first + engine() % 90 - 45) : least, high = run ? (int)((unsigned)low + engine() % 90) : most;
      checkWrapping(first, low, high);
    }
  for (int run = 0; run < 4; ++run) checkMany(1 + engine() % 3, 1 + engine() % 130, engine() % 60);
  for (int run = 0; run < 20; ++run) {
    const int threads = 1 + engine() % 100, low = int(engine() % (2 * threads)) - 10;
    checkApart(threads, low, low + engine() % (2 * threads));
  }
  std::puts("guarded_taps: passed");
}
