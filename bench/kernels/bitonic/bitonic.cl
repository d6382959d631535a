// SPDX-License-Identifier: Apache-2.0
#define BLOCK 512

kernel void load(global const uint *in, global uint *keys, int firstSize, int lastSize) { keys[get_global_id(0)] = in[get_global_id(0)]; }

kernel void merge_local(global const uint *in, global uint *keys, int firstSize, int lastSize) {
  local uint tile[2 * BLOCK];
  int base = get_group_id(0) * 2 * BLOCK, t = get_local_id(0);
  tile[t] = keys[base + t];
  tile[t + BLOCK] = keys[base + t + BLOCK];
  for (int size = firstSize; size <= lastSize; size *= 2)
    for (int stride = min(size / 2, BLOCK); stride; stride /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      int i = 2 * t - (t & (stride - 1));
      bool up = ((base + i) & size) == 0;
      uint a = tile[i], b = tile[i + stride];
      tile[i] = up ? min(a, b) : max(a, b);
      tile[i + stride] = up ? max(a, b) : min(a, b);
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  keys[base + t] = tile[t];
  keys[base + t + BLOCK] = tile[t + BLOCK];
}

kernel void merge_global(global const uint *in, global uint *keys, int size, int stride) {
  int t = get_global_id(0), i = 2 * t - (t & (stride - 1));
  bool up = (i & size) == 0;
  uint a = keys[i], b = keys[i + stride];
  keys[i] = up ? min(a, b) : max(a, b);
  keys[i + stride] = up ? max(a, b) : min(a, b);
}
