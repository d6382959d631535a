// SPDX-License-Identifier: Apache-2.0
// Atomic additions to words that bytes number are counted block by block and added to memory late: sums must be right
// in all forms, and a thread must see its own additions at once, other threads those before a fence or a barrier.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "check.h"

using Byte = std::uint8_t;
struct Triple {
  unsigned a, b, c;
};

__device__ std::size_t thread() { return blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; }
__device__ std::size_t threads() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

template <class T>
__global__ void plain(const Byte *p, std::size_t n, T *bin, T value) {
  for (std::size_t i = thread(); i < n; i += threads()) atomicAdd(bin + p[i], value);
}

__global__ void once(const Byte *p, std::size_t n, unsigned *bin) {
  if (thread() < n) atomicAdd(bin + p[thread()], 1u);
}

__global__ void structures(const Byte *p, std::size_t n, Triple *bin) {
  for (std::size_t i = thread(); i < n; i += threads()) {
    atomicAdd(&bin[p[i]].a, 1u);
    if (p[i] % 3 == 0) atomicAdd(&bin[p[i]].c, 5u);
  }
}

// The words change from round to round.
__global__ void severalTables(const Byte *p, std::size_t n, unsigned *bin) {
  unsigned round = 0;
  for (std::size_t i = thread(); i < n; i += threads()) atomicAdd(bin + 256 * (round++ % 3) + p[i], 1u);
}

__device__ __noinline__ unsigned addIn(unsigned *bin, Byte b, unsigned depth) {
  if (depth) return addIn(bin, b, depth - 1) + 1;
  atomicAdd(bin + b, 1u);
  return 0;
}
__global__ void called(const Byte *p, std::size_t n, unsigned *bin) {
  for (std::size_t i = thread(); i < n; i += threads()) addIn(bin, p[i], p[i] % 4);
}

__global__ void withBarriers(const Byte *p, std::size_t n, unsigned *bin, unsigned *wrong) {
  const unsigned before = *static_cast<volatile unsigned *>(bin + 300);
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(bin + p[i], 1u);
  __syncthreads();
  unsigned sum = 0;
  for (unsigned b = 0; b < 256; ++b) sum += bin[b];
  if (sum + before != n) atomicAdd(wrong, 1u);
}

// Each thread's own additions, to words that only it adds to (a lane's bytes are its number, times eight, and three
// bits): read back by plain, volatile and atomic accesses, as bytes, and overwritten.
__global__ void ownOrder(const Byte *p, unsigned rounds, unsigned *bin, unsigned *wrong) {
  unsigned bad = 0;
  for (unsigned r = 0; r < rounds; ++r) {
    const Byte b = p[r * 32 + threadIdx.x];
    const unsigned before = bin[b];
    atomicAdd(bin + b, 3u);
    bad += bin[b] != before + 3;
    atomicAdd(bin + b, 3u);
    bad += *static_cast<volatile unsigned *>(bin + b) != before + 6;
    atomicAdd(bin + b, 3u);
    bad += atomicAdd(bin + b, 1u) != before + 9;
    atomicAdd(bin + b, 3u);
    bin[b] += 5;
    bad += bin[b] != before + 18;
    atomicAdd(bin + b, 0x100u);
    bad += reinterpret_cast<const Byte *>(bin + b)[1] != static_cast<Byte>((before + 18 + 0x100) >> 8);
  }
  if (bad) atomicAdd(wrong, bad);
}

// The same side by side: a lane's byte is its number.
__global__ void ownWords(const Byte *p, unsigned rounds, unsigned *bin, unsigned *wrong) {
  unsigned bad = 0;
  for (unsigned r = 0; r < rounds; ++r) {
    atomicAdd(bin + p[threadIdx.x], 1u);
    if (r % 3) bad += bin[threadIdx.x] != r + 1;
    if (threadIdx.x % 2) atomicAdd(bin + p[threadIdx.x], 1u);
    if (threadIdx.x % 2) bin[threadIdx.x] -= 1;
  }
  if (bad) atomicAdd(wrong, bad);
}

// Blocks hand on: what one added before a fence, the next one sees.
__global__ void handedOn(const Byte *p, unsigned n, unsigned *bin, volatile unsigned *turn, unsigned *wrong) {
  while (*turn != blockIdx.x);
  __threadfence();
  unsigned sum = 0;
  for (unsigned b = 0; b < 256; ++b) sum += *static_cast<volatile unsigned *>(bin + b);
  if (sum != blockIdx.x * n) atomicAdd(wrong, 1u);
  __syncwarp();
  for (unsigned i = threadIdx.x; i < n; i += 32) atomicAdd(bin + p[i], 1u);
  __threadfence();
  __syncwarp();
  if (threadIdx.x == 0) *turn = blockIdx.x + 1;
}

template <class T>
struct Managed {
  explicit Managed(std::size_t count) : count(count) {
    CHECK_CUDA(cudaMallocManaged(&data, count * sizeof(T)));
    CHECK_CUDA(cudaMemset(data, 0, count * sizeof(T)));
    CHECK_CUDA(cudaDeviceSynchronize());
  }
  ~Managed() { cudaFree(data); }
  T &operator[](std::size_t i) { return data[i]; }
  T *data;
  std::size_t count;
};

template <class T>
void checkPlain(Managed<Byte> &p, std::size_t n, unsigned blocks, unsigned width, T value) {
  Managed<T> bin(256);
  std::vector<T> want(256);
  for (std::size_t i = 0; i < n; ++i) want[p[i]] += value;
  plain<<<blocks, width>>>(p.data, n, bin.data, value);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (unsigned b = 0; b < 256; ++b) CHECK(bin[b] == want[b]);
}

void checkForms(Managed<Byte> &p, std::size_t n) {
  std::vector<unsigned> want(256);
  for (std::size_t i = 0; i < n; ++i) ++want[p[i]];
  {
    Managed<unsigned> bin(256), nested(256);
    once<<<static_cast<unsigned>((n + 95) / 96), 96>>>(p.data, n, bin.data);
    called<<<3, 64>>>(p.data, n, nested.data);
    CHECK_CUDA(cudaDeviceSynchronize());
    for (unsigned b = 0; b < 256; ++b) CHECK(bin[b] == want[b] && nested[b] == want[b]);
  }
  {
    Managed<Triple> bin(256);
    structures<<<4, 128>>>(p.data, n, bin.data);
    CHECK_CUDA(cudaDeviceSynchronize());
    for (unsigned b = 0; b < 256; ++b)
      CHECK(bin[b].a == want[b] && bin[b].b == 0 && bin[b].c == (b % 3 ? 0 : 5 * want[b]));
  }
  {
    constexpr unsigned kThreads = 256;
    Managed<unsigned> bin(3 * 256);
    std::vector<unsigned> tables(3 * 256);
    for (std::size_t i = 0; i < n; ++i) ++tables[256 * (i / kThreads % 3) + p[i]];
    severalTables<<<2, kThreads / 2>>>(p.data, n, bin.data);
    CHECK_CUDA(cudaDeviceSynchronize());
    for (unsigned b = 0; b < 3 * 256; ++b) CHECK(bin[b] == tables[b]);
  }
}

void checkOrder(Managed<Byte> &p) {
  constexpr unsigned kRounds = 300;
  Managed<unsigned> wrong(1), own(256), words(32), barriers(512), bin(256), turn(1);
  Managed<Byte> lanes(kRounds * 32), numbers(32);
  for (unsigned i = 0; i < kRounds * 32; ++i) lanes[i] = static_cast<Byte>(i % 32 * 8 + p[i] % 8);
  for (unsigned i = 0; i < 32; ++i) numbers[i] = static_cast<Byte>(i);
  ownOrder<<<1, 32>>>(lanes.data, kRounds, own.data, wrong.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(wrong[0] == 0);
  ownWords<<<1, 32>>>(numbers.data, kRounds, words.data, wrong.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(wrong[0] == 0);
  for (unsigned i = 0; i < 32; ++i) CHECK(words[i] == kRounds);
  withBarriers<<<1, 256>>>(p.data, 5000, barriers.data, wrong.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(wrong[0] == 0);
  handedOn<<<6, 32>>>(p.data, 1000, bin.data, turn.data, wrong.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(wrong[0] == 0);
}

int main() {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const std::size_t count = 40'000;
  Managed<Byte> p(count);
  for (std::size_t i = 0; i < count; ++i) p[i] = static_cast<Byte>(random() % 4 ? random() : 7);
  for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{1000 + random() % 1000}, count}) {
    checkPlain<unsigned>(p, n, 3, 96, 1);
    checkPlain<unsigned>(p, n, 1 + random() % 9, 1 + random() % 300, random());
    checkPlain<unsigned long long>(p, n, 2, 256, (1ull << 40) + random());
    checkForms(p, n);
  }
  checkOrder(p);
  plain<<<1, 32>>>(p.data, 100, static_cast<unsigned *>(nullptr), 1u);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  std::printf("histograms: PASSED\n");
}
