// SPDX-License-Identifier: Apache-2.0
// The operators of cooperative_groups::reduce and the scans.
#pragma once
#pragma GCC system_header

#include "strata/device/define.h"

namespace cooperative_groups {
namespace details {
template <typename Value>
struct Plain {
  typedef Value Type;
};
template <typename Value>
struct Plain<Value &> : Plain<Value> {};
template <typename Value>
struct Plain<Value &&> : Plain<Value> {};
template <typename Value>
struct Plain<const Value> : Plain<Value> {};
}  // namespace details

// name<Value>()(a, b); name<>() takes any type.
#define STRATA_GROUP_OPERATOR(name, expression)                               \
  template <typename Value = void>                                            \
  struct name {                                                               \
    __device__ Value operator()(Value a, Value b) const { return expression; } \
  };                                                                          \
  template <>                                                                 \
  struct name<void> {                                                         \
    template <typename Value>                                                 \
    __device__ Value operator()(Value a, Value b) const {                     \
      return expression;                                                      \
    }                                                                         \
  };
STRATA_GROUP_OPERATOR(plus, a + b)
STRATA_GROUP_OPERATOR(less, b < a ? b : a)
STRATA_GROUP_OPERATOR(greater, a < b ? b : a)
STRATA_GROUP_OPERATOR(bit_and, a &b)
STRATA_GROUP_OPERATOR(bit_or, a | b)
STRATA_GROUP_OPERATOR(bit_xor, a ^ b)
#undef STRATA_GROUP_OPERATOR
}  // namespace cooperative_groups
