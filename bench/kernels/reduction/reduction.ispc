// SPDX-License-Identifier: Apache-2.0
// Each part leaves its sum, which the end adds.
export void reduction_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform float *uniform source = (const uniform float *uniform)arrays[0];
  uniform float *uniform partial = (uniform float *uniform)arrays[2];
  float first = 0, second = 0, third = 0, fourth = 0;  // enough sums in flight to hide an addition's latency
  for (uniform int i = begin; i < end; i += 4 * programCount) {
    first += source[i + programIndex];
    second += source[i + programCount + programIndex];
    third += source[i + 2 * programCount + programIndex];
    fourth += source[i + 3 * programCount + programIndex];
  }
  partial[begin / (end - begin)] = reduce_add(first + second + third + fourth);
}

export void reduction_ispc_end(void *uniform arrays[], uniform int n) {
  const uniform float *uniform partial = (const uniform float *uniform)arrays[2];
  uniform float *uniform total = (uniform float *uniform)arrays[1];
  float sum = 0;
  foreach (i = 0 ... 256) sum += partial[i];
  *total = reduce_add(sum);
}
