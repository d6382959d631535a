// SPDX-License-Identifier: Apache-2.0
kernel void attention(global const float *q, global const float *k, global const float *v, global float *scores, global float *out, int n) {
  int row = get_global_id(0);
  global float *s = scores + (size_t)row * n;
  float highest = -1e30f, sum = 0, acc[64];
  for (int j = 0; j < n; ++j) {
    float dot = 0;
    for (int d = 0; d < 64; ++d) dot += q[row * 64 + d] * k[d * n + j];
    s[j] = dot * 0.125f;
    highest = fmax(highest, s[j]);
  }
  for (int j = 0; j < n; ++j) {
    s[j] = native_exp(s[j] - highest);
    sum += s[j];
  }
  for (int d = 0; d < 64; ++d) acc[d] = 0;
  for (int j = 0; j < n; ++j)
    for (int d = 0; d < 64; ++d) acc[d] += s[j] * v[j * 64 + d];
  for (int d = 0; d < 64; ++d) out[row * 64 + d] = acc[d] / sum;
}
