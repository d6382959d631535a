// SPDX-License-Identifier: Apache-2.0
kernel void nbody(global const float4 *bodies, global float4 *out, int n) {
  local float4 tile[256];
  int i = get_global_id(0), t = get_local_id(0);
  float4 self = bodies[i];
  float ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += 256) {
    tile[t] = bodies[first + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 256; ++k) {
      float dx = tile[k].x - self.x, dy = tile[k].y - self.y, dz = tile[k].z - self.z;
      float r = native_rsqrt(dx * dx + dy * dy + dz * dz + 1e-3f), s = tile[k].w * r * r * r;
      ax += dx * s;
      ay += dy * s;
      az += dz * s;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = (float4)(ax, ay, az, 0);
}
