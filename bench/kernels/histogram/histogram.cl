// SPDX-License-Identifier: Apache-2.0
kernel void clear(global const uchar *data, global uint *bins, int n) { bins[get_global_id(0)] = 0; }

kernel void histogram(global const uchar *data, global uint *bins, int n) {
  local uint counts[256];
  int t = get_local_id(0);
  counts[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&counts[data[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[t], counts[t]);
}
