// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

void monteCarloOpenmp(unsigned *hits, int threads, int rounds) {
#pragma omp parallel for simd
  for (int i = 0; i < threads; ++i) {
    unsigned count = 0;
    for (int r = 0; r < rounds; ++r) {
      uint32_t a = i, b = r, c = 0, d = 0, k0 = 0xA4093822u, k1 = 0x299F31D0u;
      for (int round = 0; round < 7; ++round) {
        uint64_t p0 = 0xD2511F53ull * a, p1 = 0xCD9E8D57ull * c;
        a = (uint32_t)(p1 >> 32) ^ b ^ k0;
        b = (uint32_t)p1;
        c = (uint32_t)(p0 >> 32) ^ d ^ k1;
        d = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
      }
      float x = a * 0x1p-32f, y = b * 0x1p-32f, z = c * 0x1p-32f, w = d * 0x1p-32f;
      count += (x * x + y * y < 1) + (z * z + w * w < 1);
    }
    hits[i] = count;
  }
}
