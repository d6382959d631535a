// SPDX-License-Identifier: Apache-2.0
// CSR, a warp a row; rows of 64 entries at random columns.
#include <random>

#include "../case.h"

__global__ void spmv(const int *start, const int *columns, const float *values, const float *x, float *y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = start[row] + lane; i < start[row + 1]; i += 32) sum += values[i] * x[columns[i]];
  for (int o = 16; o; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (lane == 0) y[row] = sum;
}

void spmvOpenmp(const int *start, const int *columns, const float *values, const float *x, float *y, int rows);

static int added = bench::addCase([] {
  const int rows = bench::size(1 << 17, 1 << 11), perRow = 64, width = rows;
  std::mt19937 &engine = bench::randomEngine();
  std::vector<int> start, columns;
  for (int r = 0; r <= rows; ++r) start.push_back(r * perRow);
  for (int i = 0; i < rows * perRow; ++i) columns.push_back(engine() % width);
  bench::Case c;
  c.name = "spmv";
  c.bytes = 8.0 * rows * perRow + 12.0 * rows;
  c.flops = 2.0 * rows * perRow;
  c.arrays = {bench::Array::of(start), bench::Array::of(columns), bench::Array::of(bench::randomFloats(rows * perRow, -1, 1)),
              bench::Array::of(bench::randomFloats(width, -1, 1)), bench::Array::poisoned<float>(rows)};
  c.cuda = [=](auto &p) { spmv<<<rows / 8, 256>>>((int *)p[0], (int *)p[1], (float *)p[2], (float *)p[3], (float *)p[4], rows); };
  c.openmp = [=](auto &p) { spmvOpenmp((int *)p[0], (int *)p[1], (float *)p[2], (float *)p[3], (float *)p[4], rows); };
  c.ispc = {rows, 1024};
  c.opencl = {{{"spmv", {rows}, {256}}}, bench::OpenCl::pack(rows)};
  c.tolerance = 1e-4;
  return c;
});
