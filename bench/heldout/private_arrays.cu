// SPDX-License-Identifier: Apache-2.0
// Items that work in small arrays of their own, many with indices known only at run time.
#include "heldout.h"

namespace heldout {
namespace {

struct HashString {
  std::uint32_t *hash;
  DEVICE void operator()(int i) const {
    char text[32];
    int length = 0;
    for (unsigned v = 2654435761u * (i + 1); v; v /= 7) text[length++] = static_cast<char>('a' + v % 23);
    std::uint32_t h = 2166136261u;
    for (int k = 0; k < length; ++k) h = (h ^ static_cast<std::uint8_t>(text[length - 1 - k])) * 16777619u;
    hash[i] = h;
  }
};
EACH(hash_string, 1 << 17, 128, (out<std::uint32_t>(1 << 17)), HashString{P(std::uint32_t, 0)})

constexpr int kLimbs = 96;
struct Factorial {  // one thread, a long number
  std::uint32_t *limbs;
  DEVICE void operator()(int) const {
    std::uint32_t n[kLimbs];
    for (int k = 0; k < kLimbs; ++k) n[k] = k == 0;
    for (std::uint32_t factor = 2; factor <= 400; ++factor) {
      std::uint64_t carry = 0;
      for (int k = 0; k < kLimbs; ++k) {
        carry += std::uint64_t{n[k]} * factor;
        n[k] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
    }
    for (int k = 0; k < kLimbs; ++k) limbs[k] = n[k];
  }
};
EACH(factorial, 1, 1, (out<std::uint32_t>(kLimbs)), Factorial{P(std::uint32_t, 0)})

struct Queens {  // of eight rows, the first two are the item's
  int *solutions;
  DEVICE void operator()(int i) const {
    int place[8] = {i % 8, i / 8 % 8}, found = 0, row = 2;
    const auto clash = [&](int r) {
      for (int k = 0; k < r; ++k)
        if (place[k] == place[r] || place[r] - place[k] == r - k || place[k] - place[r] == r - k) return true;
      return false;
    };
    if (!clash(1)) {
      place[2] = -1;
      while (row >= 2) {
        if (++place[row] == 8) {
          --row;
          continue;
        }
        if (clash(row)) continue;
        if (row == 7) ++found;
        else place[++row] = -1;
      }
    }
    solutions[i] = found;
  }
};
EACH(queens, 1024, 64, (out<int>(1024)), Queens{P(int, 0)})

std::vector<std::uint8_t> substitution(std::mt19937 &random) {
  std::vector<std::uint8_t> box(256);
  for (int k = 0; k < 256; ++k) box[k] = static_cast<std::uint8_t>(k);
  std::shuffle(box.begin(), box.end(), random);
  return box;
}
struct Cipher {
  const std::uint8_t *box, *plain;
  std::uint8_t *secret;
  DEVICE void operator()(int i) const {
    std::uint8_t state[16], moved[16];
    for (int k = 0; k < 16; ++k) state[k] = plain[16 * i + k];
    for (int round = 0; round < 10; ++round) {
      for (int k = 0; k < 16; ++k) moved[k] = box[state[k * 5 % 16] ^ (17 * round + k)];
      for (int k = 0; k < 16; ++k)
        state[k] = static_cast<std::uint8_t>(moved[k] << 1 ^ moved[k] >> 7 ^ moved[(k + 4) % 16]);
    }
    for (int k = 0; k < 16; ++k) secret[16 * i + k] = state[k];
  }
};
EACH(cipher, 1 << 14, 128,
     (made<std::uint8_t>(substitution), in<std::uint8_t>(1 << 18, 0, 256), out<std::uint8_t>(1 << 18)),
     Cipher{P(const std::uint8_t, 0), P(const std::uint8_t, 1), P(std::uint8_t, 2)})

struct Kalman {  // covariance of eight states: P = F P F' + Q
  const double *transition, *noise;
  double *covariance;
  int items;
  DEVICE void operator()(int i) const {
    double f[8][8], c[8][8], t[8][8];
    for (int r = 0; r < 8; ++r)
      for (int k = 0; k < 8; ++k) f[r][k] = transition[8 * r + k] * 0.3, c[r][k] = r == k ? 1 + noise[i] : 0.1;
    for (int step = 0; step < 2; ++step) {
      for (int r = 0; r < 8; ++r)
        for (int k = 0; k < 8; ++k) {
          double s = 0;
          for (int j = 0; j < 8; ++j) s += f[r][j] * c[j][k];
          t[r][k] = s;
        }
      for (int r = 0; r < 8; ++r)
        for (int k = 0; k < 8; ++k) {
          double s = r == k ? 0.01 : 0;
          for (int j = 0; j < 8; ++j) s += t[r][j] * f[k][j];
          c[r][k] = s;
        }
    }
    for (int r = 0; r < 8; ++r)
      for (int k = 0; k < 8; ++k) covariance[std::size_t(8 * r + k) * items + i] = c[r][k];
  }
};
EACH(kalman, 4096, 64, (in<double>(64, -1, 1), in<double>(4096, 0, 1), out<double>(64 * 4096)),
     Kalman{P(const double, 0), P(const double, 1), P(double, 2), 4096})

struct SortSixteen {
  const int *from;
  int *to;
  DEVICE void operator()(int i) const {
    int v[16];
    for (int k = 0; k < 16; ++k) v[k] = from[16 * i + k];
    for (int k = 1; k < 16; ++k) {
      const int x = v[k];
      int j = k;
      for (; j > 0 && v[j - 1] > x; --j) v[j] = v[j - 1];
      v[j] = x;
    }
    for (int k = 0; k < 16; ++k) to[16 * i + k] = v[k];
  }
};
EACH(sort_sixteen, 1 << 14, 128, (in<int>(1 << 18, 0, 1000), out<int>(1 << 18)),
     SortSixteen{P(const int, 0), P(int, 1)})

struct Determinant {
  const float *matrices;
  float *result;
  DEVICE void operator()(int i) const {
    float m[5][5], d = 1;
    for (int k = 0; k < 25; ++k) m[k / 5][k % 5] = matrices[25 * i + k] + (k % 6 == 0 ? 3.0f : 0.0f);
    for (int c = 0; c < 5; ++c) {
      d *= m[c][c];
      for (int r = c + 1; r < 5; ++r) {
        const float q = m[r][c] / m[c][c];
        for (int k = c; k < 5; ++k) m[r][k] -= q * m[c][k];
      }
    }
    result[i] = d;
  }
};
EACH(determinant, 1 << 16, 128, (in<float>(25 << 16, -1, 1), out<float>(1 << 16)),
     Determinant{P(const float, 0), P(float, 1)})

struct EditDistance {
  const std::uint8_t *a, *b;  // 24 letters each
  int *distance;
  DEVICE void operator()(int i) const {
    int row[25];
    for (int k = 0; k <= 24; ++k) row[k] = k;
    for (int r = 1; r <= 24; ++r) {
      int diagonal = row[0];
      row[0] = r;
      for (int k = 1; k <= 24; ++k) {
        const int change = diagonal + (a[24 * i + r - 1] != b[24 * i + k - 1]);
        diagonal = row[k];
        const int gap = 1 + (row[k] < row[k - 1] ? row[k] : row[k - 1]);
        row[k] = change < gap ? change : gap;
      }
    }
    distance[i] = row[24];
  }
};
EACH(edit_distance, 1 << 13, 128,
     (in<std::uint8_t>(24 << 13, 0, 4), in<std::uint8_t>(24 << 13, 0, 4), out<int>(1 << 13)),
     EditDistance{P(const std::uint8_t, 0), P(const std::uint8_t, 1), P(int, 2)})

struct Binomial {  // an American put by a tree of 48 steps
  const float *spot;
  float *price;
  DEVICE void operator()(int i) const {
    float v[49];
    const float up = 1.02f, down = 1 / 1.02f, p = 0.505f;
    float s = spot[i];
    for (int k = 0; k < 48; ++k) s *= down;
    float low = s;
    for (int k = 0; k <= 48; ++k, s *= up * up) v[k] = fmaxf(1 - s, 0);
    for (int step = 47; step >= 0; --step) {
      low *= up, s = low;
      for (int k = 0; k <= step; ++k, s *= up * up) v[k] = fmaxf(0.9995f * (p * v[k + 1] + (1 - p) * v[k]), 1 - s);
    }
    price[i] = v[0];
  }
};
EACH(binomial, 1 << 13, 128, (in<float>(1 << 13, 0.7, 1.3), out<float>(1 << 13)),
     Binomial{P(const float, 0), P(float, 1)})

struct Permutation {  // the i-th of nine
  int *digits;
  DEVICE void operator()(int i) const {
    int left[9], n = i % 362880, number = 0, size = 362880;
    for (int k = 0; k < 9; ++k) left[k] = k + 1;
    for (int k = 9; k > 0; --k) {
      size /= k;
      const int at = n / size;
      n %= size;
      number = 10 * number + left[at];
      for (int j = at; j < k - 1; ++j) left[j] = left[j + 1];
    }
    digits[i] = number;
  }
};
EACH(permutation, 1 << 15, 128, (out<int>(1 << 15)), Permutation{P(int, 0)})

}  // namespace
}  // namespace heldout
