// SPDX-License-Identifier: Apache-2.0
export void add_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  const uniform float *uniform a = (const uniform float *uniform)arrays[0], *uniform b = (const uniform float *uniform)arrays[1];
  uniform float *uniform c = (uniform float *uniform)arrays[2];
  foreach (i = begin ... end) c[i] = a[i] + b[i];
}
