// SPDX-License-Identifier: Apache-2.0
kernel void triad(global const float *a, global const float *b, global float *c, float scale, int n) {
  int i = get_global_id(0);
  if (i < n) c[i] = a[i] + scale * b[i];
}
