// SPDX-License-Identifier: Apache-2.0
// Each part leaves its sum, which the end adds.
export void reduction_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform float *uniform in = (const uniform float *uniform)arrays[0];
  uniform float *uniform partial = (uniform float *uniform)arrays[2];
  float first = 0, second = 0, third = 0, fourth = 0;  // enough sums in flight to hide an addition's latency
  for (uniform int i = begin; i < end; i += 4 * programCount) {
    first += in[i + programIndex];
    second += in[i + programCount + programIndex];
    third += in[i + 2 * programCount + programIndex];
    fourth += in[i + 3 * programCount + programIndex];
  }
  partial[begin / (end - begin)] = reduce_add(first + second + third + fourth);
}

export void reduction_ispc_end(void *uniform arrays[], uniform int n) {
  const uniform float *uniform partial = (const uniform float *uniform)arrays[2];
  float sum = 0;
  foreach (i = 0 ... 256) sum += partial[i];
  *(uniform float *uniform)arrays[1] = reduce_add(sum);
}
