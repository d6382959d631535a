// SPDX-License-Identifier: Apache-2.0
// Steps of butterflies, trees and scans, whose accesses depend on a uniform stride, in shared memory (the stride is doubled or
// halved from round to round, or shifted by) and in global memory (it is a parameter): each stride, powers of two and others;
// elements of each width; rows and columns of a parameter's width; blocks and warps that are not full. Threads of one step touch different elements, so that
// the same step on the host, thread by thread, gives what they must give.
#include <cstring>
#include <random>
#include <vector>

#include "check.h"

static unsigned seed = std::random_device{}();
static std::mt19937 engine(seed);

constexpr unsigned kMost = 1024, kGuard = 64;

// Sorts pairs a stride apart, up or down by turns.
struct Order {
  template <class T>
  static __host__ __device__ void step(T *x, unsigned t, unsigned s, unsigned n) {
    int i = 2 * t - (t & (s - 1));
    if (i + s >= n) return;
    T low = x[i], high = x[i + s];
    bool up = (t & (2 * s)) == 0;
    if (low > high == up) x[i] = high, x[i + s] = low;
  }
};

// The same without a branch: both are always written.
struct Exchange {
  template <class T>
  static __host__ __device__ void step(T *x, unsigned t, unsigned s, unsigned n) {
    int i = 2 * t - (t & (s - 1));
    T a = x[i], b = x[i + s];
    x[i] = a > b ? b : a;
    x[i + s] = a > b ? a : b;
  }
};

struct Partner {
  template <class T>
  static __host__ __device__ void step(T *x, unsigned t, unsigned s, unsigned n) {
    unsigned j = t ^ s;
    if (j > t && j < n && x[t] > x[j]) {
      T swapped = x[t];
      x[t] = x[j];
      x[j] = swapped;
    }
  }
};

struct Fourier {
  template <class T>
  static __host__ __device__ void step(T *x, unsigned t, unsigned s, unsigned n) {
    unsigned i = t / s * 2 * s + t % s;
    if (i + s >= n) return;
    T a = x[i], b = x[i + s];
    x[i] = a + b;
    x[i + s] = a - b;
  }
};

// The stride is 2^shift.
struct Shifted {
  template <class T>
  static __host__ __device__ void step(T *x, unsigned t, unsigned shift, unsigned n) {
    unsigned i = t >> shift << (shift + 1) | (t & ((1u << shift) - 1)), j = i + (1u << shift);
    if (j >= n) return;
    T a = x[i], b = x[j];
    x[j] = a + b;
    x[i] = a - b;
  }
};

struct TreeOfNeighbours {
  template <class T>
  static __host__ __device__ void step(T *x, unsigned t, unsigned s, unsigned n) {
    if (t % (2 * s) == 0 && t + s < n) x[t] += x[t + s];
  }
};

struct TreeOfIndices {
  template <class T>
  static __host__ __device__ void step(T *x, unsigned t, unsigned s, unsigned n) {
    int index = 2 * s * t;
    if (index + s < n) x[index] += x[index + s];
  }
};

struct SweepUp {
  template <class T>
  static __host__ __device__ void step(T *x, unsigned t, unsigned s, unsigned n) {
    if (t >= n / (2 * s)) return;
    int a = s * (2 * t + 1) - 1, b = s * (2 * t + 2) - 1;
    x[b] += x[a];
  }
};

struct SweepDown {
  template <class T>
  static __host__ __device__ void step(T *x, unsigned t, unsigned s, unsigned n) {
    if (t >= n / (2 * s)) return;
    int a = s * (2 * t + 1) - 1, b = s * (2 * t + 2) - 1;
    T left = x[a];
    x[a] = x[b];
    x[b] += left;
  }
};

// Four at a time, backwards.
struct Reversed {
  template <class T>
  static __host__ __device__ void step(T *x, unsigned t, unsigned s, unsigned n) {
    unsigned i = n - 4 * s + t % s - t / s * 4 * s;
    if (t / s >= n / (4 * s)) return;
    T a = x[i], b = x[i + s], c = x[i + 2 * s], d = x[i + 3 * s];
    x[i] = a + c, x[i + s] = b + d, x[i + 2 * s] = a - c, x[i + 3 * s] = b - d;
  }
};

enum class Walk { doubled, halved, counted };

template <class Step, Walk walk, class T>
__global__ void rounds(T *keys, unsigned n, unsigned first, unsigned last) {
  __shared__ T tile[kMost];
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) tile[i] = keys[i];
  for (unsigned s = first; walk == Walk::halved ? s >= last : s <= last; s = walk == Walk::counted ? s + 1 : walk == Walk::doubled ? s * 2 : s / 2) {
    __syncthreads();
    Step::step(tile, threadIdx.x, s, n);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) keys[i] = tile[i];
}

template <class Step, class T>
__global__ void oneStep(T *keys, unsigned s, unsigned n) {
  Step::step(keys, blockIdx.x * blockDim.x + threadIdx.x, s, n);
}

// A bias for each column, and one for each row.
__global__ void addBiases(unsigned *keys, const unsigned *biases, unsigned columns, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) keys[i] += biases[i % columns] + 3 * biases[i / columns];
}

template <class T>
struct Keys {
  std::vector<T> host;
  T *device;
  unsigned n;
  explicit Keys(unsigned count) : host(count + 2 * kGuard), n(count) {
    for (T &key : host) key = (T)(engine() % 251);
    CHECK_CUDA(cudaMalloc(&device, host.size() * sizeof(T)));
    CHECK_CUDA(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Keys() { cudaFree(device); }
  void check(const char *what, unsigned threads, unsigned s) {
    std::vector<T> got(host.size());
    CHECK_CUDA(cudaMemcpy(got.data(), device, got.size() * sizeof(T), cudaMemcpyDeviceToHost));
    if (!std::memcmp(got.data(), host.data(), got.size() * sizeof(T))) return;
    for (unsigned i = 0; i < got.size(); ++i)
      if (got[i] != host[i]) std::fprintf(stderr, "%s, %u threads, %u elements of %zu bytes, stride %u: element %d differs\n", what, threads, n, sizeof(T), s, (int)i - (int)kGuard);
    std::exit(1);
  }
};

template <class Step, Walk walk, class T>
static void checkRounds(const char *what, unsigned threads, unsigned n, unsigned first, unsigned last) {
  Keys<T> keys(n);
  rounds<Step, walk><<<1, threads>>>(keys.device + kGuard, n, first, last);
  for (unsigned s = first; walk == Walk::halved ? s >= last : s <= last; s = walk == Walk::counted ? s + 1 : walk == Walk::doubled ? s * 2 : s / 2)
    for (unsigned t = 0; t < threads; ++t) Step::step(keys.host.data() + kGuard, t, s, n);
  keys.check(what, threads, first);
}

template <class Step, class T>
static void checkStep(const char *what, unsigned threads, unsigned n, unsigned s) {
  Keys<T> keys(n);
  const unsigned blocks = 3;
  oneStep<Step><<<blocks, threads>>>(keys.device + kGuard, s, n);
  for (unsigned t = 0; t < blocks * threads; ++t) Step::step(keys.host.data() + kGuard, t, s, n);
  keys.check(what, threads, s);
}

static void checkBiases(unsigned threads, unsigned n, unsigned columns) {
  Keys<unsigned> keys(n), biases(n);
  addBiases<<<(n + threads - 1) / threads, threads>>>(keys.device + kGuard, biases.device + kGuard, columns, n);
  for (unsigned i = 0; i < n; ++i) keys.host[kGuard + i] += biases.host[kGuard + i % columns] + 3 * biases.host[kGuard + i / columns];
  keys.check("addBiases", threads, columns);
}

template <class T>
static void checkType(unsigned threads, unsigned n) {
  checkRounds<Exchange, Walk::doubled, T>("Exchange", threads, 2 * threads, 1, threads & -threads);
  checkRounds<Fourier, Walk::doubled, T>("Fourier", threads, n, 1, 256);
  checkRounds<Fourier, Walk::doubled, T>("Fourier", threads, n, 3, 200);
  for (unsigned s : {1u, 2u, 4u, 8u, 16u, 32u, 5u}) checkStep<Partner, T>("Partner", threads, n, s);
}

static void checkForms(unsigned threads, unsigned n) {
  using T = unsigned;
  checkRounds<Order, Walk::halved, T>("Order", threads, n, 256, 1);
  checkRounds<Reversed, Walk::doubled, T>("Reversed", threads, n, 1, n / 4);
  checkRounds<Partner, Walk::halved, T>("Partner", threads, n, 256, 1);
  checkRounds<Partner, Walk::doubled, T>("Partner", threads, n, 7, 256);
  checkRounds<Shifted, Walk::counted, T>("Shifted", threads, n, 0, 9);
  checkRounds<TreeOfNeighbours, Walk::doubled, T>("TreeOfNeighbours", threads, n, 1, 512);
  checkRounds<TreeOfIndices, Walk::doubled, T>("TreeOfIndices", threads, n, 1, 512);
  checkRounds<TreeOfIndices, Walk::doubled, T>("TreeOfIndices", threads, n, 3, 512);
  checkRounds<SweepUp, Walk::doubled, T>("SweepUp", threads, n, 1, n / 2);
  checkRounds<SweepDown, Walk::halved, T>("SweepDown", threads, n, n / 2, 1);
  for (unsigned s = 1; s < 70; s += s < 10 ? 1 : 1 + engine() % 7) {
    checkBiases(threads, n, s);
    checkStep<Partner, T>("Partner", threads, n, s);
    checkStep<Fourier, T>("Fourier", threads, n, s);
    checkStep<TreeOfNeighbours, T>("TreeOfNeighbours", threads, n, s);
  }
  for (unsigned columns : {32u, 64u, 96u, 0x80000000u, ~0u}) checkBiases(threads, n, columns);
  for (unsigned s = 1; s <= 256; s *= 2) {
    checkStep<Order, T>("Order", threads, n, s);
    if (threads % s == 0) checkStep<Exchange, T>("Exchange", threads, 6 * threads, s);
  }
}

int main() {
  std::printf("seed %u\n", seed);
  for (unsigned threads : {32u, 64u, 100u, 256u, 512u})
    for (unsigned n : {2 * threads, 2 * threads - 1 - (unsigned)(engine() % 40)}) {
      checkForms(threads, n);
      checkType<unsigned>(threads, n);
      if (threads % 32) continue;  // other code than for rows of warps: enough of it
      checkType<unsigned char>(threads, n);
      checkType<unsigned short>(threads, n);
      checkType<unsigned long long>(threads, n);
      checkType<float>(threads, n);
    }
  std::puts("butterflies: passed");
}
