// SPDX-License-Identifier: Apache-2.0
void reductionOpenmp(const float *in, float *sum, int n) {
  float total = 0;
#pragma omp parallel for simd reduction(+ : total)
  for (int i = 0; i < n; ++i) total += in[i];
  *sum = total;
}
