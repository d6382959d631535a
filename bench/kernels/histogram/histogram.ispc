// SPDX-License-Identifier: Apache-2.0
// Each task counts into four tables of its own, so that equal neighbours do not wait for each other. Counting is
// scalar: with a table for each lane, gathers and scatters are slower.
#define PART (1 << 20)

static task void count(const uniform uint8 *uniform data, uniform unsigned int *uniform bins, uniform int n) {
  uniform unsigned int tables[4][256];
  foreach (b = 0 ... 1024) (&tables[0][0])[b] = 0;
  const uniform int begin = taskIndex * PART;
  const uniform int end = min(n, begin + PART);
  for (uniform int i = begin; i < end; i += 8) {
    const uniform unsigned int64 word = *((const uniform unsigned int64 *uniform)(data + i));
    ++tables[0][word & 255];
    ++tables[1][(word >> 8) & 255];
    ++tables[2][(word >> 16) & 255];
    ++tables[3][(word >> 24) & 255];
    ++tables[0][(word >> 32) & 255];
    ++tables[1][(word >> 40) & 255];
    ++tables[2][(word >> 48) & 255];
    ++tables[3][word >> 56];
  }
  foreach (b = 0 ... 256) atomic_add_global(&bins[b], tables[0][b] + tables[1][b] + tables[2][b] + tables[3][b]);
}

export void histogram_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  uniform unsigned int *uniform bins = (uniform unsigned int *uniform)arrays[1];
  foreach (b = 0 ... 256) bins[b] = 0;
  launch[(n + PART - 1) / PART] count((const uniform uint8 *uniform)arrays[0], bins, n);
}
