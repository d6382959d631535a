// SPDX-License-Identifier: Apache-2.0
kernel void matmul_register(global const float *a, global const float *b, global float *c, int n) {
  local float tileA[16][64], tileB[16][64];
  int tx = get_local_id(0), ty = get_local_id(1), t = ty * 16 + tx, row = get_group_id(1) * 64, column = get_group_id(0) * 64;
  float sum[4][4] = {{0}};
  for (int k = 0; k < n; k += 16) {
    for (int i = t; i < 1024; i += 256) {
      tileA[i % 16][i / 16] = a[(row + i / 16) * n + k + i % 16];
      tileB[i / 64][i % 64] = b[(k + i / 64) * n + column + i % 64];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 16; ++i)
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x) sum[y][x] += tileA[i][ty * 4 + y] * tileB[i][tx + 16 * x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 4; ++x) c[(row + ty * 4 + y) * n + column + tx + 16 * x] = sum[y][x];
}
