// SPDX-License-Identifier: Apache-2.0
// SIMD within a word: two halfwords or four bytes of a 32-bit word at once (__vadd4, …), and the dynamic
// programming functions (__viaddmax_s32, …). One row a function: what happens to one part.
#pragma once
#pragma GCC system_header

#include "strata/device/define.h"

namespace __strata {
// Part i of a word, sign- or zero-extended: S2, U2, S4, U4 read halfwords or bytes.
STRATA_HOST_DEVICE int partS2(unsigned word, int i) { return static_cast<short>(word >> (16 * i)); }
STRATA_HOST_DEVICE int partU2(unsigned word, int i) { return static_cast<unsigned short>(word >> (16 * i)); }
STRATA_HOST_DEVICE int partS4(unsigned word, int i) { return static_cast<signed char>(word >> (8 * i)); }
STRATA_HOST_DEVICE int partU4(unsigned word, int i) { return static_cast<unsigned char>(word >> (8 * i)); }
STRATA_HOST_DEVICE int clampTo(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
STRATA_HOST_DEVICE int absolute(int x) { return x < 0 ? -x : x; }
}  // namespace __strata

// expression(x, y, bits): bits is 16 or 8. The result's low bits are the part.
#define STRATA_PARTS(name, sign, count, expression)                                             \
  STRATA_HOST_DEVICE unsigned name##count(unsigned a, unsigned b) {                             \
    constexpr int bits = 32 / count;                                                            \
    unsigned result = 0;                                                                        \
    for (int i = 0; i < count; ++i) {                                                           \
      const int x = __strata::part##sign##count(a, i), y = __strata::part##sign##count(b, i);   \
      result |= (static_cast<unsigned>(expression) & ((1u << bits) - 1)) << (bits * i);         \
    }                                                                                           \
    return result;                                                                              \
  }
#define STRATA_PARTS1(name, sign, count, expression)                                            \
  STRATA_HOST_DEVICE unsigned name##count(unsigned a) {                                         \
    constexpr int bits = 32 / count;                                                            \
    unsigned result = 0;                                                                        \
    for (int i = 0; i < count; ++i) {                                                           \
      const int x = __strata::part##sign##count(a, i);                                          \
      result |= (static_cast<unsigned>(expression) & ((1u << bits) - 1)) << (bits * i);         \
    }                                                                                           \
    return result;                                                                              \
  }
#define STRATA_SIMD(name, sign, expression) STRATA_PARTS(name, sign, 2, expression) STRATA_PARTS(name, sign, 4, expression)
#define STRATA_SIMD1(name, sign, expression) \
  STRATA_PARTS1(name, sign, 2, expression) STRATA_PARTS1(name, sign, 4, expression)
#define STRATA_LOWEST (-(1 << (bits - 1)))
#define STRATA_HIGHEST ((1 << (bits - 1)) - 1)

STRATA_SIMD(__vadd, U, x + y)
STRATA_SIMD(__vsub, U, x - y)
STRATA_SIMD(__vaddss, S, __strata::clampTo(x + y, STRATA_LOWEST, STRATA_HIGHEST))
STRATA_SIMD(__vsubss, S, __strata::clampTo(x - y, STRATA_LOWEST, STRATA_HIGHEST))
STRATA_SIMD(__vaddus, U, __strata::clampTo(x + y, 0, (1 << bits) - 1))
STRATA_SIMD(__vsubus, U, __strata::clampTo(x - y, 0, (1 << bits) - 1))
STRATA_SIMD(__vavgs, S, (x + y + (x + y >= 0)) >> 1)  // ties away from zero
STRATA_SIMD(__vavgu, U, (x + y + 1) >> 1)
STRATA_SIMD(__vhaddu, U, (x + y) >> 1)
STRATA_SIMD(__vabsdiffs, S, __strata::absolute(x - y))
STRATA_SIMD(__vabsdiffu, U, __strata::absolute(x - y))
STRATA_SIMD(__vmaxs, S, x > y ? x : y)
STRATA_SIMD(__vmaxu, U, x > y ? x : y)
STRATA_SIMD(__vmins, S, x < y ? x : y)
STRATA_SIMD(__vminu, U, x < y ? x : y)
STRATA_SIMD1(__vabs, S, __strata::absolute(x))
STRATA_SIMD1(__vabsss, S, __strata::clampTo(__strata::absolute(x), 0, STRATA_HIGHEST))
STRATA_SIMD1(__vneg, S, -x)
STRATA_SIMD1(__vnegss, S, __strata::clampTo(-x, STRATA_LOWEST, STRATA_HIGHEST))

// vcmp gives all ones where it holds, vset gives 1.
#define STRATA_SIMD_COMPARE(name, sign, relation)            \
  STRATA_SIMD(__vcmp##name, sign, x relation y ? -1 : 0)     \
  STRATA_SIMD(__vset##name, sign, x relation y ? 1 : 0)
STRATA_SIMD_COMPARE(eq, U, ==)
STRATA_SIMD_COMPARE(ne, U, !=)
STRATA_SIMD_COMPARE(ges, S, >=)
STRATA_SIMD_COMPARE(geu, U, >=)
STRATA_SIMD_COMPARE(gts, S, >)
STRATA_SIMD_COMPARE(gtu, U, >)
STRATA_SIMD_COMPARE(les, S, <=)
STRATA_SIMD_COMPARE(leu, U, <=)
STRATA_SIMD_COMPARE(lts, S, <)
STRATA_SIMD_COMPARE(ltu, U, <)
#undef STRATA_SIMD_COMPARE

// Sums of absolute differences.
#define STRATA_SIMD_SAD(name, sign, count)                                                                        \
  STRATA_HOST_DEVICE unsigned name##count(unsigned a, unsigned b) {                                               \
    int sum = 0;                                                                                                  \
    for (int i = 0; i < count; ++i)                                                                               \
      sum += __strata::absolute(__strata::part##sign##count(a, i) - __strata::part##sign##count(b, i));           \
    return static_cast<unsigned>(sum);                                                                            \
  }
STRATA_SIMD_SAD(__vsads, S, 2)
STRATA_SIMD_SAD(__vsads, S, 4)
STRATA_SIMD_SAD(__vsadu, U, 2)
STRATA_SIMD_SAD(__vsadu, U, 4)
#undef STRATA_SIMD_SAD
#undef STRATA_SIMD
#undef STRATA_SIMD1
#undef STRATA_PARTS
#undef STRATA_PARTS1
#undef STRATA_LOWEST
#undef STRATA_HIGHEST

// ---- Dynamic programming: three operands, additions wrap, _relu takes the maximum with 0 as well ------
namespace __strata {
typedef unsigned short Halfword;
template <typename Type>
STRATA_HOST_DEVICE Type least(Type a, Type b) {
  return b < a ? b : a;
}
template <typename Type>
STRATA_HOST_DEVICE Type most(Type a, Type b) {
  return a < b ? b : a;
}
}  // namespace __strata

#define STRATA_DPX(suffix, Type)                                                                                    \
  STRATA_HOST_DEVICE Type __vimax_##suffix(Type a, Type b) { return __strata::most(a, b); }                         \
  STRATA_HOST_DEVICE Type __vimin_##suffix(Type a, Type b) { return __strata::least(a, b); }                        \
  STRATA_HOST_DEVICE Type __vimax3_##suffix(Type a, Type b, Type c) { return __strata::most(__strata::most(a, b), c); } \
  STRATA_HOST_DEVICE Type __vimin3_##suffix(Type a, Type b, Type c) { return __strata::least(__strata::least(a, b), c); } \
  STRATA_HOST_DEVICE Type __viaddmax_##suffix(Type a, Type b, Type c) {                                             \
    return __strata::most(static_cast<Type>(static_cast<unsigned>(a) + static_cast<unsigned>(b)), c);               \
  }                                                                                                                 \
  STRATA_HOST_DEVICE Type __viaddmin_##suffix(Type a, Type b, Type c) {                                             \
    return __strata::least(static_cast<Type>(static_cast<unsigned>(a) + static_cast<unsigned>(b)), c);              \
  }                                                                                                                 \
  STRATA_HOST_DEVICE Type __vibmax_##suffix(Type a, Type b, bool *first) {                                          \
    *first = a >= b;                                                                                                \
    return *first ? a : b;                                                                                          \
  }                                                                                                                 \
  STRATA_HOST_DEVICE Type __vibmin_##suffix(Type a, Type b, bool *first) {                                          \
    *first = a <= b;                                                                                                \
    return *first ? a : b;                                                                                          \
  }
STRATA_DPX(s32, int)
STRATA_DPX(u32, unsigned)
#undef STRATA_DPX
#define STRATA_DPX_RELU(name, parameters, call) \
  STRATA_HOST_DEVICE int name##_s32_relu parameters { return __strata::most(name##_s32 call, 0); }
STRATA_DPX_RELU(__vimax, (int a, int b), (a, b))
STRATA_DPX_RELU(__vimin, (int a, int b), (a, b))
STRATA_DPX_RELU(__vimax3, (int a, int b, int c), (a, b, c))
STRATA_DPX_RELU(__vimin3, (int a, int b, int c), (a, b, c))
STRATA_DPX_RELU(__viaddmax, (int a, int b, int c), (a, b, c))
STRATA_DPX_RELU(__viaddmin, (int a, int b, int c), (a, b, c))
#undef STRATA_DPX_RELU

// The same on the two halfwords of a word.
#define STRATA_DPX_PAIR(name, Half, parameters, expression)                          \
  STRATA_HOST_DEVICE unsigned name parameters {                                      \
    unsigned result = 0;                                                             \
    for (int i = 0; i < 2; ++i)                                                      \
      result |= static_cast<unsigned>(static_cast<unsigned short>(expression)) << (16 * i); \
    return result;                                                                   \
  }
#define STRATA_DPX_HALVES(suffix, Half)                                                                               \
  STRATA_DPX_PAIR(__vimax3_##suffix, Half, (unsigned a, unsigned b, unsigned c),                                      \
                  __strata::most(__strata::most(Half(a >> 16 * i), Half(b >> 16 * i)), Half(c >> 16 * i)))            \
  STRATA_DPX_PAIR(__vimin3_##suffix, Half, (unsigned a, unsigned b, unsigned c),                                      \
                  __strata::least(__strata::least(Half(a >> 16 * i), Half(b >> 16 * i)), Half(c >> 16 * i)))          \
  STRATA_DPX_PAIR(__viaddmax_##suffix, Half, (unsigned a, unsigned b, unsigned c),                                    \
                  __strata::most(Half((a >> 16 * i) + (b >> 16 * i)), Half(c >> 16 * i)))                             \
  STRATA_DPX_PAIR(__viaddmin_##suffix, Half, (unsigned a, unsigned b, unsigned c),                                    \
                  __strata::least(Half((a >> 16 * i) + (b >> 16 * i)), Half(c >> 16 * i)))                            \
  STRATA_HOST_DEVICE unsigned __vibmax_##suffix(unsigned a, unsigned b, bool *highFirst, bool *lowFirst) {            \
    *lowFirst = Half(a) >= Half(b);                                                                                   \
    *highFirst = Half(a >> 16) >= Half(b >> 16);                                                                      \
    return ((*highFirst ? a : b) & 0xffff0000u) | ((*lowFirst ? a : b) & 0xffffu);                                    \
  }                                                                                                                   \
  STRATA_HOST_DEVICE unsigned __vibmin_##suffix(unsigned a, unsigned b, bool *highFirst, bool *lowFirst) {            \
    *lowFirst = Half(a) <= Half(b);                                                                                   \
    *highFirst = Half(a >> 16) <= Half(b >> 16);                                                                      \
    return ((*highFirst ? a : b) & 0xffff0000u) | ((*lowFirst ? a : b) & 0xffffu);                                    \
  }
STRATA_DPX_HALVES(s16x2, short)
STRATA_DPX_HALVES(u16x2, __strata::Halfword)
#undef STRATA_DPX_HALVES
#undef STRATA_DPX_PAIR
STRATA_HOST_DEVICE unsigned __vimax_s16x2_relu(unsigned a, unsigned b) { return __vmaxs2(__vmaxs2(a, b), 0); }
STRATA_HOST_DEVICE unsigned __vimin_s16x2_relu(unsigned a, unsigned b) { return __vmaxs2(__vmins2(a, b), 0); }
STRATA_HOST_DEVICE unsigned __vimax_s16x2(unsigned a, unsigned b) { return __vmaxs2(a, b); }
STRATA_HOST_DEVICE unsigned __vimin_s16x2(unsigned a, unsigned b) { return __vmins2(a, b); }
STRATA_HOST_DEVICE unsigned __vimax_u16x2(unsigned a, unsigned b) { return __vmaxu2(a, b); }
STRATA_HOST_DEVICE unsigned __vimin_u16x2(unsigned a, unsigned b) { return __vminu2(a, b); }
#define STRATA_DPX_RELU2(name)                                                    \
  STRATA_HOST_DEVICE unsigned name##_s16x2_relu(unsigned a, unsigned b, unsigned c) { \
    return __vmaxs2(name##_s16x2(a, b, c), 0);                                    \
  }
STRATA_DPX_RELU2(__vimax3)
STRATA_DPX_RELU2(__vimin3)
STRATA_DPX_RELU2(__viaddmax)
STRATA_DPX_RELU2(__viaddmin)
#undef STRATA_DPX_RELU2
