// SPDX-License-Identifier: Apache-2.0
// Four private tables a thread, so that equal neighbours do not wait for each other.
void histogramOpenmp(const unsigned char *data, unsigned *bins, int n) {
  for (int b = 0; b < 256; ++b) bins[b] = 0;
#pragma omp parallel
  {
    unsigned local[4][256] = {};
#pragma omp for
    for (int i = 0; i < n / 4; ++i)
      for (int k = 0; k < 4; ++k) ++local[k][data[4 * i + k]];
#pragma omp critical
    for (int b = 0; b < 256; ++b) bins[b] += local[0][b] + local[1][b] + local[2][b] + local[3][b];
  }
}
