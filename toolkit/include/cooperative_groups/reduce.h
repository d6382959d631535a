/* SPDX-License-Identifier: Apache-2.0 */
/* cooperative_groups::reduce over tiles and coalesced groups, and the operators it knows. */
#ifndef _COOPERATIVE_GROUPS_REDUCE_H_
#define _COOPERATIVE_GROUPS_REDUCE_H_
#pragma GCC system_header

#if defined(__cplusplus) && defined(__CUDA__)

#include "cooperative_groups.h"
#include "strata/cooperative/operators.h"

namespace cooperative_groups {
namespace details {

// Butterfly over a whole tile: every member gets the same bits.
template <unsigned Size, typename Parent, typename Value, typename Operator>
__device__ Value reduceIn(const thread_block_tile<Size, Parent> &group, Value value, Operator &&op) {
  for (unsigned mask = Size / 2; mask > 0; mask /= 2) value = op(value, group.shfl_xor(value, mask));
  return value;
}

// Members of any ranks: a tree towards rank 0, then its result to all.
template <typename Value, typename Operator>
__device__ Value reduceIn(const coalesced_group &group, Value value, Operator &&op) {
  unsigned size = group.size(), rank = group.thread_rank();
  for (unsigned step = 1; step < size; step *= 2) {
    Value other = group.shfl_down(value, step);
    if (rank + step < size) value = op(value, other);
  }
  return group.shfl(value, 0);
}

// One instruction for 32-bit integers from sm_80 on.
#if STRATA_DEVICE_ARCH >= 800
#define STRATA_REDUX(Operator, Integer, instruction)                                                \
  template <unsigned Size, typename Parent>                                                         \
  __device__ inline Integer reduceIn(const thread_block_tile<Size, Parent> &group, Integer value, const Operator<Integer> &) { \
    return instruction(group.strataLanes().mask, value);                                            \
  }                                                                                                 \
  __device__ inline Integer reduceIn(const coalesced_group &group, Integer value, const Operator<Integer> &) { \
    return instruction(group.strataLanes().mask, value);                                            \
  }
STRATA_REDUX(plus, int, __reduce_add_sync)
STRATA_REDUX(plus, unsigned, __reduce_add_sync)
STRATA_REDUX(less, int, __reduce_min_sync)
STRATA_REDUX(less, unsigned, __reduce_min_sync)
STRATA_REDUX(greater, int, __reduce_max_sync)
STRATA_REDUX(greater, unsigned, __reduce_max_sync)
STRATA_REDUX(bit_and, unsigned, __reduce_and_sync)
STRATA_REDUX(bit_or, unsigned, __reduce_or_sync)
STRATA_REDUX(bit_xor, unsigned, __reduce_xor_sync)
#undef STRATA_REDUX
#endif

}  // namespace details

// op combines two values and is associative; the order of operands is unspecified.
template <typename Group, typename Value, typename Operator>
__device__ inline auto reduce(const Group &group, Value &&value, Operator &&op) ->
    typename details::Plain<Value>::Type {
  return details::reduceIn(group, typename details::Plain<Value>::Type(value), static_cast<Operator &&>(op));
}

// The group's result goes to memory by one atomic operation, or by one store.
template <typename Group, typename Value, typename Operator>
__device__ inline void reduce_store_async(const Group &group, Value *destination, Value value, Operator &&op) {
  Value result = reduce(group, value, op);
  if (group.thread_rank() == 0) *destination = result;
}

}  // namespace cooperative_groups

#endif

#endif
