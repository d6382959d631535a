// SPDX-License-Identifier: Apache-2.0
// One work item a row: PoCL 3.1 has no sub-group shuffles.
kernel void softmax(global const float *in, global float *out, int columns) {
  int row = get_global_id(0);
  global const float *x = in + (size_t)row * columns;
  global float *y = out + (size_t)row * columns;
  float highest = -1e30f, sum = 0;
  for (int c = 0; c < columns; ++c) highest = fmax(highest, x[c]);
  for (int c = 0; c < columns; ++c) {
    float e = native_exp(x[c] - highest);
    y[c] = e;
    sum += e;
  }
  for (int c = 0; c < columns; ++c) y[c] /= sum;
}
