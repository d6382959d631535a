// SPDX-License-Identifier: Apache-2.0
// Integer intrinsics: bits, products, averages, funnel shifts, dot products, parts of a word (SIMD and dynamic programming).
#include "rows.h"

using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
#define U(x) static_cast<unsigned>(x)
#define S(x) static_cast<int>(x)
#define LL(x) static_cast<long long>(x)

namespace model {
u32 bytePerm(u32 x, u32 y, u32 s) {
  const u64 both = u64(y) << 32 | x;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) result |= u32(both >> 8 * (s >> 4 * i & 7) & 255) << 8 * i;
  return result;
}
template <class T>
int leadingZeros(T x) {
  int n = 0;
  for (int bit = sizeof(T) * 8 - 1; bit >= 0 && !(x >> bit & 1); --bit) ++n;
  return n;
}
template <class T>
int population(T x) {
  int n = 0;
  for (; x; x >>= 1) n += x & 1;
  return n;
}
template <class T>
int firstSet(T x) {
  for (unsigned bit = 0; bit < sizeof(T) * 8; ++bit)
    if (x >> bit & 1) return bit + 1;
  return 0;
}
template <class T>
T reverse(T x) {
  T result = 0;
  for (unsigned bit = 0; bit < sizeof(T) * 8; ++bit) result |= (x >> bit & T(1)) << (sizeof(T) * 8 - 1 - bit);
  return result;
}
s32 signed24(u32 x) { return s32(x << 8) >> 8; }
// The n-th set bit at or above base (offset > 0), at or below it (offset < 0), or base itself if it is set.
u32 nthSet(u32 mask, u32 base, s32 offset) {
  if (offset == 0) return mask >> base & 1 ? base : ~0u;
  const int step = offset > 0 ? 1 : -1;
  for (int at = int(base), left = std::abs(offset); at >= 0 && at < 32; at += step)
    if (mask >> at & 1 && --left == 0) return at;
  return ~0u;
}
u32 funnelLeft(u32 low, u32 high, u32 shift) { return u32((u64(high) << 32 | low) << shift >> 32); }
u32 funnelRight(u32 low, u32 high, u32 shift) { return u32((u64(high) << 32 | low) >> shift); }
u32 clampedLeft(u32 low, u32 high, u32 shift) { return shift >= 32 ? low : funnelLeft(low, high, shift); }
u32 clampedRight(u32 low, u32 high, u32 shift) { return shift >= 32 ? high : funnelRight(low, high, shift); }

template <class Part>  // signed or unsigned bytes
u32 dot4(u32 a, u32 b, u32 c) {
  for (int i = 0; i < 4; ++i) c += u32(s32(Part(a >> 8 * i)) * s32(Part(b >> 8 * i)));
  return c;
}
template <class Half, class Part>
u32 dot2(u32 a, u32 b, u32 c, int from) {
  for (int i = 0; i < 2; ++i) c += u32(s32(Half(a >> 16 * i)) * s32(Part(b >> 8 * (from + i))));
  return c;
}

// Part by part, in wide arithmetic.
template <class Part, class F>
u32 parts(u32 a, u32 b, F f) {
  constexpr int bits = sizeof(Part) * 8;
  u32 result = 0;
  for (int i = 0; i < 32 / bits; ++i)
    result |= (u32(f(s64(Part(a >> bits * i)), s64(Part(b >> bits * i)))) & ((1u << bits) - 1)) << bits * i;
  return result;
}
template <class Part>
s64 saturate(s64 x) {
  const s64 least = std::numeric_limits<Part>::min(), most = std::numeric_limits<Part>::max();
  return x < least ? least : x > most ? most : x;
}
template <class Part>
u32 differences(u32 a, u32 b) {
  constexpr int bits = sizeof(Part) * 8;
  u32 sum = 0;
  for (int i = 0; i < 32 / bits; ++i) sum += u32(std::llabs(s64(Part(a >> bits * i)) - s64(Part(b >> bits * i))));
  return sum;
}
s64 average(s64 x, s64 y) { return x + y >= 0 ? (x + y + 1) >> 1 : -((-(x + y) + 1) >> 1); }  // ties away from zero
}  // namespace model

extern "C" __device__ int __nv_byte_perm(int, int, int);  // of libdevice, which other compilers call
ROW(__byte_perm, __byte_perm(U(a), U(b), U(c)), model::bytePerm(a, b, c))
ROW(__nv_byte_perm, __nv_byte_perm(S(a), S(b), S(c)), model::bytePerm(a, b, c))
ROW(__clz, __clz(S(a)), model::leadingZeros(u32(a)))
ROW(__clzll, __clzll(LL(a)), model::leadingZeros(u64(a)))
ROW(__popc, __popc(U(a)), model::population(u32(a)))
ROW(__popcll, __popcll(a), model::population(u64(a)))
ROW(__ffs, __ffs(S(a)), model::firstSet(u32(a)))
ROW(__ffsll, __ffsll(LL(a)), model::firstSet(u64(a)))
ROW(__brev, __brev(U(a)), model::reverse(u32(a)))
ROW(__brevll, __brevll(a), model::reverse(u64(a)))
ROW(__fns, __fns(U(a), U(b) & 31, S(c) % 40), model::nthSet(a, b & 31, S(c) % 40))
ROW(__mulhi, __mulhi(S(a), S(b)), s32(s64(s32(a)) * s32(b) >> 32))
ROW(__umulhi, __umulhi(U(a), U(b)), u32(u64(u32(a)) * u32(b) >> 32))
ROW(__mul64hi, __mul64hi(LL(a), LL(b)), s64(__int128(s64(a)) * s64(b) >> 64))
ROW(__umul64hi, __umul64hi(a, b), u64((unsigned __int128)(a)*b >> 64))
ROW(__mul24, __mul24(S(a), S(b)), s32(s64(model::signed24(a)) * model::signed24(b)))
ROW(__umul24, __umul24(U(a), U(b)), u32((a & 0xffffff) * (b & 0xffffff)))
ROW(__sad, __sad(S(a), S(b), U(c)), u32(std::llabs(s64(s32(a)) - s32(b)) + s64(u32(c))))
ROW(__usad, __usad(U(a), U(b), U(c)), u32(std::llabs(s64(u32(a)) - s64(u32(b))) + s64(u32(c))))
ROW(__hadd, __hadd(S(a), S(b)), s32((s64(s32(a)) + s32(b)) >> 1))
ROW(__rhadd, __rhadd(S(a), S(b)), s32((s64(s32(a)) + s32(b) + 1) >> 1))
ROW(__uhadd, __uhadd(U(a), U(b)), u32((u64(u32(a)) + u32(b)) >> 1))
ROW(__urhadd, __urhadd(U(a), U(b)), u32((u64(u32(a)) + u32(b) + 1) >> 1))
ROW(__funnelshift_l, __funnelshift_l(U(a), U(b), U(c)), model::funnelLeft(a, b, c & 31))
ROW(__funnelshift_r, __funnelshift_r(U(a), U(b), U(c)), model::funnelRight(a, b, c & 31))
ROW(__funnelshift_lc, __funnelshift_lc(U(a), U(b), U(c)), model::clampedLeft(a, b, c))
ROW(__funnelshift_rc, __funnelshift_rc(U(a), U(b), U(c)), model::clampedRight(a, b, c))

ROW(__dp4a_s, __dp4a(S(a), S(b), S(c)), model::dot4<std::int8_t>(a, b, c))
ROW(__dp4a_u, __dp4a(U(a), U(b), U(c)), model::dot4<std::uint8_t>(a, b, c))
ROW(__dp4a_char4, __dp4a(as<char4>(a), as<char4>(b), S(c)), model::dot4<std::int8_t>(a, b, c))
ROW(__dp4a_uchar4, __dp4a(as<uchar4>(a), as<uchar4>(b), U(c)), model::dot4<std::uint8_t>(a, b, c))
#define DOT2(part, from)                                                                                                  \
  ROW(__dp2a_##part##_s, __dp2a_##part(S(a), S(b), S(c)), (model::dot2<std::int16_t, std::int8_t>(a, b, c, from)))        \
  ROW(__dp2a_##part##_u, __dp2a_##part(U(a), U(b), U(c)), (model::dot2<std::uint16_t, std::uint8_t>(a, b, c, from)))      \
  ROW(__dp2a_##part##_short2, __dp2a_##part(as<short2>(a), as<char4>(b), S(c)),                                           \
      (model::dot2<std::int16_t, std::int8_t>(a, b, c, from)))                                                            \
  ROW(__dp2a_##part##_ushort2, __dp2a_##part(as<ushort2>(a), as<uchar4>(b), U(c)),                                        \
      (model::dot2<std::uint16_t, std::uint8_t>(a, b, c, from)))
DOT2(lo, 0)
DOT2(hi, 2)

// Two halfwords and four bytes: expression of x and y, the parts.
#define PARTS(name, sign, expression)                                                                                         \
  ROW(name##2, name##2(U(a), U(b)), (model::parts<std::sign##16_t>(a, b, [](s64 x, s64 y) { using Part = std::sign##16_t; (void)sizeof(Part); return s64(expression); }))) \
  ROW(name##4, name##4(U(a), U(b)), (model::parts<std::sign##8_t>(a, b, [](s64 x, s64 y) { using Part = std::sign##8_t; (void)sizeof(Part); return s64(expression); })))
#define PARTS1(name, sign, expression)                                                                                        \
  ROW(name##2, name##2(U(a)), (model::parts<std::sign##16_t>(a, a, [](s64 x, s64) { using Part = std::sign##16_t; (void)sizeof(Part); return s64(expression); }))) \
  ROW(name##4, name##4(U(a)), (model::parts<std::sign##8_t>(a, a, [](s64 x, s64) { using Part = std::sign##8_t; (void)sizeof(Part); return s64(expression); })))
PARTS(__vadd, uint, x + y)
PARTS(__vsub, uint, x - y)
PARTS(__vaddss, int, model::saturate<Part>(x + y))
PARTS(__vaddus, uint, model::saturate<Part>(x + y))
PARTS(__vsubss, int, model::saturate<Part>(x - y))
PARTS(__vsubus, uint, model::saturate<Part>(x - y))
PARTS(__vavgs, int, model::average(x, y))
PARTS(__vavgu, uint, model::average(x, y))
PARTS(__vhaddu, uint, (x + y) >> 1)
PARTS(__vabsdiffs, int, x > y ? x - y : y - x)
PARTS(__vabsdiffu, uint, x > y ? x - y : y - x)
PARTS(__vmaxs, int, x > y ? x : y)
PARTS(__vmaxu, uint, x > y ? x : y)
PARTS(__vmins, int, x < y ? x : y)
PARTS(__vminu, uint, x < y ? x : y)
PARTS1(__vabs, int, x < 0 ? -x : x)
PARTS1(__vabsss, int, model::saturate<Part>(x < 0 ? -x : x))
PARTS1(__vneg, int, -x)
PARTS1(__vnegss, int, model::saturate<Part>(-x))
#define COMPARE(name, sign, relation)               \
  PARTS(__vcmp##name, sign, x relation y ? -1 : 0)  \
  PARTS(__vset##name, sign, x relation y ? 1 : 0)
COMPARE(eq, uint, ==)
COMPARE(ne, uint, !=)
COMPARE(ges, int, >=)
COMPARE(geu, uint, >=)
COMPARE(gts, int, >)
COMPARE(gtu, uint, >)
COMPARE(les, int, <=)
COMPARE(leu, uint, <=)
COMPARE(lts, int, <)
COMPARE(ltu, uint, <)
ROW(__vsads2, __vsads2(U(a), U(b)), model::differences<std::int16_t>(a, b))
ROW(__vsads4, __vsads4(U(a), U(b)), model::differences<std::int8_t>(a, b))
ROW(__vsadu2, __vsadu2(U(a), U(b)), model::differences<std::uint16_t>(a, b))
ROW(__vsadu4, __vsadu4(U(a), U(b)), model::differences<std::uint8_t>(a, b))

// Dynamic programming: sums wrap in the part's width.
namespace model {
template <class T, class F>
u32 three(u32 a, u32 b, u32 c, F f) {
  constexpr int bits = sizeof(T) * 8;
  u64 result = 0;
  for (int i = 0; i < 32 / bits; ++i)
    result |= (u64(f(T(a >> bits * i), T(b >> bits * i), T(c >> bits * i))) & ((u64(1) << bits) - 1)) << bits * i;
  return u32(result);
}
}  // namespace model
#define DPX(suffix, Device, Part)                                                                                           \
  ROW(__vimax_##suffix, __vimax_##suffix(Device(a), Device(b)), (model::three<Part>(a, b, c, [](Part x, Part y, Part) { return std::max(x, y); }))) \
  ROW(__vimin_##suffix, __vimin_##suffix(Device(a), Device(b)), (model::three<Part>(a, b, c, [](Part x, Part y, Part) { return std::min(x, y); }))) \
  ROW(__vimax3_##suffix, __vimax3_##suffix(Device(a), Device(b), Device(c)),                                                \
      (model::three<Part>(a, b, c, [](Part x, Part y, Part z) { return std::max(std::max(x, y), z); })))                    \
  ROW(__vimin3_##suffix, __vimin3_##suffix(Device(a), Device(b), Device(c)),                                                \
      (model::three<Part>(a, b, c, [](Part x, Part y, Part z) { return std::min(std::min(x, y), z); })))                    \
  ROW(__viaddmax_##suffix, __viaddmax_##suffix(Device(a), Device(b), Device(c)),                                            \
      (model::three<Part>(a, b, c, [](Part x, Part y, Part z) { return std::max(Part(u32(x) + u32(y)), z); })))             \
  ROW(__viaddmin_##suffix, __viaddmin_##suffix(Device(a), Device(b), Device(c)),                                            \
      (model::three<Part>(a, b, c, [](Part x, Part y, Part z) { return std::min(Part(u32(x) + u32(y)), z); })))
#define DPX_RELU(suffix, Device, Part)                                                                                      \
  ROW(__vimax_##suffix##_relu, __vimax_##suffix##_relu(Device(a), Device(b)),                                               \
      (model::three<Part>(a, b, c, [](Part x, Part y, Part) { return std::max(std::max(x, y), Part(0)); })))                \
  ROW(__vimin_##suffix##_relu, __vimin_##suffix##_relu(Device(a), Device(b)),                                               \
      (model::three<Part>(a, b, c, [](Part x, Part y, Part) { return std::max(std::min(x, y), Part(0)); })))                \
  ROW(__vimax3_##suffix##_relu, __vimax3_##suffix##_relu(Device(a), Device(b), Device(c)),                                  \
      (model::three<Part>(a, b, c, [](Part x, Part y, Part z) { return std::max(std::max(std::max(x, y), z), Part(0)); }))) \
  ROW(__vimin3_##suffix##_relu, __vimin3_##suffix##_relu(Device(a), Device(b), Device(c)),                                  \
      (model::three<Part>(a, b, c, [](Part x, Part y, Part z) { return std::max(std::min(std::min(x, y), z), Part(0)); }))) \
  ROW(__viaddmax_##suffix##_relu, __viaddmax_##suffix##_relu(Device(a), Device(b), Device(c)),                              \
      (model::three<Part>(a, b, c, [](Part x, Part y, Part z) { return std::max(std::max(Part(u32(x) + u32(y)), z), Part(0)); }))) \
  ROW(__viaddmin_##suffix##_relu, __viaddmin_##suffix##_relu(Device(a), Device(b), Device(c)),                              \
      (model::three<Part>(a, b, c, [](Part x, Part y, Part z) { return std::max(std::min(Part(u32(x) + u32(y)), z), Part(0)); })))
DPX(s32, S, s32)
DPX(u32, U, u32)
DPX(s16x2, U, std::int16_t)
DPX(u16x2, U, std::uint16_t)
DPX_RELU(s32, S, s32)
DPX_RELU(s16x2, U, std::int16_t)

// Which of the two it was: for equal ones, the first.
template <class T>
__device__ Word chosen(T value, bool high, bool low) {
  return word(value) | Word(high) << 33 | Word(low) << 32;
}
#define CHOICE(suffix, Type, name, relation)                                                        \
  __device__ Word name##_##suffix(Type a, Type b) {                                                 \
    bool first;                                                                                     \
    Type value = __##name##_##suffix(a, b, &first);                                                 \
    return chosen(value, false, first);                                                             \
  }                                                                                                 \
  ROW(__##name##_##suffix, name##_##suffix(Type(a), Type(b)),                                       \
      Word(u32(Type(a) relation Type(b) ? a : b)) | Word(Type(a) relation Type(b)) << 32)
CHOICE(s32, s32, vibmax, >=)
CHOICE(u32, u32, vibmax, >=)
CHOICE(s32, s32, vibmin, <=)
CHOICE(u32, u32, vibmin, <=)
#define CHOICE2(suffix, Part, name, relation)                                                       \
  __device__ Word name##_##suffix(unsigned a, unsigned b) {                                         \
    bool high, low;                                                                                 \
    unsigned value = __##name##_##suffix(a, b, &high, &low);                                        \
    return chosen(value, high, low);                                                                \
  }                                                                                                 \
  ROW(__##name##_##suffix, name##_##suffix(U(a), U(b)),                                             \
      Word((Part(a) relation Part(b) ? a : b) & 0xffff) | Word((Part(a >> 16) relation Part(b >> 16) ? a : b) & 0xffff0000) | \
          Word(Part(a) relation Part(b)) << 32 | Word(Part(a >> 16) relation Part(b >> 16)) << 33)
CHOICE2(s16x2, std::int16_t, vibmax, >=)
CHOICE2(u16x2, std::uint16_t, vibmax, >=)
CHOICE2(s16x2, std::int16_t, vibmin, <=)
CHOICE2(u16x2, std::uint16_t, vibmin, <=)

// Two integer types meet in the wider one, in its unsigned form if either is unsigned.
ROW(min_int_unsigned, min(S(a), U(b)), std::min(u32(a), u32(b)))
ROW(max_int_unsigned, max(S(a), U(b)), std::max(u32(a), u32(b)))
ROW(min_int, min(S(a), S(b)), std::min(s32(a), s32(b)))
ROW(max_long_long, max(LL(a), LL(b)), std::max(s64(a), s64(b)))
ROW(min_unsigned_long_long, min(a, LL(b)), std::min(u64(a), u64(b)))

int main() {
  std::vector<Input> in = integerInputs(3000);
  for (unsigned selector = 0; selector < 0x10000; selector += 7 + selector % 5) in.push_back({engine(), engine(), selector});
  return finish(CHECK_ROWS(in));
}
