// SPDX-License-Identifier: Apache-2.0
kernel void scan_chunks(global const uint *in, global uint *out, global uint *totals, int n) {
  local uint sums[256];
  int t = get_local_id(0), base = get_global_id(0) * 4;
  uint4 v = vload4(0, in + base);
  v.y += v.x; v.z += v.y; v.w += v.z;
  sums[t] = v.w;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int o = 1; o < 256; o *= 2) {
    uint left = t >= o ? sums[t - o] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[t] += left;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  vstore4(v + (sums[t] - v.w), 0, out + base);
  if (t == 255) totals[get_group_id(0)] = sums[255];
}

kernel void scan_totals(global const uint *in, global uint *out, global uint *totals, int n) {
  uint sum = 0;
  for (int i = 0; i < n / 1024; ++i) {
    uint value = totals[i];
    totals[i] = sum;
    sum += value;
  }
}

kernel void add_totals(global const uint *in, global uint *out, global uint *totals, int n) {
  int base = get_global_id(0) * 4;
  vstore4(vload4(0, out + base) + totals[get_group_id(0)], 0, out + base);
}
