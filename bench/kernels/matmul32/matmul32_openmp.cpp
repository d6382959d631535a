// SPDX-License-Identifier: Apache-2.0
// The same algorithm by hand: 32×32 tiles of A and B are staged, the tile of C stays in registers.
constexpr int kTile = 32;

static void tile(const float *a, const float *b, float *c, int n) {
  float sum[kTile][kTile] = {};
  for (int k = 0; k < n; k += kTile) {
    alignas(64) float tileA[kTile][kTile], tileB[kTile][kTile];
    for (int y = 0; y < kTile; ++y)
#pragma omp simd
      for (int x = 0; x < kTile; ++x) {
        tileA[y][x] = a[y * n + k + x];
        tileB[y][x] = b[(k + y) * n + x];
      }
    for (int y = 0; y < kTile; ++y)
      for (int i = 0; i < kTile; ++i)
#pragma omp simd
        for (int x = 0; x < kTile; ++x) sum[y][x] += tileA[y][i] * tileB[i][x];
  }
  for (int y = 0; y < kTile; ++y)
    for (int x = 0; x < kTile; ++x) c[y * n + x] = sum[y][x];
}

void matmul32Openmp(const float *a, const float *b, float *c, int n) {
#pragma omp parallel for collapse(2)
  for (int row = 0; row < n; row += kTile)
    for (int column = 0; column < n; column += kTile) tile(a + row * n, b + column, c + row * n + column, n);
}
