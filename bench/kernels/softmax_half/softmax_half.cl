// SPDX-License-Identifier: Apache-2.0
__kernel void softmax_half(__global const half *in, __global half *out, int columns) {
  size_t first = get_global_id(0) * (size_t)columns;
  float highest = -1e30f, sum = 0;
  for (int c = 0; c < columns; ++c) highest = fmax(highest, vload_half(first + c, in));
  for (int c = 0; c < columns; ++c) sum += native_exp(vload_half(first + c, in) - highest);
  float scale = 1 / sum;
  for (int c = 0; c < columns; ++c) vstore_half(native_exp(vload_half(first + c, in) - highest) * scale, first + c, out);
}
