// SPDX-License-Identifier: Apache-2.0
// What was far slower than a host thread: each kernel beside the plain loop of one host thread, best of a few rounds,
// by the clock and by processor time (of all threads: a busy machine stretches the one, not the other).
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <vector>

namespace {

constexpr int kRounds = 5;

struct Time {
  double wall = 1e30, processor = 1e30;  // ms
};

double processorTime() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

Time measure(const std::function<void()> &prepare, const std::function<void()> &work) {
  Time best;
  for (int r = 0; r < kRounds; ++r) {
    prepare();
    const double processor = processorTime();
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
    best.wall = std::min(best.wall, wall.count());
    best.processor = std::min(best.processor, processorTime() - processor);
  }
  return best;
}

void report(const char *name, Time device, Time host) {
  std::printf("%-18s device %8.2f ms (processors %8.2f)   host thread %8.2f ms   ratio %5.2f\n", name, device.wall,
              device.processor, host.wall, device.wall / host.wall);
}

template <class T>
T *managed(std::size_t count) {
  T *data = nullptr;
  if (cudaMallocManaged(&data, count * sizeof(T)) != cudaSuccess) std::exit(1);
  return data;
}

unsigned random(unsigned &state) { return (state = state * 1664525u + 1013904223u) >> 8; }

__global__ void count(const unsigned char *p, std::size_t n, unsigned *bin) {
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < n;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x)
    atomicAdd(bin + p[i], 1u);
}

void globalHistogram() {
  const std::size_t n = 100u << 20;
  auto *p = managed<unsigned char>(n);
  auto *bin = managed<unsigned>(256);
  unsigned state = 1;
  for (std::size_t i = 0; i < n; ++i) p[i] = static_cast<unsigned char>(random(state) >> 16);
  std::vector<unsigned> host(256);
  const Time device = measure([&] { std::fill_n(bin, 256, 0u); },
                              [&] {
                                count<<<64, 256>>>(p, n, bin);
                                cudaDeviceSynchronize();
                              });
  const Time twin = measure([&] { std::fill(host.begin(), host.end(), 0u); },
                            [&] {
                              for (std::size_t i = 0; i < n; ++i) ++host[p[i]];
                            });
  if (!std::equal(host.begin(), host.end(), bin)) std::printf("global_histogram: WRONG\n");
  report("global_histogram", device, twin);
}

__global__ void axpy(const float *x, float *y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = 2.0f * x[i] + y[i];
}

void emptyBlocks() {
  const int n = 500'000;
  auto *x = managed<float>(n), *y = managed<float>(n);
  const auto launch = [&](unsigned blocks) {
    return measure([] {},
                   [&] {
                     axpy<<<blocks, 512>>>(x, y, n);
                     cudaDeviceSynchronize();
                   });
  };
  const Time all = launch(500'000), needed = launch(977);
  const Time twin = measure([] {},
                            [&] {
                              for (int i = 0; i < n; ++i) y[i] = 2.0f * x[i] + y[i];
                            });
  report("empty_blocks", all, twin);
  std::printf("%-18s %.2f ns a block\n", "", (all.wall - needed.wall) * 1e6 / (500'000 - 977));
}

__host__ __device__ void multiply(unsigned *a, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    unsigned long long carry = 0;
    for (int i = 0; i < 16; ++i) {
      carry += static_cast<unsigned long long>(a[i]) * a[(i + r) & 15];
      a[i] = static_cast<unsigned>(carry);
      carry >>= 32;
    }
  }
}
__global__ void bigNumbers(unsigned *a, int rounds) {
  unsigned own[16];
  for (int i = 0; i < 16; ++i) own[i] = a[i];
  multiply(own, rounds);
  for (int i = 0; i < 16; ++i) a[i] = own[i];
}

void oneThread() {
  auto *a = managed<unsigned>(16);
  unsigned host[16];
  const auto fill = [](unsigned *to) {
    for (unsigned i = 0; i < 16; ++i) to[i] = i * 0x9e3779b9u + 1;
  };
  const Time device = measure([&] { fill(a); },
                              [&] {
                                bigNumbers<<<1, 1>>>(a, 100'000);
                                cudaDeviceSynchronize();
                              });
  const Time twin = measure([&] { fill(host); }, [&] { multiply(host, 100'000); });
  if (!std::equal(host, host + 16, a)) std::printf("one_thread: WRONG\n");
  report("one_thread", device, twin);
}

__global__ void insert(const unsigned *key, int n, int *head, int *next, int *lock) {
  for (int t = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x); t < n;
       t += static_cast<int>(blockDim.x * gridDim.x)) {
    const unsigned h = key[t] % 1024;
    for (int i = 0; i < 32; ++i)
      if (t % 32 == i) {
        while (atomicCAS(lock + h, 0, 1) != 0);
        __threadfence();
        next[t] = head[h];
        head[h] = t;
        __threadfence();
        atomicExch(lock + h, 0);
      }
  }
}

void lockTable() {
  const int n = 1 << 18;
  auto *key = managed<unsigned>(n);
  auto *head = managed<int>(1024), *next = managed<int>(n), *lock = managed<int>(1024);
  unsigned state = 1;
  for (int i = 0; i < n; ++i) key[i] = random(state);
  const auto clear = [&] {
    std::fill_n(head, 1024, -1);
    std::fill_n(lock, 1024, 0);
  };
  const Time device = measure(clear, [&] {
    insert<<<60, 256>>>(key, n, head, next, lock);
    cudaDeviceSynchronize();
  });
  int found = 0;
  for (int h = 0; h < 1024; ++h)
    for (int e = head[h]; e >= 0; e = next[e]) ++found;
  if (found != n) std::printf("lock_table: WRONG\n");
  const Time twin = measure(clear, [&] {
    for (int i = 0; i < n; ++i) {
      const unsigned h = key[i] % 1024;
      next[i] = head[h];
      head[h] = i;
    }
  });
  report("lock_table", device, twin);
}

}  // namespace

int main() {
  globalHistogram();
  emptyBlocks();
  oneThread();
  lockTable();
}
