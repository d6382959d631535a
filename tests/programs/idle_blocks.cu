// SPDX-License-Identifier: Apache-2.0
// Blocks whose threads all fail the guard at the kernel's head are left at once: which threads pass is as the host
// says, also where indices wrap within a block, at the bounds' edges, with guards of two dimensions, and ahead of a
// barrier.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "check.h"

constexpr unsigned kBlocks = 24, kThreads = 64;

__device__ void mark(unsigned char *seen) {
  seen[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x] = 1;
}

// The index of a thread is first + its number, in T; a kernel and what the host says of it.
#define GUARDS(X)                                                      \
  X(less, i < n)                                                       \
  X(lessOrEqual, i <= n)                                               \
  X(greater, i > n)                                                    \
  X(notLess, !(n <= i))                                                \
  X(both, i < n && 3 * i < m)                                          \
  X(either, i < n || i < m)                                            \
  X(wide, static_cast<long long>(i) < static_cast<long long>(n) - 5)   \
  X(mixed, static_cast<unsigned long long>(i) < static_cast<unsigned long long>(n))

#define KERNEL(name, guard)                                                                \
  template <class T, bool waits>                                                           \
  __global__ void name(unsigned first, T n, T m, unsigned char *seen) {                    \
    const T i = static_cast<T>(first + blockIdx.x * blockDim.x + threadIdx.x);             \
    if (!(guard)) return;                                                                  \
    if (waits) __syncthreads();                                                            \
    mark(seen);                                                                            \
  }                                                                                        \
  template <class T>                                                                       \
  bool name##Host(unsigned first, T n, T m, unsigned thread) {                             \
    const T i = static_cast<T>(first + thread);                                            \
    return guard;                                                                          \
  }
GUARDS(KERNEL)

__global__ void plane(int width, int height, unsigned char *seen) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) mark(seen);
}

struct Seen {
  Seen() { CHECK_CUDA(cudaMallocManaged(&data, kBlocks * kThreads)); }
  ~Seen() { cudaFree(data); }
  unsigned char *data;
};

template <class T, class Kernel, class Host>
void check(const char *name, Kernel kernel, Host host, unsigned first, T n, T m) {
  Seen seen;
  CHECK_CUDA(cudaMemset(seen.data, 0, kBlocks * kThreads));
  kernel<<<kBlocks, kThreads>>>(first, n, m, seen.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (unsigned t = 0; t < kBlocks * kThreads; ++t)
    if (seen.data[t] != host(first, n, m, t)) {
      std::printf("%s: thread %u, first %u, n %lld, m %lld: %d\n", name, t, first, static_cast<long long>(n),
                  static_cast<long long>(m), seen.data[t]);
      std::exit(1);
    }
}

template <class T>
void checkAll(std::mt19937 &random) {
  const unsigned edges[] = {0u, 0x7fffffffu, 0x80000000u, 0xffffffffu};
  for (int round = 0; round < 60; ++round) {
    const auto near = [&](unsigned edge) { return edge + static_cast<unsigned>(random() % 4096) - 2048; };
    const unsigned first = near(edges[random() % 4]);
    const T n = static_cast<T>(random() % 2 ? near(edges[random() % 4]) : first + random() % 2048);
    const T m = static_cast<T>(random() % 2 ? near(edges[random() % 4]) : 3 * (first + random() % 2048));
#define CHECK_GUARD(name, guard)                                  \
  check<T>(#name, name<T, false>, name##Host<T>, first, n, m);    \
  check<T>(#name " waits", name<T, true>, name##Host<T>, first, n, m);
    GUARDS(CHECK_GUARD)
  }
}

void checkPlane(std::mt19937 &random) {
  const dim3 block(16, 4), grid(6, 4);
  for (int round = 0; round < 40; ++round) {
    Seen seen;
    CHECK_CUDA(cudaMemset(seen.data, 0, kBlocks * kThreads));
    const int width = static_cast<int>(random() % 120) - 10, height = static_cast<int>(random() % 24) - 4;
    plane<<<grid, block>>>(width, height, seen.data);
    CHECK_CUDA(cudaDeviceSynchronize());
    for (unsigned b = 0; b < kBlocks; ++b)
      for (unsigned t = 0; t < kThreads; ++t) {
        const int x = static_cast<int>(b % 6 * 16 + t % 16), y = static_cast<int>(b / 6 * 4 + t / 16);
        CHECK(seen.data[b * kThreads + t] == (x < width && y < height));
      }
  }
}

int main() {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  checkAll<int>(random);
  checkAll<unsigned>(random);
  checkPlane(random);
  std::printf("idle_blocks: PASSED\n");
}
