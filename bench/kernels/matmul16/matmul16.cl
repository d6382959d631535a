// SPDX-License-Identifier: Apache-2.0
kernel void matmul16(global const float *a, global const float *b, global float *c, int n) {
  local float tileA[16][16], tileB[16][16];
  int x = get_local_id(0), y = get_local_id(1), row = get_global_id(1), column = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    tileA[y][x] = a[row * n + k + x];
    tileB[y][x] = b[(k + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 16; ++i) sum += tileA[y][i] * tileB[i][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
