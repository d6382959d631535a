// SPDX-License-Identifier: Apache-2.0
// Softmax of each row: one warp per row, maximum and sum by shuffles.
#include "check.h"

__device__ float warpMax(float v) {
  for (int offset = 16; offset; offset /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, offset));
  return v;
}

__device__ float warpSum(float v) {
  for (int offset = 16; offset; offset /= 2) v += __shfl_xor_sync(~0u, v, offset);
  return v;
}

__global__ void softmax(const float *in, float *out, int rows, int columns) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const float *x = in + (size_t)row * columns;
  float *y = out + (size_t)row * columns;

  float highest = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += 32) highest = fmaxf(highest, x[c]);
  highest = warpMax(highest);

  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += 32) sum += expf(x[c] - highest);
  sum = warpSum(sum);

  for (int c = threadIdx.x; c < columns; c += 32) y[c] = expf(x[c] - highest) / sum;
}

int main(int argc, char **argv) {
  int rows = argument(argc, argv, 1, 501), columns = argument(argc, argv, 2, 777);
  auto in = randomFloats((size_t)rows * columns, -10, 10);
  float *din = toDevice(in), *dout = poisonedDevice<float>(in.size());

  dim3 block(32, 8);
  softmax<<<(rows + block.y - 1) / block.y, block>>>(din, dout, rows, columns);
  CHECK(cudaGetLastError());

  auto out = toHost(dout, in.size());
  Verdict verdict;
  for (int r = 0; r < rows; ++r) {
    const float *x = &in[(size_t)r * columns];
    double highest = x[0], sum = 0;
    for (int c = 1; c < columns; ++c) highest = std::fmax(highest, x[c]);
    for (int c = 0; c < columns; ++c) sum += std::exp(x[c] - highest);
    for (int c = 0; c < columns; ++c) {
      size_t i = (size_t)r * columns + c;
      verdict.expect(close(out[i], std::exp(x[c] - highest) / sum, 1e-6), "softmax", i, out[i], std::exp(x[c] - highest) / sum);
    }
  }
  CHECK(cudaFree(din));
  CHECK(cudaFree(dout));
  return verdict.report("softmax");
}
