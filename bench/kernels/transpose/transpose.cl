// SPDX-License-Identifier: Apache-2.0
kernel void transpose(global const float *in, global float *out, int n) {
  local float tile[32][33];
  int tx = get_local_id(0), ty = get_local_id(1), bx = get_group_id(0), by = get_group_id(1);
  for (int r = 0; r < 32; r += 8) tile[ty + r][tx] = in[(by * 32 + ty + r) * n + bx * 32 + tx];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int r = 0; r < 32; r += 8) out[(bx * 32 + ty + r) * n + by * 32 + tx] = tile[tx][ty + r];
}
