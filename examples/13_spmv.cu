// SPDX-License-Identifier: Apache-2.0
// y = A·x for a sparse matrix in CSR form: one warp per row, gathers from x.
#include "check.h"

__global__ void spmv(const int *rowStart, const int *columns, const float *values, const float *x, float *y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = rowStart[row] + lane; i < rowStart[row + 1]; i += 32) sum += values[i] * x[columns[i]];
  for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (lane == 0) y[row] = sum;
}

int main(int argc, char **argv) {
  int rows = argument(argc, argv, 1, 3001), width = argument(argc, argv, 2, 2500);
  std::vector<int> rowStart(1, 0), columns;
  for (int r = 0; r < rows; ++r) {
    int count = generator()() % 100;  // rows of 0 to 99 entries
    for (int i = 0; i < count; ++i) columns.push_back(generator()() % width);
    rowStart.push_back((int)columns.size());
  }
  auto values = randomFloats(columns.size()), x = randomFloats(width);
  int *dstart = toDevice(rowStart), *dcolumns = toDevice(columns);
  float *dvalues = toDevice(values), *dx = toDevice(x), *dy = poisonedDevice<float>(rows);

  spmv<<<(rows + 7) / 8, 256>>>(dstart, dcolumns, dvalues, dx, dy, rows);
  CHECK(cudaGetLastError());

  auto y = toHost(dy, rows);
  Verdict verdict;
  for (int r = 0; r < rows; ++r) {
    double want = 0;
    for (int i = rowStart[r]; i < rowStart[r + 1]; ++i) want += (double)values[i] * x[columns[i]];
    verdict.expect(close(y[r], want, 1e-5), "y", r, y[r], want);
  }
  for (void *p : {(void *)dstart, (void *)dcolumns, (void *)dvalues, (void *)dx, (void *)dy}) CHECK(cudaFree(p));
  return verdict.report("CSR SpMV");
}
