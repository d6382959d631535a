// SPDX-License-Identifier: Apache-2.0
#include "../stream.h"

using namespace bench;

// c is aligned to a line.
void addOpenmp(const float *a, const float *b, float *c, int n) {
  const int whole = n / kFloats * kFloats;
#pragma omp parallel for
  for (int i = 0; i < whole; i += kFloats) streamFloats(c + i, loadFloats(a + i) + loadFloats(b + i));
  for (int i = whole; i < n; ++i) c[i] = a[i] + b[i];
}
