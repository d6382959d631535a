/* SPDX-License-Identifier: Apache-2.0 */
/* cooperative_groups::inclusive_scan and exclusive_scan over tiles and coalesced groups. */
#ifndef _COOPERATIVE_GROUPS_SCAN_H_
#define _COOPERATIVE_GROUPS_SCAN_H_
#pragma GCC system_header

#if defined(__cplusplus) && defined(__CUDA__)

#include "cooperative_groups.h"
#include "strata/cooperative/operators.h"

namespace cooperative_groups {

// Member r gets op over the values of ranks 0 … r.
template <typename Group, typename Value, typename Operator>
__device__ inline auto inclusive_scan(const Group &group, Value &&value, Operator &&op) ->
    typename details::Plain<Value>::Type {
  typename details::Plain<Value>::Type sum = value;
  unsigned rank = static_cast<unsigned>(group.thread_rank()), size = static_cast<unsigned>(group.size());
  for (unsigned step = 1; step < size; step *= 2) {
    auto before = group.shfl_up(sum, step);
    if (rank >= step) sum = op(before, sum);
  }
  return sum;
}
template <typename Group, typename Value>
__device__ inline auto inclusive_scan(const Group &group, Value &&value) -> typename details::Plain<Value>::Type {
  return inclusive_scan(group, static_cast<Value &&>(value), plus<typename details::Plain<Value>::Type>());
}

// Member r gets op over the values of ranks 0 … r - 1; rank 0 gets a zero value (with any other operator than
// plus CUDA leaves it unspecified).
template <typename Group, typename Value, typename Operator>
__device__ inline auto exclusive_scan(const Group &group, Value &&value, Operator &&op) ->
    typename details::Plain<Value>::Type {
  typedef typename details::Plain<Value>::Type Plain;
  Plain before = group.shfl_up(inclusive_scan(group, static_cast<Value &&>(value), static_cast<Operator &&>(op)), 1);
  return group.thread_rank() == 0 ? Plain{} : before;
}
template <typename Group, typename Value>
__device__ inline auto exclusive_scan(const Group &group, Value &&value) -> typename details::Plain<Value>::Type {
  return exclusive_scan(group, static_cast<Value &&>(value), plus<typename details::Plain<Value>::Type>());
}

}  // namespace cooperative_groups

#endif

#endif
