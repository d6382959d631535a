// SPDX-License-Identifier: Apache-2.0
// The same network; strides below a vector's width by shuffles in registers, up to 512 on chunks in the first-level cache.
#define CHUNK 1024

static inline void order(uniform unsigned int *uniform low, uniform unsigned int *uniform high, uniform bool up) {
  const unsigned int a = low[programIndex], b = high[programIndex];
  const unsigned int small = min(a, b), large = max(a, b);
  low[programIndex] = up ? small : large;
  high[programIndex] = up ? large : small;
}

static inline void merge(uniform unsigned int *uniform keys, uniform int first, uniform int count, uniform int size, uniform int stride) {
  for (uniform int base = first; base < first + count; base += 2 * stride)
    for (uniform int i = base; i < base + stride; i += programCount) order(keys + i, keys + i + stride, (base & size) == 0);
}

// All strides from `stride`, at most half a vector, down to 1.
static inline void mergeInVectors(uniform unsigned int *uniform keys, uniform int first, uniform int count, uniform int size, uniform int stride) {
  for (uniform int base = first; base < first + count; base += programCount) {
    const int i = base + programIndex;
    unsigned int value = keys[i];
    for (uniform int s = stride; s; s /= 2) {
      const unsigned int other = shuffle(value, programIndex ^ s);
      value = ((i & s) == 0) == ((i & size) == 0) ? min(value, other) : max(value, other);
    }
    keys[i] = value;
  }
}

static inline void mergeChunk(uniform unsigned int *uniform keys, uniform int base, uniform int size) {
  uniform int stride = min(size, CHUNK) / 2;
  for (; stride >= programCount; stride /= 2) merge(keys, base, CHUNK, size, stride);
  mergeInVectors(keys, base, CHUNK, size, stride);
}

static task void sortChunk(const uniform unsigned int *uniform source, uniform unsigned int *uniform keys) {
  const uniform int base = taskIndex * CHUNK;
  foreach (i = base ... base + CHUNK) keys[i] = source[i];
  for (uniform int size = 2; size <= CHUNK; size *= 2) mergeChunk(keys, base, size);
}

static task void mergeGlobal(uniform unsigned int *uniform keys, uniform int size, uniform int stride, uniform int part) {
  for (uniform int t = taskIndex * part; t < (taskIndex + 1) * part; t += programCount) {
    const uniform int i = 2 * t - (t & (stride - 1));
    order(keys + i, keys + i + stride, (i & size) == 0);
  }
}

static task void mergeLocal(uniform unsigned int *uniform keys, uniform int size, uniform int part) {
  for (uniform int base = taskIndex * part; base < (taskIndex + 1) * part; base += CHUNK) mergeChunk(keys, base, size);
}

export void bitonic_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  uniform unsigned int *uniform keys = (uniform unsigned int *uniform)arrays[1];
  launch[n / CHUNK] sortChunk((const uniform unsigned int *uniform)arrays[0], keys);
  sync;
  for (uniform int size = 2 * CHUNK; size <= n; size *= 2) {
    for (uniform int stride = size / 2; stride >= CHUNK; stride /= 2) {
      launch[16] mergeGlobal(keys, size, stride, n / 32);
      sync;
    }
    launch[16] mergeLocal(keys, size, n / 16);
    sync;
  }
}
