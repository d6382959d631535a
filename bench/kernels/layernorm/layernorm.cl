// SPDX-License-Identifier: Apache-2.0
kernel void layernorm(global const float *in, global const float *gain, global const float *bias, global float *out, int columns) {
  int row = get_global_id(0);
  global const float *x = in + (size_t)row * columns;
  global float *y = out + (size_t)row * columns;
  float sum = 0, squares = 0;
  for (int c = 0; c < columns; ++c) sum += x[c];
  float mean = sum / columns;
  for (int c = 0; c < columns; ++c) squares += (x[c] - mean) * (x[c] - mean);
  float scale = native_rsqrt(squares / columns + 1e-5f);
  for (int c = 0; c < columns; ++c) y[c] = (x[c] - mean) * scale * gain[c] + bias[c];
}
