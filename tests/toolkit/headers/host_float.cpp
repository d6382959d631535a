// SPDX-License-Identifier: Apache-2.0
// Half, bfloat16 and 8-bit floats in a file that any C++ compiler reads: against a reference that shares nothing with
// the headers, for all codes and for random numbers. Prints a digest of all result bits, which every compiler, and
// nvcc's host pass, must agree on. host_float SEED
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace {

int wrong = 0;
std::uint64_t digest = 1469598103934665603u;

void note(unsigned bits) { digest = (digest ^ bits) * 1099511628211u; }
void check(bool holds, const char *what, unsigned code, unsigned other, unsigned got) {
  note(got);
  if (!holds && wrong++ < 20) std::printf("%s of %08x, %08x gave %08x\n", what, code, other, got);
}
#define CHECK(condition) check(condition, #condition, 0, 0, 0)

template <typename To, typename From>
To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "a reinterpretation");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

enum Direction { nearest, zero, down, up };
struct Format {
  int mantissa, leastExponent;
  double largest;
  unsigned signBit;
  bool infinities;
};
const Format half = {10, -14, 65504.0, 0x8000, true};
const Format bfloat = {7, -126, 3.3895313892515355e38, 0x8000, true};
const Format e4m3 = {3, -6, 448.0, 0x80, false};
const Format e5m2 = {2, -14, 57344.0, 0x80, true};

// Numbers are multiples of a unit that the exponent gives.
double rounded(const Format &format, double value, Direction direction = nearest) {
  if (value == 0.0 || !std::isfinite(value)) return value;
  int exponent = std::ilogb(value);
  double unit = std::ldexp(1.0, (exponent < format.leastExponent ? format.leastExponent : exponent) - format.mantissa);
  double whole = value / unit;
  whole = direction == nearest ? std::nearbyint(whole)
          : direction == zero  ? std::trunc(whole)
          : direction == down  ? std::floor(whole)
                               : std::ceil(whole);
  double result = std::copysign(whole * unit, value);
  if (std::fabs(result) <= format.largest) return result;
  bool beyond = direction == nearest || direction == (value > 0.0 ? up : down);
  return std::copysign(beyond ? INFINITY : format.largest, value);
}
double decoded(const Format &format, unsigned code) {
  unsigned magnitude = code & (format.signBit - 1), field = magnitude >> format.mantissa;
  double fraction = magnitude & ((1u << format.mantissa) - 1), value;
  double top = std::ldexp(1.0, -format.mantissa);
  if (field == 0) value = std::ldexp(fraction * top, format.leastExponent);
  else value = std::ldexp(1.0 + fraction * top, static_cast<int>(field) - 1 + format.leastExponent);
  if (value > format.largest) value = format.infinities && fraction == 0.0 ? INFINITY : static_cast<double>(NAN);
  return code & format.signBit ? -value : value;
}
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// What the two 16-bit types call differently.
struct Half {
  typedef __half Number;
  typedef __half2 Pair;
  typedef __half_raw Raw;
  static const Format &format() { return half; }
  static Number of(float value) { return __float2half(value); }
  static Number ofDouble(double value) { return __double2half(value); }
  static Number directed(float value, int direction) {
    return direction == zero   ? __float2half_rz(value)
           : direction == down ? __float2half_rd(value)
                               : __float2half_ru(value);
  }
  static float value(Number number) { return __half2float(number); }
  static float low(Pair pair) { return __low2float(pair); }
  static int integer(Number number) { return __half2int_rn(number); }
  static long long wide(Number number) { return __half2ll_rd(number); }
  static Number ofInteger(int value) { return __int2half_rn(value); }
};
struct Bfloat {
  typedef __nv_bfloat16 Number;
  typedef __nv_bfloat162 Pair;
  typedef __nv_bfloat16_raw Raw;
  static const Format &format() { return bfloat; }
  static Number of(float value) { return __float2bfloat16(value); }
  static Number ofDouble(double value) { return __double2bfloat16(value); }
  static Number directed(float value, int direction) {
    return direction == zero   ? __float2bfloat16_rz(value)
           : direction == down ? __float2bfloat16_rd(value)
                               : __float2bfloat16_ru(value);
  }
  static float value(Number number) { return __bfloat162float(number); }
  static float low(Pair pair) { return __low2float(pair); }
  static int integer(Number number) { return __bfloat162int_rn(number); }
  static long long wide(Number number) { return __bfloat162ll_rd(number); }
  static Number ofInteger(int value) { return __int2bfloat16_rn(value); }
};

template <typename Type>
typename Type::Number ofCode(unsigned code) {
  typename Type::Raw raw;
  raw.x = static_cast<unsigned short>(code);
  return typename Type::Number(raw);
}
template <typename Number>
unsigned codeOf(Number number) {
  return bits<unsigned short>(number);
}

template <typename Type>
void allCodes() {
  typedef typename Type::Number Number;
  for (unsigned code = 0; code < 0x10000; ++code) {
    Number number = ofCode<Type>(code);
    float value = Type::value(number);
    double exact = decoded(Type::format(), code);
    bool nan = std::isnan(exact);
    check(same(value, exact), "value", code, 0, nan ? 0 : bits<unsigned>(value));
    check(static_cast<bool>(__hisnan(number)) == nan && (__hisinf(number) != 0) == static_cast<bool>(std::isinf(exact)),
          "class", code, 0, static_cast<unsigned>(__hisinf(number)));
    if (nan) continue;
    check(codeOf(Type::of(value)) == code, "back", code, 0, codeOf(Type::of(value)));
    check(codeOf(-number) == (code ^ 0x8000) && codeOf(__habs(number)) == (code & 0x7fff), "sign", code, 0,
          codeOf(-number));
    if (std::fabs(exact) < 2e9) {
      check(Type::integer(number) == static_cast<int>(std::nearbyint(exact)), "integer", code, 0,
            static_cast<unsigned>(Type::integer(number)));
      check(Type::wide(number) == static_cast<long long>(std::floor(exact)), "wide", code, 0,
            static_cast<unsigned>(Type::wide(number)));
      check(static_cast<int>(number) == static_cast<int>(exact), "cast", code, 0, 0);
    }
  }
}

// Limited exponents, so that a reference in 128 bits is exact: units of 2^-80.
__extension__ typedef __int128 Fixed;
__extension__ typedef unsigned __int128 Magnitude;
Fixed fixed(double value) { return static_cast<Fixed>(std::ldexp(value, 40)) << 40; }
// The sum a b + c as a double rounded to odd: enough for one more rounding.
double exactFma(double a, double b, double c) {
  Fixed sum = static_cast<Fixed>(std::ldexp(a * b, 80)) + fixed(c);
  bool negative = sum < 0;
  Magnitude magnitude = negative ? -static_cast<Magnitude>(sum) : static_cast<Magnitude>(sum);
  int shift = 0;
  bool rest = false;
  while (magnitude >> 50) {
    rest = rest || (magnitude & 1);
    magnitude >>= 1;
    ++shift;
  }
  if (rest) magnitude |= 1;
  double value = std::ldexp(static_cast<double>(static_cast<std::uint64_t>(magnitude)), shift - 80);
  if (value == 0.0) return a * b + c;  // its sign
  return negative ? -value : value;
}

template <typename Type>
void arithmetic(std::mt19937 &random) {
  typedef typename Type::Number Number;
  typedef typename Type::Pair Pair;
  const Format &format = Type::format();
  for (int round = 0; round < 20000; ++round) {
    unsigned p = random() & 0xffff, q = random() & 0xffff, r = random() & 0xffff;
    Number a = ofCode<Type>(p), b = ofCode<Type>(q), c = ofCode<Type>(r);
    double x = decoded(format, p), y = decoded(format, q), z = decoded(format, r);
#define RESULT(name, expression, expected)                                                            \
  {                                                                                                   \
    Number result = expression;                                                                       \
    double value = decoded(format, codeOf(result));                                                   \
    check(same(value, rounded(format, expected)), name, p, q, std::isnan(value) ? 0 : codeOf(result)); \
  }
    RESULT("a + b", a + b, x + y)
    RESULT("a - b", a - b, x - y)
    RESULT("a * b", a * b, x * y)
    RESULT("a / b", a / b, x / y)
    RESULT("__hadd_rn", __hadd_rn(a, b), x + y)
    RESULT("__hmul2", __hmul2(Pair(b, a), Pair(c, b)).y, x * y)
    Number stepped = a;
    stepped += b;
    RESULT("a += b", stepped, x + y)
    RESULT("a++", (stepped = a, stepped++, stepped), x + 1.0)
    if (std::fabs(x) < 1e5 && std::fabs(y) < 1e5 && std::fabs(z) < 1e5 && std::fabs(x) > 1e-6 && std::fabs(y) > 1e-6 &&
        std::fabs(z) > 1e-6) {
      RESULT("__hfma", __hfma(a, b, c), exactFma(x, y, z))
      RESULT("__hfma2", __hfma2(Pair(a, a), Pair(b, b), Pair(c, c)).y, exactFma(x, y, z))
    }
    if (!std::isnan(x) && !std::isnan(y)) {
      RESULT("__hmax", __hmax(a, b), x > y || (x == y && std::signbit(y)) ? x : y)
      RESULT("__hmin", __hmin(a, b), x < y || (x == y && std::signbit(x)) ? x : y)
    }
    bool ordered = !std::isnan(x) && !std::isnan(y);
    check((a < b) == (x < y) && (a <= b) == (x <= y) && (a > b) == (x > y) && (a >= b) == (x >= y), "order", p, q,
          a < b);
    check((a == b) == (x == y) && (a != b) == (x != y) && __hne(a, b) == (ordered && x != y), "equality", p, q, a == b);
    check(__hltu(a, b) == !(x >= y) && __hbeq2(Pair(a, b), Pair(a, b)) == ordered, "unordered", p, q, __hltu(a, b));

    unsigned word = static_cast<unsigned>(random());
    if (round & 1) word = (word & 0x8fffffffu) | 0x30000000u;  // within half's range
    float single = bits<float>(word);
    RESULT("from float", Number(single), static_cast<double>(single))
    double wide = static_cast<double>(single) * 1.000000001;
    RESULT("from double", Type::ofDouble(wide), wide)
    for (int direction = zero; direction <= up; ++direction) {
      Number result = Type::directed(single, direction);
      double value = decoded(format, codeOf(result));
      check(same(value, rounded(format, single, static_cast<Direction>(direction))), "directed", word,
            static_cast<unsigned>(direction), std::isnan(value) ? 0 : codeOf(result));
    }
    int integer = static_cast<int>(random()) >> (random() & 31);
    RESULT("from int", Type::ofInteger(integer), integer)
    RESULT("from long long", Number(static_cast<long long>(integer)), integer)
#undef RESULT
  }
}

// 8 bits: beyond the largest number comes that number.
void eightBits(std::mt19937 &random) {
  for (unsigned code = 0; code < 256; ++code) {
    __nv_fp8_e4m3 a;
    __nv_fp8_e5m2 b;
    a.__x = b.__x = static_cast<unsigned char>(code);
    double x = decoded(e4m3, code), y = decoded(e5m2, code);
    check(same(static_cast<float>(a), x), "e4m3", code, 0, std::isnan(x) ? 0 : bits<unsigned>(static_cast<float>(a)));
    check(same(static_cast<float>(b), y), "e5m2", code, 0, std::isnan(y) ? 0 : bits<unsigned>(static_cast<float>(b)));
    check(std::isnan(x) || static_cast<int>(a) == static_cast<int>(x), "e4m3 as int", code, 0, 0);
  }
  for (int round = 0; round < 20000; ++round) {
    unsigned word = static_cast<unsigned>(random());
    if (round & 1) word = (word & 0x87ffffffu) | 0x38000000u;
    float value = bits<float>(word);
    if (std::isnan(value)) continue;
    double x = rounded(e4m3, value), y = rounded(e5m2, value);
    if (std::isinf(x)) x = std::copysign(e4m3.largest, value);
    if (std::isinf(y)) y = std::copysign(e5m2.largest, value);
    __nv_fp8_e4m3 a(value);
    __nv_fp8_e5m2 b(static_cast<double>(value));
    check(same(static_cast<float>(a), x), "to e4m3", word, 0, a.__x);
    check(same(static_cast<float>(b), y), "to e5m2", word, 0, b.__x);
    __nv_fp8x4_e4m3 four(make_float4(value, 1.0f, value, 2.0f));
    float4 back = static_cast<float4>(four);
    check(same(back.x, x) && back.y == 1.0f && same(back.z, x) && back.w == 2.0f, "four e4m3", word, 0, four.__x);
    // 4 and 6 bits, which headers/tiny_floats.cu checks: e2m1's numbers are e2m3's, too.
    __nv_fp4_e2m1 tiny(value);
    __nv_fp6x4_e2m3 exact(make_float4(static_cast<float>(tiny), value, -value, 1.0f));
    check(static_cast<float4>(exact).x == static_cast<float>(tiny), "e2m1 in e2m3", word, tiny.__x, exact.__x);
  }
}

void knownResults() {
  CHECK(codeOf(__float2half(1.0f)) == 0x3c00 && codeOf(__float2half(65504.0f)) == 0x7bff);
  CHECK(codeOf(__float2half(65519.99f)) == 0x7bff && codeOf(__float2half(65520.0f)) == 0x7c00);
  CHECK(codeOf(__half(1) / __half(3.0)) == 0x3555 && codeOf(__float2half(-0.0f)) == 0x8000);
  CHECK(codeOf(__float2half(5.9604645e-8f)) == 0x0001 && codeOf(__float2half(2.9802322e-8f)) == 0x0000);
  CHECK(codeOf(__float2bfloat16(1.0f / 3.0f)) == 0x3eab && codeOf(__float2bfloat16(3.4e38f)) == 0x7f80);
  CHECK(codeOf(__float2half(NAN)) == 0x7fff && codeOf(__float2bfloat16(NAN)) == 0x7fff);
  CHECK(__nv_fp8_e4m3(448.0f).__x == 0x7e && __nv_fp8_e4m3(1e9f).__x == 0x7e && __nv_fp8_e5m2(-1.5f).__x == 0xbe);
  CHECK(__nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E4M3) == 0x7f &&
        __nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E5M2) == 0x7c);
  CHECK(codeOf(CUDART_INF_FP16) == 0x7c00 && codeOf(CUDART_ONE_BF16) == 0x3f80);
  __half assigned;
  assigned = 3;
  assigned *= __half(0.5f);
  volatile __half kept = assigned;
  __half read = kept;
  volatile __half *there = &(kept = __half(2.0f));
  CHECK(there == &kept && read == assigned && static_cast<float>(__half(kept)) == 2.0f);
  CHECK(static_cast<float>(assigned) == 1.5f && static_cast<bool>(assigned) && sizeof(__half2) == 4 &&
        alignof(__half2) == 4);
}

}  // namespace

int main(int count, char **arguments) {
  unsigned seed = count > 1 ? static_cast<unsigned>(std::strtoul(arguments[1], nullptr, 10)) : std::random_device{}();
  std::mt19937 random(seed);
  knownResults();
  allCodes<Half>();
  allCodes<Bfloat>();
  arithmetic<Half>(random);
  arithmetic<Bfloat>(random);
  eightBits(random);
  std::printf("%s: %d wrong, seed %u, digest %016llx\n", wrong ? "FAILED" : "PASSED", wrong, seed,
              static_cast<unsigned long long>(digest));
  return wrong != 0;
}
