// SPDX-License-Identifier: Apache-2.0
// Launches that write more than caches hold take other store instructions: the results are the same, at any
// alignment, in place, and for kernels and copies that read them at once.
#include <random>
#include <vector>

#include <cuda_runtime.h>

#include "check.h"

template <class T>
__global__ void affine(const T *in, T *out, T factor, T offset, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factor + offset;
}

template <class T>
static void check(std::mt19937 &random, int n, int inOffset, int outOffset, bool inPlace) {
  const T poison = static_cast<T>(-77);
  std::vector<T> values(n + inOffset), result(n + outOffset + 64);
  for (T &v : values) v = static_cast<T>(random() % 1000);
  T *in, *out;
  CHECK_CUDA(cudaMalloc(&in, values.size() * sizeof(T)));
  CHECK_CUDA(cudaMalloc(&out, result.size() * sizeof(T)));
  std::vector<T> poisoned(result.size(), poison);
  CHECK_CUDA(cudaMemcpy(in, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(out, poisoned.data(), result.size() * sizeof(T), cudaMemcpyHostToDevice));
  const int threads = 256, blocks = (n + threads - 1) / threads;
  affine<T><<<blocks, threads>>>(in + inOffset, out + outOffset, 3, 1, n);
  if (inPlace) affine<T><<<blocks, threads>>>(out + outOffset, out + outOffset, 2, 5, n);
  CHECK_CUDA(cudaMemcpy(result.data(), out, result.size() * sizeof(T), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    T expected = values[inOffset + i] * 3 + 1;
    if (inPlace) expected = expected * 2 + 5;
    CHECK(result[outOffset + i] == expected);
  }
  for (int i = 0; i < outOffset; ++i) CHECK(result[i] == poison);
  for (std::size_t i = n + outOffset; i < result.size(); ++i) CHECK(result[i] == poison);
  CHECK_CUDA(cudaFree(in));
  CHECK_CUDA(cudaFree(out));
}

// Lanes that `lanes` names of each warp, one row of 32 a warp.
template <class T>
__global__ void someLanes(T *out, unsigned lanes) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (lanes >> threadIdx.x & 1) out[(size_t)row * 32 + threadIdx.x] = static_cast<T>(row * 5 + threadIdx.x);
}

// Parts of lines beside whole ones, and alone.
template <class T>
static void checkLanes(unsigned lanes) {
  std::printf("lanes %08x of %zu bytes\n", lanes, sizeof(T));
  const int rows = (4 << 20) / 32 + 8;
  const T poison = static_cast<T>(-77);
  std::vector<T> result(static_cast<size_t>(rows) * 32, poison);
  T *out;
  CHECK_CUDA(cudaMalloc(&out, result.size() * sizeof(T)));
  CHECK_CUDA(cudaMemcpy(out, result.data(), result.size() * sizeof(T), cudaMemcpyHostToDevice));
  someLanes<T><<<rows / 8, dim3(32, 8)>>>(out, lanes);
  CHECK_CUDA(cudaMemcpy(result.data(), out, result.size() * sizeof(T), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < result.size(); ++i) CHECK(result[i] == (lanes >> i % 32 & 1 ? static_cast<T>(i / 32 * 5 + i % 32) : poison));
  CHECK_CUDA(cudaFree(out));
}

int main() {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const int large = (5 << 20) + static_cast<int>(random() % 100), small = 1000 + static_cast<int>(random() % 100);
  for (int n : {small, large}) {
    check<float>(random, n, 0, 0, false);
    check<float>(random, n, 1, 3, true);
    check<double>(random, n, 2, 16, true);
    check<unsigned short>(random, n, 32, 32, false);
  }
  for (unsigned lanes : {~0u << 1, ~0u >> 1, 0xffff0000u | static_cast<unsigned>(random()), 0xffffu | static_cast<unsigned>(random()) << 16, static_cast<unsigned>(random())}) {
    checkLanes<float>(lanes);
    checkLanes<double>(lanes);
    checkLanes<unsigned short>(lanes);
  }
  std::printf("PASSED\n");
}
