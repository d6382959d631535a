// SPDX-License-Identifier: Apache-2.0
// C = A·B with square tiles in shared memory; sizes need not be multiples of the tile.
#include "check.h"

constexpr int kTile = 16;

__global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float tileA[kTile][kTile], tileB[kTile][kTile];
  int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += kTile) {
    int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
    tileA[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0;
    tileB[threadIdx.y][threadIdx.x] = kb < k && column < n ? b[kb * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tileA[threadIdx.y][i] * tileB[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

int main(int argc, char **argv) {
  int m = argument(argc, argv, 1, 250), n = argument(argc, argv, 2, 300), k = argument(argc, argv, 3, 170);
  auto a = randomFloats((size_t)m * k), b = randomFloats((size_t)k * n);
  float *da = toDevice(a), *db = toDevice(b), *dc = poisonedDevice<float>((size_t)m * n);

  matmul<<<dim3((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), dim3(kTile, kTile)>>>(da, db, dc, m, n, k);
  CHECK(cudaGetLastError());

  auto c = toHost(dc, (size_t)m * n);
  Verdict verdict;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double want = 0, magnitude = 0;
      for (int l = 0; l < k; ++l) {
        double term = (double)a[i * k + l] * b[l * n + j];
        want += term;
        magnitude += std::fabs(term);
      }
      // A float sum of k terms is off by at most k·2^-24 times the sum of magnitudes.
      double got = c[i * n + j];
      verdict.expect(std::fabs(got - want) <= k * 0x1p-24 * magnitude, "c", i * n + j, got, want);
    }
  for (float *p : {da, db, dc}) CHECK(cudaFree(p));
  return verdict.report("tiled matmul");
}
