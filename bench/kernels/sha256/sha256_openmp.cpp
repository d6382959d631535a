// SPDX-License-Identifier: Apache-2.0
static inline __attribute__((always_inline)) unsigned rotate(unsigned x, int n) { return x >> n | x << (32 - n); }

// One SHA-256 compression of a 16-word block made from the thread's number; the first word of the state.
static inline __attribute__((always_inline)) unsigned sha(unsigned seed) {
  static constexpr unsigned k[64] = {
      0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
      0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
      0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
      0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
      0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
      0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
      0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
      0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u};
  unsigned w[16],
      h[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
  for (int i = 0; i < 16; ++i) w[i] = seed * 2654435761u + i;
#pragma GCC unroll 64
  for (int i = 0; i < 64; ++i) {
    unsigned word = w[i % 16];
    unsigned s1 = rotate(h[4], 6) ^ rotate(h[4], 11) ^ rotate(h[4], 25), choice = (h[4] & h[5]) ^ (~h[4] & h[6]);
    unsigned t1 = h[7] + s1 + choice + k[i] + word;
    unsigned s0 = rotate(h[0], 2) ^ rotate(h[0], 13) ^ rotate(h[0], 22),
             majority = (h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]);
    unsigned a = w[(i + 1) % 16], b = w[(i + 14) % 16];
    w[i % 16] += (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[(i + 9) % 16] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    h[7] = h[6], h[6] = h[5], h[5] = h[4], h[4] = h[3] + t1, h[3] = h[2], h[2] = h[1], h[1] = h[0],
    h[0] = t1 + s0 + majority;
  }
  return h[0] + 0x6a09e667u;
}

void sha256Openmp(unsigned *out, int n) {
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i) out[i] = sha(i);
}
