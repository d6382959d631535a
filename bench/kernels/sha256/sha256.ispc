// SPDX-License-Identifier: Apache-2.0
static inline unsigned int rotate(unsigned int x, uniform int n) { return x >> n | x << (32 - n); }

static const uniform unsigned int k[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// One SHA-256 compression of a 16-word block made from the item's number; the first word of the state.
export void sha256_ispc(void *uniform arrays[], uniform int n, uniform int begin, uniform int end) {
  uniform unsigned int *uniform out = (uniform unsigned int *uniform)arrays[0];
  foreach (item = begin ... end) {
    unsigned int w[16], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (uniform int i = 0; i < 16; ++i) w[i] = item * 2654435761 + i;
#pragma unroll
    for (uniform int i = 0; i < 64; ++i) {
      unsigned int word = w[i % 16];
      unsigned int s1 = rotate(h[4], 6) ^ rotate(h[4], 11) ^ rotate(h[4], 25), choice = (h[4] & h[5]) ^ (~h[4] & h[6]);
      unsigned int t1 = h[7] + s1 + choice + k[i] + word;
      unsigned int s0 = rotate(h[0], 2) ^ rotate(h[0], 13) ^ rotate(h[0], 22), majority = (h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]);
      unsigned int a = w[(i + 1) % 16], b = w[(i + 14) % 16];
      w[i % 16] += (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[(i + 9) % 16] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
      h[7] = h[6];
      h[6] = h[5];
      h[5] = h[4];
      h[4] = h[3] + t1;
      h[3] = h[2];
      h[2] = h[1];
      h[1] = h[0];
      h[0] = t1 + s0 + majority;
    }
    out[item] = h[0] + 0x6a09e667;
  }
}
