// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

// Two passes: each thread sums its part, then scans it from its offset.
void scanOpenmp(const unsigned *in, unsigned *out, int n) {
  static unsigned totals[1024];
#pragma omp parallel
  {
    int t = omp_get_thread_num(), threads = omp_get_num_threads();
    long first = (long)n * t / threads, last = (long)n * (t + 1) / threads;
    unsigned sum = 0;
#pragma omp simd reduction(+ : sum)
    for (long i = first; i < last; ++i) sum += in[i];
    totals[t] = sum;
#pragma omp barrier
    unsigned before = 0;
    for (int k = 0; k < t; ++k) before += totals[k];
#pragma omp simd reduction(inscan, + : before)
    for (long i = first; i < last; ++i) {
      before += in[i];
#pragma omp scan inclusive(before)
      out[i] = before;
    }
  }
}
