// SPDX-License-Identifier: Apache-2.0
// Launches leave nothing behind: after a round in which as many were pending as ever will be, memory does not grow.
#include <cstdio>
#include <fstream>
#include <future>

#include "check.h"

struct Large {
  int words[200];  // parameters beyond what is recycled
};

__global__ void count(int *total, int times) { *total += times; }
__global__ void countLarge(int *total, Large large) { *total += large.words[threadIdx.x + 199]; }

long residentPages() {
  long all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident;
}

constexpr int kLaunches = 500;  // at about a thousand that wait, a GPU lets the launching thread wait, too
constexpr int kRounds = 200;

void launchMany(int *total, cudaStream_t stream) {
  Large large{};
  large.words[199] = 2;
  for (int i = 0; i < kLaunches; ++i) {
    if (i % 10) count<<<1, 1, 0, stream>>>(total, 1);
    else countLarge<<<1, 1, 0, stream>>>(total, large);
  }
}

int main() {
  int *total, rounds = 0;
  CHECK_CUDA(cudaMallocManaged(&total, sizeof *total));
  *total = 0;
  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreate(&stream));

  launchMany(total, stream);  // loads the kernels, for which a GPU that waits for the host would be waited for
  ++rounds;
  CHECK_CUDA(cudaDeviceSynchronize());

  std::promise<void> go;
  CHECK_CUDA(cudaLaunchHostFunc(stream, [](void *p) { static_cast<std::promise<void> *>(p)->get_future().wait(); }, &go));
  launchMany(total, stream);  // all of them wait for the host
  ++rounds;
  go.set_value();
  CHECK_CUDA(cudaDeviceSynchronize());

  const long before = residentPages();
  for (; rounds <= kRounds; ++rounds) {
    launchMany(total, stream);
    CHECK_CUDA(cudaDeviceSynchronize());
  }
  // A few pages for what comes late, such as a worker's first stack: 100,000 launches that lost 16 bytes each took 400.
  const long grown = residentPages() - before;
  if (grown > 200) return std::printf("memory grew by %ld pages\n", grown), 1;
  const int expected = rounds * kLaunches / 10 * 11;
  if (*total != expected) return std::printf("%d launches were counted, not %d\n", *total, expected), 1;
  std::puts("PASSED");
  return 0;
}
