// SPDX-License-Identifier: Apache-2.0
kernel void monte_carlo(global uint *hits, int rounds) {
  uint i = get_global_id(0), count = 0;
  for (uint r = 0; r < rounds; ++r) {
    uint a = i, b = r, c = 0, d = 0, k0 = 0xA4093822u, k1 = 0x299F31D0u;
    for (int round = 0; round < 7; ++round) {
      uint h0 = mul_hi(0xD2511F53u, a), l0 = 0xD2511F53u * a, h1 = mul_hi(0xCD9E8D57u, c), l1 = 0xCD9E8D57u * c;
      a = h1 ^ b ^ k0;
      b = l1;
      c = h0 ^ d ^ k1;
      d = l0;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    float x = a * 0x1p-32f, y = b * 0x1p-32f, z = c * 0x1p-32f, w = d * 0x1p-32f;
    count += (x * x + y * y < 1) + (z * z + w * w < 1);
  }
  hits[i] = count;
}
