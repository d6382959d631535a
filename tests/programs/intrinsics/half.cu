// SPDX-License-Identifier: Apache-2.0
// half and bfloat16, one and two at a time: arithmetic, comparisons, conversions in each rounding, functions; and the conversions of the 8-, 6-
// and 4-bit formats. The model computes exactly and rounds once.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include <limits>

#include "rows.h"

using u16 = std::uint16_t;
#define H(x) __ushort_as_half(static_cast<unsigned short>(x))
#define B(x) __ushort_as_bfloat16(static_cast<unsigned short>(x))
#define H2(x) as<__half2>(x)
#define B2(x) as<__nv_bfloat162>(x)
#define F(x) as<float>(x)
#define D(x) as<double>(x)

namespace model {
enum Mode { rn, rz, rd, ru };
enum Beyond { infinity, saturate, nan };

// A format of sign, exponent and mantissa bits; `most` is its largest number's code.
template <int exponentBits, int mantissaBits, unsigned mostCode, Beyond beyond, unsigned nanCode>
struct Format {
  static constexpr int bias = (1 << (exponentBits - 1)) - 1, mantissa = mantissaBits;
  static constexpr unsigned sign = 1u << (exponentBits + mantissaBits), most = mostCode, notANumber = nanCode;

  static long double value(unsigned code) {
    const unsigned magnitude = code & (sign - 1);
    long double x = magnitude > most ? (beyond == infinity && magnitude == most + 1 ? INFINITY : NAN)
                    : magnitude >> mantissaBits
                        ? std::ldexp(1.0L + std::ldexp((long double)(magnitude & ((1u << mantissaBits) - 1)), -mantissaBits),
                                     int(magnitude >> mantissaBits) - bias)
                        : std::ldexp((long double)magnitude, 1 - bias - mantissaBits);
    return code & sign ? -x : x;
  }
  static bool isNan(unsigned code) { return std::isnan(value(code)); }

  // Whole numbers by their rounding.
  static long double whole(long double x, Mode mode) {
    const long double down = std::floor(x), up = std::ceil(x);
    if (mode == rd) return down;
    if (mode == ru) return up;
    if (mode == rz) return x < 0 ? up : down;
    if (x - down != up - x) return x - down < up - x ? down : up;
    return std::fmod(down, 2.0L) == 0 ? down : up;
  }
  static unsigned encode(long double x, Mode mode = rn) {
    if (std::isnan(x)) return notANumber;
    const unsigned s = std::signbit(x) ? sign : 0;
    if (x == 0) return s;
    const unsigned overflow = beyond == saturate ? most : most + 1;
    if (std::isinf(x)) return s | overflow;
    int exponent = std::max(std::ilogb(x), 1 - bias);
    long double steps = std::fabs(whole(std::ldexp(x, mantissaBits - exponent), mode));
    if (steps == std::ldexp(1.0L, mantissaBits + 1)) steps /= 2, ++exponent;
    const long double code = steps + (long double)(exponent + bias - 1) * (1 << mantissaBits);
    if (code <= most) return s | unsigned(code);
    const bool away = mode == rn || (mode == ru && !s) || (mode == rd && s);
    return s | (away ? overflow : most);
  }
};
using Half = Format<5, 10, 0x7bff, infinity, 0x7fff>;
using Bfloat = Format<8, 7, 0x7f7f, infinity, 0x7fff>;
using E4m3 = Format<4, 3, 0x7e, nan, 0x7f>;
using E4m3Saturated = Format<4, 3, 0x7e, saturate, 0x7f>;
using E5m2 = Format<5, 2, 0x7b, infinity, 0x7f>;
using E5m2Saturated = Format<5, 2, 0x7b, saturate, 0x7f>;
using E2m3 = Format<2, 3, 0x1f, saturate, 0x1f>;
using E3m2 = Format<3, 2, 0x1f, saturate, 0x1f>;
using E2m1 = Format<2, 1, 0x7, saturate, 0x7>;

// x + y, where what is cut off leaves its sign: good to be rounded again.
long double sum(long double x, long double y) {
  const long double s = x + y;
  if (!std::isfinite(s)) return s;
  const long double part = s - x, error = (x - (s - part)) + (y - part);
  return error == 0 ? s : std::nextafter(s, error > 0 ? (long double)INFINITY : -(long double)INFINITY);
}
template <class T>
struct Of {
  static long double value(Word a) { return T::value(a & 0xffff); }
  static u16 code(long double x, Mode mode = rn) { return T::encode(x, mode); }
  static u16 add(Word a, Word b) { return code(sum(value(a), value(b))); }
  static u16 subtract(Word a, Word b) { return code(sum(value(a), -value(b))); }
  static u16 multiply(Word a, Word b) { return code(value(a) * value(b)); }
  static u16 divide(Word a, Word b) { return code(value(a) / value(b)); }
  static u16 fma(Word a, Word b, Word c) { return code(sum(value(a) * value(b), value(c))); }
  static u16 clamp(u16 r) { return T::isNan(r) || !(value(r) > 0) ? 0 : value(r) > 1 ? code(1) : r; }
  static u16 relu(u16 r) { return T::isNan(r) ? 0x7fff : value(r) > 0 ? r : 0; }
  static u16 least(Word a, Word b) {
    if (T::isNan(a & 0xffff)) return T::isNan(b & 0xffff) ? 0x7fff : b;
    if (T::isNan(b & 0xffff)) return a;
    return value(a) < value(b) || (value(a) == value(b) && (a & 0x8000)) ? a : b;
  }
  static u16 most(Word a, Word b) {
    if (T::isNan(a & 0xffff)) return T::isNan(b & 0xffff) ? 0x7fff : b;
    if (T::isNan(b & 0xffff)) return a;
    return value(a) > value(b) || (value(a) == value(b) && !(a & 0x8000)) ? a : b;
  }
  static bool eitherNan(Word a, Word b) { return T::isNan(a & 0xffff) || T::isNan(b & 0xffff); }
  // NaN gives 0, of 64 bits the top bit alone; out of range the nearest.
  template <class To>
  static To whole(Word a, Mode mode) {
    const long double x = value(a);
    if (std::isnan(x)) return sizeof(To) == 8 ? To(1ull << 63) : To(0);
    const long double w = std::isinf(x) ? x : T::whole(x, mode);
    if (w <= (long double)std::numeric_limits<To>::min()) return std::numeric_limits<To>::min();
    if (w >= (long double)std::numeric_limits<To>::max()) return std::numeric_limits<To>::max();
    return To(w);
  }
  template <class F>
  static unsigned both(Word a, Word b, Word c, F f) {
    return f(a & 0xffff, b & 0xffff, c & 0xffff) | unsigned(f(a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff)) << 16;
  }
  // One step of the format at x.
  static double ulp(double x) {
    if (std::isnan(x) || std::isinf(x)) return 0;
    const int exponent = x == 0 ? -10000 : std::ilogb(x);
    return std::ldexp(1.0, std::max(exponent, 1 - T::bias) - T::mantissa);
  }
};
using HalfOf = Of<Half>;
using BfloatOf = Of<Bfloat>;
template <class T>
u16 canonical(u16 code) {
  return T::isNan(code) ? 0x7fff : code;
}
template <class T>
unsigned canonical2(unsigned both) {
  return canonical<T>(both & 0xffff) | unsigned(canonical<T>(both >> 16)) << 16;
}
}  // namespace model

// NaNs become one.
__device__ u16 code(__half x) { return __hisnan(x) ? 0x7fff : __half_as_ushort(x); }
__device__ u16 code(__nv_bfloat16 x) { return __hisnan(x) ? 0x7fff : __bfloat16_as_ushort(x); }
template <class Pair>
__device__ unsigned codes(Pair x) {
  return code(x.x) | unsigned(code(x.y)) << 16;
}

// One function of halves or bfloats and its form for pairs; A, A2 make the operand, M is the model.
#define BOTH(name, A, A2, M, T, operands, operands2, expression)                                             \
  ROW(A##_##name, code(name operands), model::canonical<model::T>([](Word a, Word b, Word c) -> u16 { (void)b, (void)c; return expression; }(a & 0xffff, b & 0xffff, c & 0xffff))) \
  ROW(A##_##name##2, codes(PAIR_##name operands2), model::canonical2<model::T>(model::M::both(a, b, c, [](Word a, Word b, Word c) -> u16 { (void)b, (void)c; return expression; })))
#define PAIR___hadd __hadd2
#define PAIR___hsub __hsub2
#define PAIR___hmul __hmul2
#define PAIR___hdiv __h2div
#define PAIR___hfma __hfma2
#define PAIR___hneg __hneg2
#define PAIR___habs __habs2
#define PAIR___hadd_rn __hadd2_rn
#define PAIR___hsub_rn __hsub2_rn
#define PAIR___hmul_rn __hmul2_rn
#define PAIR___hadd_sat __hadd2_sat
#define PAIR___hsub_sat __hsub2_sat
#define PAIR___hmul_sat __hmul2_sat
#define PAIR___hfma_sat __hfma2_sat
#define PAIR___hfma_relu __hfma2_relu
#define PAIR___hmin __hmin2
#define PAIR___hmax __hmax2
#define PAIR___hmin_nan __hmin2_nan
#define PAIR___hmax_nan __hmax2_nan
#define COMPARE(name, A, A2, M, T, relation)                                                                                    \
  ROW(A##_##name, int(__h##name(A(a), A(b))), int([](long double x, long double y) { return relation; }(model::M::value(a), model::M::value(b)))) \
  ROW(A##_##name##2, codes(__h##name##2(A2(a), A2(b))),                                                                          \
      model::M::both(a, b, 0, [](Word a, Word b, Word) -> u16 { const long double x = model::M::value(a), y = model::M::value(b); return relation ? model::M::code(1) : 0; })) \
  ROW(A##_b##name##2, int(__hb##name##2(A2(a), A2(b))),                                                                          \
      model::M::both(a, b, 0, [](Word a, Word b, Word) -> u16 { const long double x = model::M::value(a), y = model::M::value(b); return relation; }) == 0x10001) \
  ROW(A##_##name##2_mask, __h##name##2_mask(A2(a), A2(b)),                                                                       \
      model::M::both(a, b, 0, [](Word a, Word b, Word) -> u16 { const long double x = model::M::value(a), y = model::M::value(b); return relation ? 0xffff : 0; }))
#define INTEGER(name, A, M, T, kind, Type, r)                                                                     \
  ROW(A##_to_##kind##_##r, __##name##2##kind##_##r(A(a)), model::M::whole<Type>(a, model::r))                     \
  ROW(A##_from_##kind##_##r, code(__##kind##2##name##_##r(static_cast<Type>(a))), model::M::code(static_cast<Type>(a), model::r))
#define INTEGERS(name, A, M, T, kind, Type) \
  INTEGER(name, A, M, T, kind, Type, rn) INTEGER(name, A, M, T, kind, Type, rz) INTEGER(name, A, M, T, kind, Type, rd) INTEGER(name, A, M, T, kind, Type, ru)
#define FUNCTION(name, A, A2, M, T, expression) \
  ROW(A##_h##name, code(h##name(A(a))), model::canonical<model::T>([](long double x) { return model::M::code(expression); }(model::M::value(a))))
#define FUNCTION_NEAR(name, A, M, expression) \
  ROW_NEAR(A##_h##name, __##M##_float(h##name(A(a))), [](double x) { return double(model::M::value(model::M::code(expression))); }(model::M::value(a)), 2 * model::M::ulp(x))

#define FAMILY(name, A, A2, M, T)                                                                                               \
  BOTH(__hadd, A, A2, M, T, (A(a), A(b)), (A2(a), A2(b)), model::M::add(a, b))                                                  \
  BOTH(__hsub, A, A2, M, T, (A(a), A(b)), (A2(a), A2(b)), model::M::subtract(a, b))                                             \
  BOTH(__hmul, A, A2, M, T, (A(a), A(b)), (A2(a), A2(b)), model::M::multiply(a, b))                                             \
  BOTH(__hdiv, A, A2, M, T, (A(a), A(b)), (A2(a), A2(b)), model::M::divide(a, b))                                               \
  BOTH(__hfma, A, A2, M, T, (A(a), A(b), A(c)), (A2(a), A2(b), A2(c)), model::M::fma(a, b, c))                                  \
  BOTH(__hadd_rn, A, A2, M, T, (A(a), A(b)), (A2(a), A2(b)), model::M::add(a, b))                                               \
  BOTH(__hsub_rn, A, A2, M, T, (A(a), A(b)), (A2(a), A2(b)), model::M::subtract(a, b))                                          \
  BOTH(__hmul_rn, A, A2, M, T, (A(a), A(b)), (A2(a), A2(b)), model::M::multiply(a, b))                                          \
  BOTH(__hadd_sat, A, A2, M, T, (A(a), A(b)), (A2(a), A2(b)), model::M::clamp(model::M::add(a, b)))                             \
  BOTH(__hsub_sat, A, A2, M, T, (A(a), A(b)), (A2(a), A2(b)), model::M::clamp(model::M::subtract(a, b)))                        \
  BOTH(__hmul_sat, A, A2, M, T, (A(a), A(b)), (A2(a), A2(b)), model::M::clamp(model::M::multiply(a, b)))                        \
  BOTH(__hfma_sat, A, A2, M, T, (A(a), A(b), A(c)), (A2(a), A2(b), A2(c)), model::M::clamp(model::M::fma(a, b, c)))             \
  BOTH(__hfma_relu, A, A2, M, T, (A(a), A(b), A(c)), (A2(a), A2(b), A2(c)), model::M::relu(model::M::fma(a, b, c)))             \
  BOTH(__hneg, A, A2, M, T, (A(a)), (A2(a)), a ^ 0x8000)                                                                        \
  BOTH(__habs, A, A2, M, T, (A(a)), (A2(a)), a & 0x7fff)                                                                        \
  BOTH(__hmin, A, A2, M, T, (A(a), A(b)), (A2(a), A2(b)), model::M::least(a, b))                                                \
  BOTH(__hmax, A, A2, M, T, (A(a), A(b)), (A2(a), A2(b)), model::M::most(a, b))                                                 \
  BOTH(__hmin_nan, A, A2, M, T, (A(a), A(b)), (A2(a), A2(b)), model::M::eitherNan(a, b) ? 0x7fff : model::M::least(a, b))       \
  BOTH(__hmax_nan, A, A2, M, T, (A(a), A(b)), (A2(a), A2(b)), model::M::eitherNan(a, b) ? 0x7fff : model::M::most(a, b))        \
  COMPARE(eq, A, A2, M, T, x == y)                                                                                              \
  COMPARE(ne, A, A2, M, T, (x < y || x > y))                                                                                    \
  COMPARE(le, A, A2, M, T, x <= y)                                                                                              \
  COMPARE(ge, A, A2, M, T, x >= y)                                                                                              \
  COMPARE(lt, A, A2, M, T, x < y)                                                                                               \
  COMPARE(gt, A, A2, M, T, x > y)                                                                                               \
  COMPARE(equ, A, A2, M, T, !(x < y || x > y))                                                                                  \
  COMPARE(neu, A, A2, M, T, x != y)                                                                                             \
  COMPARE(leu, A, A2, M, T, !(x > y))                                                                                           \
  COMPARE(geu, A, A2, M, T, !(x < y))                                                                                           \
  COMPARE(ltu, A, A2, M, T, !(x >= y))                                                                                          \
  COMPARE(gtu, A, A2, M, T, !(x <= y))                                                                                          \
  ROW(A##_isnan, int(__hisnan(A(a))), int(model::T::isNan(a & 0xffff)))                                                         \
  ROW(A##_isinf, __hisinf(A(a)), std::isinf(model::M::value(a)) ? (a & 0x8000 ? -1 : 1) : 0)                                    \
  ROW(A##_float, __##name##2float(A(a)), static_cast<float>(model::M::value(a)))                                                \
  ROW(A##_from_float, code(__float2##name(F(a))), model::M::code(F(a)))                                                         \
  ROW(A##_from_float_rn, code(__float2##name##_rn(F(a))), model::M::code(F(a)))                                                 \
  ROW(A##_from_float_rz, code(__float2##name##_rz(F(a))), model::M::code(F(a), model::rz))                                      \
  ROW(A##_from_float_rd, code(__float2##name##_rd(F(a))), model::M::code(F(a), model::rd))                                      \
  ROW(A##_from_float_ru, code(__float2##name##_ru(F(a))), model::M::code(F(a), model::ru))                                      \
  ROW(A##_from_double, code(__double2##name(D(a))), model::M::code(D(a)))                                                       \
  INTEGERS(name, A, M, T, short, short) INTEGERS(name, A, M, T, ushort, unsigned short)                                         \
  INTEGERS(name, A, M, T, int, int) INTEGERS(name, A, M, T, uint, unsigned)                                                     \
  INTEGERS(name, A, M, T, ll, long long) INTEGERS(name, A, M, T, ull, unsigned long long)                                       \
  ROW(A##_to_char, __##name##2char_rz(A(a)), model::M::whole<signed char>(a, model::rz))                                        \
  ROW(A##_to_uchar, __##name##2uchar_rz(A(a)), model::M::whole<unsigned char>(a, model::rz))                                    \
  FUNCTION(ceil, A, A2, M, T, std::ceil(x)) FUNCTION(floor, A, A2, M, T, std::floor(x))                                         \
  FUNCTION(trunc, A, A2, M, T, std::trunc(x)) FUNCTION(rint, A, A2, M, T, std::rint(x))                                         \
  FUNCTION(sqrt, A, A2, M, T, std::sqrt(x))                                                                                     \
  FUNCTION_NEAR(rcp, A, M, 1.0 / x) FUNCTION_NEAR(rsqrt, A, M, 1.0 / std::sqrt(x)) FUNCTION_NEAR(exp, A, M, std::exp(x))        \
  FUNCTION_NEAR(exp2, A, M, std::exp2(x)) FUNCTION_NEAR(exp10, A, M, std::pow(10.0, x)) FUNCTION_NEAR(log, A, M, std::log(x))   \
  FUNCTION_NEAR(log2, A, M, std::log2(x)) FUNCTION_NEAR(log10, A, M, std::log10(x)) FUNCTION_NEAR(sin, A, M, std::sin(x))       \
  FUNCTION_NEAR(cos, A, M, std::cos(x)) FUNCTION_NEAR(tanh, A, M, std::tanh(x))
#define __HalfOf_float __half2float
#define __BfloatOf_float __bfloat162float
FAMILY(half, H, H2, HalfOf, Half)
FAMILY(bfloat16, B, B2, BfloatOf, Bfloat)

#define TINY(label, device, T, x) ROW(label, static_cast<unsigned>(device), model::T::encode(x))
TINY(fp8_e4m3, __nv_cvt_float_to_fp8(F(a), __NV_SATFINITE, __NV_E4M3), E4m3Saturated, F(a))
TINY(fp8_e4m3_nosat, __nv_cvt_float_to_fp8(F(a), __NV_NOSAT, __NV_E4M3), E4m3, F(a))
TINY(fp8_e5m2, __nv_cvt_float_to_fp8(F(a), __NV_SATFINITE, __NV_E5M2), E5m2Saturated, F(a))
TINY(fp8_e5m2_nosat, __nv_cvt_float_to_fp8(F(a), __NV_NOSAT, __NV_E5M2), E5m2, F(a))
TINY(fp8_e4m3_double, __nv_cvt_double_to_fp8(D(a), __NV_SATFINITE, __NV_E4M3), E4m3Saturated, D(a))
TINY(fp8_e5m2_double, __nv_cvt_double_to_fp8(D(a), __NV_NOSAT, __NV_E5M2), E5m2, D(a))
TINY(fp8_e4m3_half, __nv_cvt_halfraw_to_fp8(H(a), __NV_SATFINITE, __NV_E4M3), E4m3Saturated, model::HalfOf::value(a))
TINY(fp8_e5m2_half, __nv_cvt_halfraw_to_fp8(H(a), __NV_NOSAT, __NV_E5M2), E5m2, model::HalfOf::value(a))
TINY(fp8_e4m3_bfloat, __nv_cvt_bfloat16raw_to_fp8(B(a), __NV_SATFINITE, __NV_E4M3), E4m3Saturated, model::BfloatOf::value(a))
TINY(fp6_e2m3, __nv_cvt_float_to_fp6(F(a), __NV_E2M3, cudaRoundNearest), E2m3, F(a))
TINY(fp6_e3m2, __nv_cvt_float_to_fp6(F(a), __NV_E3M2, cudaRoundNearest), E3m2, F(a))
TINY(fp4_e2m1, __nv_cvt_float_to_fp4(F(a), __NV_E2M1, cudaRoundNearest), E2m1, F(a))
#define FROM_TINY(label, device, T, bits) ROW(label, __half2float(__half(device)), static_cast<float>(model::T::value(a & bits)))
FROM_TINY(e4m3_to_half, __nv_cvt_fp8_to_halfraw(a, __NV_E4M3), E4m3, 0xff)
FROM_TINY(e5m2_to_half, __nv_cvt_fp8_to_halfraw(a, __NV_E5M2), E5m2, 0xff)
FROM_TINY(e2m3_to_half, __nv_cvt_fp6_to_halfraw(a & 0x3f, __NV_E2M3), E2m3, 0x3f)
FROM_TINY(e3m2_to_half, __nv_cvt_fp6_to_halfraw(a & 0x3f, __NV_E3M2), E3m2, 0x3f)
FROM_TINY(e2m1_to_half, __nv_cvt_fp4_to_halfraw(a & 0xf, __NV_E2M1), E2m1, 0xf)

static unsigned anyHalf() {
  static const u16 special[] = {0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x3c00, 0xbc00, 0x3800, 0x3e00,
                                0x7f80, 0xff80, 0x7f7f, 0x7fc0, 0x3f80, 0xbf80, 0x80, 0x4f00, 0xcf00, 0x5f00};
  return engine() % 3 ? engine() & 0xffff : special[engine() % std::size(special)];
}
static Word anyWord() {
  const unsigned low = anyHalf() | anyHalf() << 16;
  switch (engine() % 4) {
    case 0: {  // a float close to a tie of a format
      const float x = std::ldexp(static_cast<float>(static_cast<int>(engine() % 4096) - 2048), static_cast<int>(engine() % 40) - 30);
      return word(x) | (engine() % 2 ? 0 : engine() % 3);
    }
    case 1: {
      const double x = std::ldexp(static_cast<double>(static_cast<int>(engine() % 4096) - 2048), static_cast<int>(engine() % 40) - 30);
      return word(x) | (engine() % 2);
    }
    default: return low | static_cast<Word>(static_cast<unsigned>(engine())) << 32;
  }
}

int main() {
  std::vector<Input> in = integerInputs(500);
  for (unsigned bits = 0; bits < 0x10000; bits += 1 + engine() % 60) in.push_back({bits | Word(anyHalf()) << 16, anyWord(), anyWord()});
  for (int i = 0; i < 2000; ++i) in.push_back({anyWord(), anyWord(), anyWord()});
  return finish(CHECK_ROWS(in));
}
