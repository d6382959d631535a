// SPDX-License-Identifier: Apache-2.0
#include "../stream.h"

using namespace bench;

// c is aligned to a line.
void triadOpenmp(const float *a, const float *b, float *c, float scale, int n) {
  const int whole = n / kFloats * kFloats;
#pragma omp parallel for
  for (int i = 0; i < whole; i += kFloats)
    streamFloats(c + i, loadFloats(a + i) + allFloats(scale) * loadFloats(b + i));
  for (int i = whole; i < n; ++i) c[i] = a[i] + scale * b[i];
}
