// SPDX-License-Identifier: Apache-2.0
// One item, one thread: arithmetic, packed and structured data, loops of different lengths.
#include "heldout.h"

namespace heldout {
namespace {

constexpr int kMany = 1 << 20, kSome = 1 << 17;

struct PolynomialFloat {
  const float *x;
  float *y;
  DEVICE void operator()(int i) const {
    const float v = x[i];
    float sum = 0.01f;
    for (int k = 0; k < 24; ++k) sum = sum * v + 0.03f * k - 0.2f;
    y[i] = sum;
  }
};
EACH(polynomial_float, kMany, 256, (in<float>(kMany, -1, 1), out<float>(kMany)),
     PolynomialFloat{P(const float, 0), P(float, 1)})

// An arc tangent by range reduction and a series, as integer-only libraries ship it, in doubles.
struct ArcTangent {
  const double *x, *y;
  double *angle;
  DEVICE void operator()(int i) const {
    double a = fabs(x[i]), b = fabs(y[i]), q = a < b ? a / b : b / a;
    const bool far = q > 0.4142135623730951;
    if (far) q = (q - 1) / (q + 1);
    const double z = q * q;
    double s = 0;
    for (int k = 21; k >= 1; k -= 2) s = 1.0 / k - z * s;
    s *= q;
    if (far) s += 0.7853981633974483;
    if (a < b) s = 1.5707963267948966 - s;
    if (x[i] < 0) s = 3.141592653589793 - s;
    angle[i] = y[i] < 0 ? -s : s;
  }
};
EACH(arc_tangent, kMany / 2, 256, (in<double>(kMany / 2, -5, 5), in<double>(kMany / 2, -5, 5), out<double>(kMany / 2)),
     ArcTangent{P(const double, 0), P(const double, 1), P(double, 2)})

struct PackedPixels {
  const std::uint32_t *rows;
  std::uint8_t *grey;
  int width, pitch;
  DEVICE void operator()(int i) const {
    const std::uint32_t c = rows[i / width * pitch + i % width];
    grey[i] = static_cast<std::uint8_t>((77 * (c & 255) + 150 * (c >> 8 & 255) + 29 * (c >> 16 & 255)) >> 8);
  }
};
EACH(packed_pixels, 1000 * 1000, 128, (in<std::uint32_t>(1000 * 1024, 0, 4e9), out<std::uint8_t>(1000 * 1000)),
     PackedPixels{P(const std::uint32_t, 0), P(std::uint8_t, 1), 1000, 1024})

struct UnpackNibbles {
  const std::uint8_t *packed;
  float *values;
  const float *scale;
  DEVICE void operator()(int i) const {
    const int nibble = packed[i / 2] >> i % 2 * 4 & 15;
    values[i] = (nibble - 8) * scale[i / 32];
  }
};
EACH(unpack_nibbles, kMany, 256,
     (in<std::uint8_t>(kMany / 2, 0, 256), out<float>(kMany), in<float>(kMany / 32, 0.5, 2)),
     UnpackNibbles{P(const std::uint8_t, 0), P(float, 1), P(const float, 2)})

struct CountBits {
  const std::uint32_t *x;
  int *count;
  DEVICE void operator()(int i) const {
    int n = 0;
    for (std::uint32_t v = x[i]; v; v &= v - 1) ++n;
    count[i] = n;
  }
};
EACH(count_bits, kMany / 2, 256, (in<std::uint32_t>(kMany / 2, 0, 4e9), out<int>(kMany / 2)),
     CountBits{P(const std::uint32_t, 0), P(int, 1)})

struct CommonDivisor {
  const std::uint32_t *a, *b;
  std::uint32_t *g;
  DEVICE void operator()(int i) const {
    std::uint32_t x = a[i], y = b[i];
    while (y) {
      const std::uint32_t r = x % y;
      x = y, y = r;
    }
    g[i] = x;
  }
};
EACH(common_divisor, kSome, 128,
     (in<std::uint32_t>(kSome, 1, 1e6), in<std::uint32_t>(kSome, 1, 1e6), out<std::uint32_t>(kSome)),
     CommonDivisor{P(const std::uint32_t, 0), P(const std::uint32_t, 1), P(std::uint32_t, 2)})

struct Collatz {
  int *steps;
  DEVICE void operator()(int i) const {
    int n = 0;
    for (std::uint64_t v = i + 1; v != 1; ++n) v = v & 1 ? 3 * v + 1 : v / 2;
    steps[i] = n;
  }
};
EACH(collatz, kSome, 256, (out<int>(kSome)), Collatz{P(int, 0)})

struct Particle {  // 64 bytes
  float x[3], v[3], f[3], mass, charge, age, spare[4];
};
struct MoveParticles {
  const Particle *from;
  Particle *to;
  DEVICE void operator()(int i) const {
    Particle q = from[i];
    for (int d = 0; d < 3; ++d) {
      q.v[d] += 0.01f * q.f[d] * q.mass;
      q.x[d] += 0.01f * q.v[d];
      if (q.x[d] < 0) q.x[d] = -q.x[d], q.v[d] = -q.v[d];
    }
    q.age += 0.01f;
    to[i] = q;
  }
};
EACH(move_particles, kSome, 256, (in<float>(kSome * 16, 0.1, 1), out<float>(kSome * 16)),
     MoveParticles{P(const Particle, 0), P(Particle, 1)})

struct Haversine {
  const float *points;  // four a pair
  float *distance;
  DEVICE void operator()(int i) const {
    const float *q = points + 4 * i;
    const float a = sinf((q[2] - q[0]) * 0.5f), b = sinf((q[3] - q[1]) * 0.5f);
    const float h = a * a + cosf(q[0]) * cosf(q[2]) * b * b;
    distance[i] = 12742.0f * asinf(sqrtf(h < 1 ? h : 1));
  }
};
EACH(haversine, kMany / 4, 256, (in<float>(kMany, -1, 1), out<float>(kMany / 4)),
     Haversine{P(const float, 0), P(float, 1)})

struct Gelu {
  const float *x;
  float *y;
  DEVICE void operator()(int i) const {
    const float v = x[i];
    y[i] = 0.5f * v * (1 + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
  }
};
EACH(gelu, kMany, 256, (in<float>(kMany, -4, 4), out<float>(kMany)), Gelu{P(const float, 0), P(float, 1)})

struct Hue {
  const float *rgb;
  float *hue;
  DEVICE void operator()(int i) const {
    const float r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    const float most = fmaxf(r, fmaxf(g, b)), least = fminf(r, fminf(g, b)), d = most - least;
    float h = 0;
    if (d > 0) {
      if (most == r) h = (g - b) / d + (g < b ? 6.0f : 0.0f);
      else if (most == g) h = (b - r) / d + 2;
      else h = (r - g) / d + 4;
    }
    hue[i] = h * 60;
  }
};
EACH(hue, kMany / 2, 256, (in<float>(kMany / 2 * 3, 0, 1), out<float>(kMany / 2)), Hue{P(const float, 0), P(float, 1)})

struct CivilDate {
  const int *days;
  int *date;
  DEVICE void operator()(int i) const {
    const int z = days[i] + 719468, era = z / 146097, doe = z - era * 146097;
    const int yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365,
              doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    const int mp = (5 * doy + 2) / 153, day = doy - (153 * mp + 2) / 5 + 1, month = mp < 10 ? mp + 3 : mp - 9;
    date[i] = (yoe + era * 400 + (month <= 2)) * 10000 + month * 100 + day;
  }
};
EACH(civil_date, kMany, 256, (in<int>(kMany, 0, 40000), out<int>(kMany)), CivilDate{P(const int, 0), P(int, 1)})

struct Morton {
  const std::uint32_t *xyz;
  std::uint64_t *code;
  DEVICE static std::uint64_t spread(std::uint64_t v) {
    v = (v | v << 32) & 0x1f00000000ffffull;
    v = (v | v << 16) & 0x1f0000ff0000ffull;
    v = (v | v << 8) & 0x100f00f00f00f00full;
    v = (v | v << 4) & 0x10c30c30c30c30c3ull;
    return (v | v << 2) & 0x1249249249249249ull;
  }
  DEVICE void operator()(int i) const {
    code[i] = spread(xyz[3 * i]) | spread(xyz[3 * i + 1]) << 1 | spread(xyz[3 * i + 2]) << 2;
  }
};
EACH(morton, kMany / 2, 256, (in<std::uint32_t>(kMany / 2 * 3, 0, 2e6), out<std::uint64_t>(kMany / 2)),
     Morton{P(const std::uint32_t, 0), P(std::uint64_t, 1)})

struct Crc {
  const std::uint32_t *words;  // 16 an item
  std::uint32_t *crc;
  DEVICE void operator()(int i) const {
    std::uint32_t c = ~0u;
    for (int w = 0; w < 16; ++w) {
      c ^= words[16 * i + w];
      for (int b = 0; b < 32; ++b) c = c >> 1 ^ (c & 1 ? 0xEDB88320u : 0);
    }
    crc[i] = ~c;
  }
};
EACH(crc, 1 << 14, 128, (in<std::uint32_t>(1 << 18, 0, 4e9), out<std::uint32_t>(1 << 14)),
     Crc{P(const std::uint32_t, 0), P(std::uint32_t, 1)})

struct HexDigits {
  const std::uint8_t *bytes;
  std::uint8_t *text;
  DEVICE static std::uint8_t digit(int v) { return static_cast<std::uint8_t>(v < 10 ? '0' + v : 'a' + v - 10); }
  DEVICE void operator()(int i) const {
    text[2 * i] = digit(bytes[i] >> 4);
    text[2 * i + 1] = digit(bytes[i] & 15);
  }
};
EACH(hex_digits, kMany, 256, (in<std::uint8_t>(kMany, 0, 256), out<std::uint8_t>(2 * kMany)),
     HexDigits{P(const std::uint8_t, 0), P(std::uint8_t, 1)})

std::vector<int> sorted(std::mt19937 &) {
  std::vector<int> values(1 << 16);
  for (int i = 0; i < 1 << 16; ++i) values[i] = 15 * i;
  return values;
}
struct Search {
  const int *keys, *values;
  int *place;
  DEVICE void operator()(int i) const {
    int low = 0, high = 1 << 16;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (values[middle] < keys[i]) low = middle + 1;
      else high = middle;
    }
    place[i] = low;
  }
};
EACH(search, kMany / 4, 256, (in<int>(kMany / 4, 0, 1e6), made<int>(sorted), out<int>(kMany / 4)),
     Search{P(const int, 0), P(const int, 1), P(int, 2)})

struct CirclePoints {  // pi by a generator of its own in each item
  int *inside;
  DEVICE void operator()(int i) const {
    std::uint32_t s = 747796405u * (i + 1) + 2891336453u;
    int n = 0;
    for (int k = 0; k < 64; ++k) {
      s = s * 1664525u + 1013904223u;
      const float x = s >> 20;
      s = s * 1664525u + 1013904223u;
      const float y = s >> 20;
      n += x * x + y * y < 16777216.0f;  // exact, with and without a fused product
    }
    inside[i] = n;
  }
};
EACH(circle_points, kSome / 2, 256, (out<int>(kSome / 2)), CirclePoints{P(int, 0)})

struct Springs {  // float3 neighbours
  const float *x;
  float *f;
  DEVICE void operator()(int i) const {
    float sum[3] = {0, 0, 0};
    for (int d = -2; d <= 2; ++d) {
      const int j = i + d;
      if (d == 0 || j < 0 || j >= kSome) continue;
      const float dx = x[3 * j] - x[3 * i], dy = x[3 * j + 1] - x[3 * i + 1], dz = x[3 * j + 2] - x[3 * i + 2];
      const float r = sqrtf(dx * dx + dy * dy + dz * dz + 1e-6f), k = (r - 0.5f) / r;
      sum[0] += k * dx, sum[1] += k * dy, sum[2] += k * dz;
    }
    for (int d = 0; d < 3; ++d) f[3 * i + d] = sum[d];
  }
};
EACH(springs, kSome, 256, (in<float>(3 * kSome, -1, 1), out<float>(3 * kSome)), Springs{P(const float, 0), P(float, 1)})

}  // namespace
}  // namespace heldout
