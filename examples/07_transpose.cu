// SPDX-License-Identifier: Apache-2.0
// Matrix transpose through a padded shared tile, so that both global accesses are contiguous.
#include "check.h"

constexpr int kTile = 32, kRows = 8;

__global__ void transpose(const float *in, float *out, int width, int height) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int r = 0; r < kTile; r += kRows)
    if (x < width && y + r < height) tile[threadIdx.y + r][threadIdx.x] = in[(size_t)(y + r) * width + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int r = 0; r < kTile; r += kRows)
    if (x < height && y + r < width) out[(size_t)(y + r) * height + x] = tile[threadIdx.x][threadIdx.y + r];
}

int main(int argc, char **argv) {
  int width = argument(argc, argv, 1, 1001), height = argument(argc, argv, 2, 517);
  auto in = randomFloats((size_t)width * height);
  float *din = toDevice(in), *dout = poisonedDevice<float>(in.size());

  transpose<<<dim3((width + 31) / 32, (height + 31) / 32), dim3(kTile, kRows)>>>(din, dout, width, height);
  CHECK(cudaGetLastError());

  auto out = toHost(dout, in.size());
  Verdict verdict;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float got = out[(size_t)x * height + y], want = in[(size_t)y * width + x];
      verdict.expect(got == want, "out", (size_t)x * height + y, got, want);
    }
  CHECK(cudaFree(din));
  CHECK(cudaFree(dout));
  return verdict.report("transpose");
}
