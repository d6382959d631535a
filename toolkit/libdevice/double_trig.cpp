// SPDX-License-Identifier: Apache-2.0
// Trigonometric functions in double. The argument is brought to [-pi/4, pi/4] plus a quadrant: by fma with
// pi/2 in three parts up to 2^31, beyond by a product with the bits of 2/pi that matter (Payne and Hanek).
#include "double_parts.h"

namespace {

// rLow is what r lost to rounding; tan needs it.
struct Reduced {
  double r, rLow;
  int quadrant;
};

// 2/pi's binary fraction, most significant word first; the last word read for the largest exponent is here.
const uint64_t kTwoOverPi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
                               0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                               0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
                               0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
                               0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

// 2^31 <= |x| < infinity. x = m 2^e with an integer m of 53 bits, e >= -21. Bits of 2/pi that weigh 4 or more
// after the product are skipped (they do not change the quadrant); the next 192 are multiplied.
__attribute__((noinline)) Reduced reduceLarge(double x) {
  uint64_t b = bits(x);
  int e = (static_cast<int>(b >> 52) & 0x7ff) - 1075;
  uint64_t m = (b & 0xfffffffffffffull) | 0x10000000000000ull;
  int skip = e > 2 ? e - 2 : 0;
  int word = skip >> 6, bit = skip & 63;
  uint64_t w[4] = {kTwoOverPi[word], kTwoOverPi[word + 1], kTwoOverPi[word + 2], kTwoOverPi[word + 3]};
  uint64_t v[3];
  for (int i = 0; i < 3; ++i) v[i] = bit ? (w[i] << bit) | (w[i + 1] >> (64 - bit)) : w[i];
  using Wide = unsigned __int128;
  // (p[0] p[1] p[2]) = m * v modulo 2^192, in units of 2^(e - skip - 192)
  Wide low = static_cast<Wide>(v[2]) * m;
  Wide middle = static_cast<Wide>(v[1]) * m + static_cast<uint64_t>(low >> 64);
  Wide high = static_cast<Wide>(v[0]) * m + static_cast<uint64_t>(middle >> 64);
  uint64_t p0 = static_cast<uint64_t>(high), p1 = static_cast<uint64_t>(middle), p2 = static_cast<uint64_t>(low);
  // Align so that p0's top two bits weigh 2 and 1. They do for e >= 2; below, the integer part lies lower.
  int down = 2 - (e - skip);
  if (down > 0) {
    p2 = (p1 << (64 - down)) | (p2 >> down);
    p1 = (p0 << (64 - down)) | (p1 >> down);
    p0 = static_cast<uint64_t>(high >> down);
  }
  int quadrant = static_cast<int>(p0 >> 62);
  int64_t fraction = static_cast<int64_t>((p0 << 2) | (p1 >> 62));  // [-0.5, 0.5) in units of 2^-64
  uint64_t below = (p1 << 2) | (p2 >> 62);
  quadrant += fraction < 0;
  // |fraction| normalised, so that a result near 0 keeps all its digits
  bool negative = fraction < 0;
  uint64_t f0 = negative ? ~static_cast<uint64_t>(fraction) : static_cast<uint64_t>(fraction);
  uint64_t f1 = negative ? ~below : below;
  int zeros = f0 ? __builtin_clzll(f0) : 63;
  uint64_t digits = zeros ? (f0 << zeros) | (f1 >> (64 - zeros)) : f0;
  // times pi/2 in two parts; digits has 64 bits, its double 53
  double d = static_cast<double>(digits >> 11);
  double dLow = static_cast<double>(digits & 0x7ff);
  double unit = pow2(-64 - zeros);
  double h = d * 0x1p11;
  Pair<double> product = twoProduct(h, 0x1.921fb54442d18p+0);
  Pair<double> r =
      fastTwoSum(product.high, fma(h, 0x1.1a62633145c07p-54, fma(dLow, 0x1.921fb54442d18p+0, product.low)));
  double sign = negative != (x < 0.0) ? -unit : unit;
  return {r.high * sign, r.low * sign, x < 0.0 ? -quadrant : quadrant};
}

inline Reduced reduce(double x) {
  double shifted = fma(x, 0x1.45f306dc9c883p-1, kRound);
  double n = shifted - kRound;
  double first = fma(n, -0x1.921fb54442d18p+0, x);
  double r = fma(n, -0x1.1a62633145c07p-54, first);
  double rLow = fma(n, 0x1.f1976b7ed8fbcp-110, fma(n, -0x1.1a62633145c07p-54, subRn(first, r)));
  Pair<double> sum = fastTwoSum(r, rLow);
  Reduced result = {sum.high, sum.low, exponentOf(shifted)};
  if (__builtin_expect(abs(x) >= 0x1p31, 0)) {
    if (abs(x) < kInfinity) result = reduceLarge(x);
    else result = {kNan, 0.0, 0};
  }
  return result;
}

inline double sinPoly(double r) {  // 2^-63
  double z = r * r;
  double p = horner(z, -0x1.5555555555555p-3, 0x1.1111111111067p-7, -0x1.a01a019ffdb9ep-13, 0x1.71de3a32a8631p-19,
                    -0x1.ae642ad377399p-26, 0x1.6108b0d861e81p-33, -0x1.9f6eb1f0656d5p-41);
  return fma(z * r, p, r);
}

inline double cosPoly(double r) {  // 2^-66
  double z = r * r;
  double p = horner(z, 0x1.5555555555555p-5, -0x1.6c16c16c16a6ap-10, 0x1.a01a019fd1fa1p-16, -0x1.27e4fb2262c0ap-22,
                    0x1.1eed2a1761772p-29, -0x1.93211b073d099p-37, 0x1.7703fa58be136p-45);
  return fma(z, fma(z, p, -0.5), 1.0);
}

inline double bySign(double x, int negative) {
  return fromBits(bits(x) ^ (static_cast<uint64_t>(static_cast<uint32_t>(negative)) << 63));
}

struct SinCos {
  double sine, cosine;
};
// The quadrant turns (cos, sin) by 90 degrees each.
inline SinCos turn(double sine, double cosine, int quadrant) {
  double s = quadrant & 1 ? cosine : sine;
  double c = quadrant & 1 ? sine : cosine;
  return {bySign(s, (quadrant >> 1) & 1), bySign(c, ((quadrant + 1) >> 1) & 1)};
}

// sin(pi x) and cos(pi x): the nearest half integer is subtracted exactly.
inline SinCos sinCosPi(double x) {
  double limited = abs(x) < 0x1p53 ? x : 0.0;  // from there on all doubles are even
  double n = __builtin_rint(limited + limited);
  double r = fma(n, -0.5, limited);
  int quadrant = static_cast<int>(static_cast<int64_t>(n));
  double z = r * r;
  double ps = horner(z, -0x1.4abbce625be53p+2, 0x1.466bc6775ab7ep+1, -0x1.32d2cce63b54ap-1, 0x1.5078349e5995ep-4,
                     -0x1.e30770227345dp-8, 0x1.e909ffb3bb2a0p-12, -0x1.7434e50196f7ep-16);
  double sine = fma(r, 0x1.921fb54442d18p+1, r * fma(z, ps, 0x1.1a62633145c07p-53));
  double pc = horner(z, -0x1.3bd3cc9be45dep+2, 0x1.03c1f081b5a34p+2, -0x1.55d3c7e3b8a8ep+0, 0x1.e1f506619cf54p-3,
                     -0x1.a6d1c77b1f9e5p-6, 0x1.f99fb3dfad95fp-10, -0x1.9699ef375580dp-14, -0x1.c144f52a57b87p-16);
  double cosine = fma(z, pc, 1.0);
  return turn(sine, cosine, quadrant);
}

// atan(t) - t for |t| <= tan(pi/8): 2^-64
inline double atanTail(double t) {
  double z = t * t;
  double p = horner(z, -0x1.5555555555555p-2, 0x1.99999999997c5p-3, -0x1.249249247e7f5p-3, 0x1.c71c71baeea41p-4,
                    -0x1.745d1529c3782p-4, 0x1.3b1376d1a31a6p-4, -0x1.110ce43227acdp-4, 0x1.e179d0eb8909ep-5,
                    -0x1.abab560f7dfddp-5, 0x1.71989b7726e76p-5, -0x1.13a92fdf1a5f2p-5, 0x1.f75fc6421b190p-7);
  return t * z * p;
}

// atan(y / x) for y, x >= 0, not both 0: in [0, pi/2]. t = (y - x tan(a)) / (x + y tan(a)) with a = 0, pi/4 or
// pi/2, so that |t| <= tan(pi/8).
inline double atanQuadrant(double y, double x) {
  bool middle = y > x * 0x1.a827999fcef31p-2, steep = y > x * 0x1.3504f333f9de7p+1;
  double numerator = steep ? -x : middle ? y - x : y;
  double denominator = steep ? y : middle ? x + y : x;
  double base = steep ? 0x1.921fb54442d18p+0 : middle ? 0x1.921fb54442d18p-1 : 0.0;
  double baseLow = steep ? 0x1.1a62633145c07p-54 : middle ? 0x1.1a62633145c07p-55 : 0.0;
  double t = numerator / denominator;
  return base + (t + (atanTail(t) + baseLow));
}

// asin(t) - t for |t| <= 0.5625, z = t^2: 2^-65
inline double asinTail(double t, double z) {
  double p = horner(z, 0x1.5555555555555p-3, 0x1.33333333334dbp-4, 0x1.6db6db6d96703p-5, 0x1.f1c71c840773bp-6,
                    0x1.6e8b9ff8c496bp-6, 0x1.1c4f122739a57p-6, 0x1.c98ecdcf2897ep-7, 0x1.7b105358a47c5p-7,
                    0x1.3af4e85242861p-7, 0x1.3418bd96a20a4p-7, 0x1.2b3f4d5f6a260p-9, 0x1.945734dce69adp-6,
                    -0x1.527c997f5c2a8p-5, 0x1.663fb655208f9p-4, -0x1.543e1c54a7ee3p-4, 0x1.799c7f6cc9143p-5,
                    0x1.25189f6af72c6p-7);
  return t * z * p;
}

}  // namespace

extern "C" {

double __nv_sin(double x) {
  Reduced a = reduce(x);
  double sine = sinPoly(a.r), cosine = cosPoly(a.r);
  double result = bySign(a.quadrant & 1 ? cosine : sine, (a.quadrant >> 1) & 1);
  return x == 0.0 ? x : result;
}

double __nv_cos(double x) {
  Reduced a = reduce(x);
  double sine = sinPoly(a.r), cosine = cosPoly(a.r);
  return bySign(a.quadrant & 1 ? sine : cosine, ((a.quadrant + 1) >> 1) & 1);
}

void __nv_sincos(double x, double *sine, double *cosine) {
  Reduced a = reduce(x);
  SinCos both = turn(sinPoly(a.r), cosPoly(a.r), a.quadrant);
  *sine = x == 0.0 ? x : both.sine;
  *cosine = both.cosine;
}

double __nv_tan(double x) {
  Reduced a = reduce(x);
  double z = a.r * a.r;
  double p = horner(z, 0x1.5555555555558p-2, 0x1.1111111110ae4p-3, 0x1.ba1ba1ba8a892p-5, 0x1.664f4866461c7p-6,
                    0x1.226e398849258p-7, 0x1.d6d30afb3c52fp-9, 0x1.7dafd1717bebap-10, 0x1.34cbcf6b23b9fp-11,
                    0x1.fe610712a5adep-13, 0x1.62499d8f384bdp-14, 0x1.13706376d49b8p-14, -0x1.8ef2c8fe4417cp-16,
                    0x1.8ba1b3ecd688dp-15, -0x1.8b889d8eb5080p-16, 0x1.43c908c8fcb91p-17);
  Pair<double> t = fastTwoSum(a.r, fma(z * a.r, p, fma(z, a.rLow, a.rLow)));
  // -1/t, corrected by what t lost
  double q = -1.0 / t.high;
  double inverse = fma(q, fma(q, t.high, 1.0) + q * t.low, q);
  double result = a.quadrant & 1 ? inverse : t.high;
  return x == 0.0 ? x : result;
}

double __nv_sinpi(double x) {
  double sine = sinCosPi(x).sine;
  sine = x == __builtin_trunc(x) ? withSign(0.0, x) : sine;
  return abs(x) < kInfinity ? sine : kNan;
}

double __nv_cospi(double x) {
  double cosine = sinCosPi(x).cosine;
  cosine = cosine == 0.0 ? 0.0 : cosine;  // never -0
  return abs(x) < kInfinity ? cosine : kNan;
}

void __nv_sincospi(double x, double *sine, double *cosine) {
  *sine = __nv_sinpi(x);
  *cosine = __nv_cospi(x);
}

double __nv_atan(double x) {
  double a = abs(x);
  double result = atanQuadrant(a < 0x1p60 ? a : 0x1p60, 1.0);
  return withSign(isNan(x) ? x : result, x);
}

double __nv_atan2(double y, double x) {
  double ax = abs(x), ay = abs(y);
  bool bothInfinite = ax == kInfinity && ay == kInfinity;
  bool bothZero = ax == 0.0 && ay == 0.0;
  // Kept away from overflow of the sum, and infinities from NaN
  double larger = ax > ay ? ax : ay;
  double down = larger > 0x1p1000 ? 0x1p-100 : larger < 0x1p-900 ? 0x1p100 : 1.0;
  double p = atanQuadrant(bothInfinite      ? 1.0
                          : ay == kInfinity ? 1.0
                          : ax == kInfinity ? 0.0
                                            : ay * down,
                          bothInfinite || bothZero ? 1.0
                          : ax == kInfinity        ? 1.0
                          : ay == kInfinity        ? 0.0
                                                   : ax * down);
  p = bits(x) >> 63 ? 0x1.921fb54442d18p+1 - (p - 0x1.1a62633145c07p-53) : p;
  return isNan(x) || isNan(y) ? x + y : withSign(p, y);
}

double __nv_asin(double x) {
  double a = abs(x);
  bool large = a > 0.5625;
  // asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2))
  double z = large ? fma(a, -0.5, 0.5) : a * a;
  double t = large ? __builtin_sqrt(z) : a;
  double p = t + asinTail(t, z);
  p = large ? 0x1.921fb54442d18p+0 - fma(2.0, p, -0x1.1a62633145c07p-54) : p;
  return withSign(p, x);
}

double __nv_acos(double x) {
  double a = abs(x);
  bool large = a > 0.5625;
  double z = large ? fma(a, -0.5, 0.5) : a * a;
  double t = large ? __builtin_sqrt(z) : a;
  double p = t + asinTail(t, z);
  double twice = p + p;
  double outer = x < 0.0 ? 0x1.921fb54442d18p+1 - (twice - 0x1.1a62633145c07p-53) : twice;
  double inner = 0x1.921fb54442d18p+0 - (withSign(p, x) - 0x1.1a62633145c07p-54);
  return large ? outer : inner;
}

}  // extern "C"
