// SPDX-License-Identifier: Apache-2.0
// Integer intrinsics, and min and max as CUDA overloads them (on both sides).
#pragma once
#pragma GCC system_header

#include "strata/device/define.h"
#include "vector_types.h"

STRATA_DEVICE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
STRATA_DEVICE int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
STRATA_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
STRATA_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
STRATA_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
STRATA_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
STRATA_DEVICE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
STRATA_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
STRATA_DEVICE int ffs(int x) { return __builtin_ffs(x); }
STRATA_DEVICE int ffsll(long long x) { return __builtin_ffsll(x); }

STRATA_DEVICE int __mulhi(int x, int y) { return __nvvm_mulhi_i(x, y); }
STRATA_DEVICE unsigned __umulhi(unsigned x, unsigned y) { return __nvvm_mulhi_ui(x, y); }
STRATA_DEVICE long long __mul64hi(long long x, long long y) { return __nvvm_mulhi_ll(x, y); }
STRATA_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return __nvvm_mulhi_ull(x, y);
}
STRATA_DEVICE int mulhi(int x, int y) { return __mulhi(x, y); }
STRATA_DEVICE unsigned mulhi(unsigned x, unsigned y) { return __umulhi(x, y); }
STRATA_DEVICE unsigned mulhi(int x, unsigned y) { return __umulhi(x, y); }
STRATA_DEVICE unsigned mulhi(unsigned x, int y) { return __umulhi(x, y); }
STRATA_DEVICE long long mul64hi(long long x, long long y) { return __mul64hi(x, y); }
STRATA_DEVICE unsigned long long mul64hi(unsigned long long x, unsigned long long y) { return __umul64hi(x, y); }

// 24-bit products: the low 32 bits of the product of the sign- or zero-extended low 24 bits.
STRATA_DEVICE int __mul24(int x, int y) { return __nvvm_mul24_i(x, y); }
STRATA_DEVICE unsigned __umul24(unsigned x, unsigned y) { return __nvvm_mul24_ui(x, y); }
STRATA_DEVICE int mul24(int x, int y) { return __mul24(x, y); }
STRATA_DEVICE unsigned umul24(unsigned x, unsigned y) { return __umul24(x, y); }

STRATA_DEVICE unsigned __sad(int x, int y, unsigned z) { return static_cast<unsigned>(__nvvm_sad_i(x, y, z)); }
STRATA_DEVICE unsigned __usad(unsigned x, unsigned y, unsigned z) { return __nvvm_sad_ui(x, y, z); }
STRATA_DEVICE int __hadd(int x, int y) { return (x & y) + ((x ^ y) >> 1); }
STRATA_DEVICE int __rhadd(int x, int y) { return (x | y) - ((x ^ y) >> 1); }
STRATA_DEVICE unsigned __uhadd(unsigned x, unsigned y) { return (x & y) + ((x ^ y) >> 1); }
STRATA_DEVICE unsigned __urhadd(unsigned x, unsigned y) { return (x | y) - ((x ^ y) >> 1); }

// Three bits of each nibble select; prmt's fourth, which copies the sign, is not the function's.
STRATA_DEVICE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  return static_cast<unsigned>(__nvvm_prmt(x, y, selector & 0x7777));
}
STRATA_DEVICE unsigned __fns(unsigned mask, unsigned base, int offset) { return __nvvm_fns(mask, base, offset); }

STRATA_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((((static_cast<unsigned long long>(high) << 32) | low) << (shift & 31)) >> 32);
}
STRATA_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32) | low) >> (shift & 31));
}
STRATA_DEVICE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((((static_cast<unsigned long long>(high) << 32) | low) << (shift < 32 ? shift : 32)) >>
                               32);
}
STRATA_DEVICE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32) | low) >> (shift < 32 ? shift : 32));
}

// Dot products of packed bytes (dp4a) and of two 16-bit values with two of four bytes (dp2a), sm_61.
#define STRATA_DOT(name, instruction, Result, Left, Right)                                                        \
  STRATA_DEVICE Result name(Left a, Right b, Result c) {                                                          \
    Result sum;                                                                                                   \
    asm(instruction " %0, %1, %2, %3;"                                                                            \
        : "=r"(sum)                                                                                               \
        : "r"(__builtin_bit_cast(int, a)), "r"(__builtin_bit_cast(int, b)), "r"(c));                              \
    return sum;                                                                                                   \
  }
STRATA_DOT(__dp4a, "dp4a.s32.s32", int, int, int)
STRATA_DOT(__dp4a, "dp4a.u32.u32", unsigned, unsigned, unsigned)
STRATA_DOT(__dp4a, "dp4a.s32.s32", int, char4, char4)
STRATA_DOT(__dp4a, "dp4a.u32.u32", unsigned, uchar4, uchar4)
STRATA_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, int, int)
STRATA_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned, unsigned, unsigned)
STRATA_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, int, int)
STRATA_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned, unsigned, unsigned)
STRATA_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, short2, char4)
STRATA_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned, ushort2, uchar4)
STRATA_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, short2, char4)
STRATA_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned, ushort2, uchar4)
#undef STRATA_DOT

// min and max of C's arithmetic types. Two integer types meet in the wider one, and in its unsigned form if
// either is unsigned, as CUDA has it.
#define STRATA_MIN_MAX(Left, Right, Result)                                                        \
  STRATA_HOST_DEVICE constexpr Result min(Left a, Right b) {                                       \
    return static_cast<Result>(a) < static_cast<Result>(b) ? static_cast<Result>(a) : static_cast<Result>(b); \
  }                                                                                                \
  STRATA_HOST_DEVICE constexpr Result max(Left a, Right b) {                                       \
    return static_cast<Result>(a) > static_cast<Result>(b) ? static_cast<Result>(a) : static_cast<Result>(b); \
  }
STRATA_MIN_MAX(int, int, int)
STRATA_MIN_MAX(unsigned, unsigned, unsigned)
STRATA_MIN_MAX(int, unsigned, unsigned)
STRATA_MIN_MAX(unsigned, int, unsigned)
STRATA_MIN_MAX(long, long, long)
STRATA_MIN_MAX(unsigned long, unsigned long, unsigned long)
STRATA_MIN_MAX(long, unsigned long, unsigned long)
STRATA_MIN_MAX(unsigned long, long, unsigned long)
STRATA_MIN_MAX(long long, long long, long long)
STRATA_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
STRATA_MIN_MAX(long long, unsigned long long, unsigned long long)
STRATA_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef STRATA_MIN_MAX

// Floating point: a NaN loses, as with fmin and fmax.
#define STRATA_MIN_MAX(Left, Right, Result, suffix)                                                \
  STRATA_HOST_DEVICE Result min(Left a, Right b) { return __builtin_fmin##suffix(a, b); }          \
  STRATA_HOST_DEVICE Result max(Left a, Right b) { return __builtin_fmax##suffix(a, b); }
STRATA_MIN_MAX(float, float, float, f)
STRATA_MIN_MAX(double, double, double, )
STRATA_MIN_MAX(float, double, double, )
STRATA_MIN_MAX(double, float, double, )
#undef STRATA_MIN_MAX

STRATA_HOST_DEVICE unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
STRATA_HOST_DEVICE unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
STRATA_HOST_DEVICE long long llmin(long long a, long long b) { return a < b ? a : b; }
STRATA_HOST_DEVICE long long llmax(long long a, long long b) { return a > b ? a : b; }
STRATA_HOST_DEVICE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
STRATA_HOST_DEVICE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
