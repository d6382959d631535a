// SPDX-License-Identifier: Apache-2.0
// Blocks of one thread run as scalar code: many of them, with returns, calls that end the thread, recursion, locks
// between blocks and device printf, and with barriers and collectives, for which they do not; last, a thread's fault.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "check.h"

__device__ __noinline__ unsigned collatz(unsigned n, unsigned steps) {
  if (steps > 200) asm volatile("exit;");
  return n == 1 ? steps : collatz(n % 2 ? 3 * n + 1 : n / 2, steps + 1);
}

__global__ void recursive(const unsigned *in, unsigned *out) {
  if (blockIdx.x % 7 == 3) return;
  out[blockIdx.x] = collatz(in[blockIdx.x], 0);
}

__global__ void arrays(const unsigned *in, unsigned *out, unsigned rounds) {
  unsigned a[16];
  for (unsigned i = 0; i < 16; ++i) a[i] = in[blockIdx.x] + i * 0x9e3779b9u;
  for (unsigned r = 0; r < rounds; ++r) a[a[r % 16] % 16] += a[(r + 5) % 16] ^ r;
  unsigned sum = 0;
  for (unsigned i = 0; i < 16; ++i) sum = sum * 31 + a[i];
  out[blockIdx.x + blockIdx.y * gridDim.x] = sum;
}

__global__ void locked(int *lock, unsigned *count) {
  while (atomicCAS(lock, 0, 1) != 0);
  __threadfence();
  *static_cast<volatile unsigned *>(count) = *static_cast<volatile unsigned *>(count) + 1;
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void together(unsigned *out) {
  __shared__ unsigned x;
  x = blockIdx.x;
  __syncthreads();
  out[blockIdx.x] = __shfl_sync(1, x, 0) + __popc(__activemask());
}

__global__ void fault(unsigned *out) { out[blockIdx.x == 5 ? std::size_t{1} << 40 : blockIdx.x] = 1; }

unsigned collatzOf(unsigned n) {
  unsigned steps = 0;
  for (; n != 1; ++steps) n = n % 2 ? 3 * n + 1 : n / 2;
  return steps;
}

unsigned arraysOf(unsigned first, unsigned rounds) {
  unsigned a[16], sum = 0;
  for (unsigned i = 0; i < 16; ++i) a[i] = first + i * 0x9e3779b9u;
  for (unsigned r = 0; r < rounds; ++r) a[a[r % 16] % 16] += a[(r + 5) % 16] ^ r;
  for (unsigned i = 0; i < 16; ++i) sum = sum * 31 + a[i];
  return sum;
}

int main() {
  constexpr unsigned kBlocks = 1000, kPoison = 0xdeadbeef;
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  unsigned *in, *out;
  int *lock;
  CHECK_CUDA(cudaMallocManaged(&in, kBlocks * 4));
  CHECK_CUDA(cudaMallocManaged(&out, 2 * kBlocks * 4));
  CHECK_CUDA(cudaMallocManaged(&lock, 4));
  const auto poison = [&] {
    for (unsigned i = 0; i < 2 * kBlocks; ++i) out[i] = kPoison;
  };
  for (unsigned i = 0; i < kBlocks; ++i) in[i] = 1 + random() % 100'000;

  poison();
  recursive<<<kBlocks, 1>>>(in, out);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (unsigned i = 0; i < kBlocks; ++i) {
    const unsigned steps = collatzOf(in[i]);
    CHECK(out[i] == (i % 7 == 3 || steps > 200 ? kPoison : steps));
  }

  poison();
  arrays<<<dim3(kBlocks, 2), 1>>>(in, out, 100);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (unsigned i = 0; i < 2 * kBlocks; ++i) CHECK(out[i] == arraysOf(in[i % kBlocks], 100));

  *lock = 0;
  *out = 0;
  locked<<<64, 1>>>(lock, out);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(*out == 64);

  poison();
  together<<<kBlocks, 1>>>(out);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (unsigned i = 0; i < kBlocks; ++i) CHECK(out[i] == i + 1);

  fault<<<16, 1>>>(out);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  std::printf("one_thread: PASSED\n");
}
