// SPDX-License-Identifier: Apache-2.0
void spmvOpenmp(const int *start, const int *columns, const float *values, const float *x, float *y, int rows) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = start[r]; i < start[r + 1]; ++i) sum += values[i] * x[columns[i]];
    y[r] = sum;
  }
}
