// SPDX-License-Identifier: Apache-2.0
// Sets of lanes of one warp, and shuffles of any trivially copyable type: the ground under cooperative groups.
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"

namespace cooperative_groups {
namespace details {

// Members of a group within a warp; the group is number `group` of the `groups` its parent was cut into.
struct Lanes {
  unsigned mask, group, groups;

  __device__ unsigned size() const { return static_cast<unsigned>(__popc(mask)); }
  __device__ unsigned rank() const { return static_cast<unsigned>(__popc(mask & __nvvm_read_ptx_sreg_lanemask_lt())); }
  // The lane of the member of that rank.
  __device__ int laneOf(unsigned rank) const {
    return mask == 0xffffffffu ? static_cast<int>(rank) : static_cast<int>(__fns(mask, 0, static_cast<int>(rank) + 1));
  }
  // A set of lanes renumbered by rank: bit r tells of the member of rank r.
  __device__ unsigned pack(unsigned lanes) const {
    if (mask == 0xffffffffu) return lanes;
    unsigned packed = 0, count = 0;
    for (unsigned rest = mask; rest; rest &= rest - 1, ++count)
      packed |= (lanes >> (__ffs(static_cast<int>(rest)) - 1) & 1) << count;
    return packed;
  }
  // Members of ranks [k size, (k + 1) size) that hold the calling one.
  __device__ Lanes tile(unsigned tileSize) const {
    unsigned first = rank() / tileSize * tileSize, count = 0, members = 0;
    for (unsigned rest = mask; rest; rest &= rest - 1, ++count)
      if (count >= first && count < first + tileSize) members |= rest & (0u - rest);
    return {members, first / tileSize, (size() + tileSize - 1) / tileSize};
  }
};

// The tile of `tileSize` (a power of two up to 32) that holds the thread of this rank among `threads`.
STRATA_DEVICE Lanes tileOf(unsigned tileSize, unsigned rank, unsigned threads) {
  unsigned first = __laneid() & ~(tileSize - 1);
  unsigned mask = tileSize == 32 ? 0xffffffffu : ((1u << tileSize) - 1) << first;
  return {mask, rank / tileSize, (threads + tileSize - 1) / tileSize};
}

// A value as 32-bit words, the last one padded.
template <typename Value>
struct WordsOf {
  static constexpr int count = static_cast<int>((sizeof(Value) + 3) / 4);
  int part[count];
};

#define STRATA_GROUP_SHUFFLE(name, word, operandType)                                             \
  template <typename Value>                                                                       \
  STRATA_DEVICE Value name(unsigned mask, const Value &value, operandType operand, int width = 32) { \
    static_assert(__is_trivially_copyable(Value), "shuffles move trivially copyable values");     \
    WordsOf<Value> words = {};                                                                    \
    __builtin_memcpy(&words, &value, sizeof(Value));                                              \
    for (int i = 0; i < WordsOf<Value>::count; ++i)                                               \
      words.part[i] = __strata::word(mask, words.part[i], static_cast<int>(operand), width);      \
    Value result;                                                                                 \
    __builtin_memcpy(&result, &words, sizeof(Value));                                             \
    return result;                                                                                \
  }
STRATA_GROUP_SHUFFLE(shuffle, shuffle, int)
STRATA_GROUP_SHUFFLE(shuffleUp, shuffleUp, unsigned)
STRATA_GROUP_SHUFFLE(shuffleDown, shuffleDown, unsigned)
STRATA_GROUP_SHUFFLE(shuffleXor, shuffleXor, unsigned)
#undef STRATA_GROUP_SHUFFLE

}  // namespace details
}  // namespace cooperative_groups
