// SPDX-License-Identifier: Apache-2.0
// Warp votes, shuffles, matches and reductions. The forms without _sync act on the lanes that are active
// at the call, as on devices before Volta.
#pragma once
#pragma GCC system_header

#include "strata/device/define.h"

STRATA_DEVICE unsigned __activemask() {
  unsigned mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}

STRATA_DEVICE int __all_sync(unsigned mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
STRATA_DEVICE int __any_sync(unsigned mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
STRATA_DEVICE int __uni_sync(unsigned mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate); }
STRATA_DEVICE unsigned __ballot_sync(unsigned mask, int predicate) { return __nvvm_vote_ballot_sync(mask, predicate); }
STRATA_DEVICE int __all(int predicate) { return __all_sync(__activemask(), predicate); }
STRATA_DEVICE int __any(int predicate) { return __any_sync(__activemask(), predicate); }
STRATA_DEVICE unsigned __ballot(int predicate) { return __ballot_sync(__activemask(), predicate); }

namespace __strata {
// The third operand of PTX's shfl: segment mask in bits 8…12, clamp in bits 0…4.
STRATA_DEVICE int segment(int width, int clamp) { return ((32 - width) << 8) | clamp; }

// Each shuffle on one 32-bit word; wider types are shuffled word by word.
#define STRATA_SHUFFLE_WORD(name, instruction, clamp)                                          \
  STRATA_DEVICE int name(unsigned mask, int value, int operand, int width) {                   \
    return __nvvm_shfl_sync_##instruction##_i32(mask, value, operand, segment(width, clamp));  \
  }
STRATA_SHUFFLE_WORD(shuffle, idx, 0x1f)
STRATA_SHUFFLE_WORD(shuffleUp, up, 0)
STRATA_SHUFFLE_WORD(shuffleDown, down, 0x1f)
STRATA_SHUFFLE_WORD(shuffleXor, bfly, 0x1f)
#undef STRATA_SHUFFLE_WORD

struct TwoWords {
  int low, high;
};
}  // namespace __strata

#define STRATA_SHUFFLE_32(name, word, Type, operandType)                                           \
  STRATA_DEVICE Type name##_sync(unsigned mask, Type value, operandType operand, int width = 32) { \
    return __builtin_bit_cast(                                                                     \
        Type, __strata::word(mask, __builtin_bit_cast(int, value), static_cast<int>(operand), width)); \
  }                                                                                                \
  STRATA_DEVICE Type name(Type value, operandType operand, int width = 32) {                       \
    return name##_sync(__activemask(), value, operand, width);                                     \
  }
#define STRATA_SHUFFLE_64(name, word, Type, operandType)                                           \
  STRATA_DEVICE Type name##_sync(unsigned mask, Type value, operandType operand, int width = 32) { \
    __strata::TwoWords words = __builtin_bit_cast(__strata::TwoWords, value);                      \
    words.low = __strata::word(mask, words.low, static_cast<int>(operand), width);                 \
    words.high = __strata::word(mask, words.high, static_cast<int>(operand), width);               \
    return __builtin_bit_cast(Type, words);                                                        \
  }                                                                                                \
  STRATA_DEVICE Type name(Type value, operandType operand, int width = 32) {                       \
    return name##_sync(__activemask(), value, operand, width);                                     \
  }
#define STRATA_SHUFFLE(name, word, operandType)                    \
  STRATA_SHUFFLE_32(name, word, int, operandType)                  \
  STRATA_SHUFFLE_32(name, word, unsigned, operandType)             \
  STRATA_SHUFFLE_32(name, word, float, operandType)                \
  STRATA_SHUFFLE_64(name, word, long, operandType)                 \
  STRATA_SHUFFLE_64(name, word, unsigned long, operandType)        \
  STRATA_SHUFFLE_64(name, word, long long, operandType)            \
  STRATA_SHUFFLE_64(name, word, unsigned long long, operandType)   \
  STRATA_SHUFFLE_64(name, word, double, operandType)
STRATA_SHUFFLE(__shfl, shuffle, int)
STRATA_SHUFFLE(__shfl_up, shuffleUp, unsigned)
STRATA_SHUFFLE(__shfl_down, shuffleDown, unsigned)
STRATA_SHUFFLE(__shfl_xor, shuffleXor, int)
#undef STRATA_SHUFFLE
#undef STRATA_SHUFFLE_64

#define STRATA_MATCH(Type, Bits, width)                                                    \
  STRATA_DEVICE unsigned __match_any_sync(unsigned mask, Type value) {                     \
    return __nvvm_match_any_sync_i##width(mask, __builtin_bit_cast(Bits, value));          \
  }                                                                                        \
  STRATA_DEVICE unsigned __match_all_sync(unsigned mask, Type value, int *predicate) {     \
    return __nvvm_match_all_sync_i##width##p(mask, __builtin_bit_cast(Bits, value), predicate); \
  }
STRATA_MATCH(int, unsigned, 32)
STRATA_MATCH(unsigned, unsigned, 32)
STRATA_MATCH(float, unsigned, 32)
STRATA_MATCH(long, unsigned long long, 64)
STRATA_MATCH(unsigned long, unsigned long long, 64)
STRATA_MATCH(long long, unsigned long long, 64)
STRATA_MATCH(unsigned long long, unsigned long long, 64)
STRATA_MATCH(double, unsigned long long, 64)
#undef STRATA_MATCH

// sm_80
STRATA_DEVICE int __reduce_add_sync(unsigned mask, int value) { return __nvvm_redux_sync_add(value, mask); }
STRATA_DEVICE int __reduce_min_sync(unsigned mask, int value) { return __nvvm_redux_sync_min(value, mask); }
STRATA_DEVICE int __reduce_max_sync(unsigned mask, int value) { return __nvvm_redux_sync_max(value, mask); }
STRATA_DEVICE unsigned __reduce_add_sync(unsigned mask, unsigned value) { return __nvvm_redux_sync_add(value, mask); }
STRATA_DEVICE unsigned __reduce_min_sync(unsigned mask, unsigned value) { return __nvvm_redux_sync_umin(value, mask); }
STRATA_DEVICE unsigned __reduce_max_sync(unsigned mask, unsigned value) { return __nvvm_redux_sync_umax(value, mask); }
STRATA_DEVICE unsigned __reduce_and_sync(unsigned mask, unsigned value) { return __nvvm_redux_sync_and(value, mask); }
STRATA_DEVICE unsigned __reduce_or_sync(unsigned mask, unsigned value) { return __nvvm_redux_sync_or(value, mask); }
STRATA_DEVICE unsigned __reduce_xor_sync(unsigned mask, unsigned value) { return __nvvm_redux_sync_xor(value, mask); }
