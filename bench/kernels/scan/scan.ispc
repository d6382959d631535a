// SPDX-License-Identifier: Apache-2.0
// Parts that stay in the second-level cache are summed side by side, then scanned from their offsets.
#define PART (1 << 16)
#define PARTS 16

static task void sum(const uniform unsigned int *uniform source, uniform unsigned int *uniform totals) {
  const uniform unsigned int *uniform part = source + taskIndex * PART;
  unsigned int first = 0, second = 0;
  for (uniform int i = 0; i < PART; i += 2 * programCount) {
    first += part[i + programIndex];
    second += part[i + programCount + programIndex];
  }
  totals[taskIndex] = reduce_add(first + second);
}

static inline unsigned int scanned(unsigned int value) {
#pragma unroll
  for (uniform int o = 1; o < programCount; o *= 2) {
    const unsigned int left = shuffle(value, programIndex - o);
    value += programIndex >= o ? left : 0;
  }
  return value;
}

static task void scan(const uniform unsigned int *uniform source, uniform unsigned int *uniform out, const uniform unsigned int *uniform totals) {
  const uniform int base = taskIndex * PART;
  uniform unsigned int before = totals[taskIndex];
  for (uniform int i = base; i < base + PART; i += 2 * programCount) {
    const unsigned int low = scanned(source[i + programIndex]), high = scanned(source[i + programCount + programIndex]);
    const uniform unsigned int middle = before + extract(low, programCount - 1);
    out[i + programIndex] = low + before;
    out[i + programCount + programIndex] = high + middle;
    before = middle + extract(high, programCount - 1);
  }
}

export void scan_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform unsigned int *uniform source = (const uniform unsigned int *uniform)arrays[0];
  uniform unsigned int *uniform out = (uniform unsigned int *uniform)arrays[1];
  uniform unsigned int before = 0;
  for (uniform int base = 0; base < n; base += PARTS * PART) {
    uniform unsigned int totals[PARTS];
    launch[PARTS] sum(source + base, totals);
    sync;
    for (uniform int p = 0; p < PARTS; ++p) {
      const uniform unsigned int total = totals[p];
      totals[p] = before;
      before += total;
    }
    launch[PARTS] scan(source + base, out + base, totals);
    sync;
  }
}
