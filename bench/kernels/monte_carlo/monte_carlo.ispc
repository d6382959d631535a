// SPDX-License-Identifier: Apache-2.0
export void monte_carlo_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  uniform unsigned int *uniform hits = (uniform unsigned int *uniform)arrays[0];
  foreach (i = begin ... end) {
    unsigned int count = 0;
    for (uniform unsigned int r = 0; r < 64; ++r) {
      unsigned int a = i, b = r, c = 0, d = 0;
      uniform unsigned int k0 = 0xA4093822, k1 = 0x299F31D0;
      for (uniform int round = 0; round < 7; ++round) {
        unsigned int64 p0 = (unsigned int64)0xD2511F53 * a, p1 = (unsigned int64)0xCD9E8D57 * c;
        a = (unsigned int)(p1 >> 32) ^ b ^ k0;
        b = (unsigned int)p1;
        c = (unsigned int)(p0 >> 32) ^ d ^ k1;
        d = (unsigned int)p0;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
      }
      const uniform float unit = 2.3283064365386963e-10f;
      float x = a * unit, y = b * unit, z = c * unit, w = d * unit;
      count += (x * x + y * y < 1 ? 1 : 0) + (z * z + w * w < 1 ? 1 : 0);
    }
    hits[i] = count;
  }
}
