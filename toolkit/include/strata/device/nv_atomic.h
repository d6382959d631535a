// SPDX-License-Identifier: Apache-2.0
// nvcc's __nv_atomic_* builtins, over the __atomic builtins with a scope that clang has: any type of 1, 2, 4
// or 8 bytes for load, store, exchange and compare-exchange; arithmetic types for the rest.
#pragma once
#pragma GCC system_header

#include "strata/device/define.h"

#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST
#define __NV_THREAD_SCOPE_SYSTEM 0
#define __NV_THREAD_SCOPE_DEVICE 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_BLOCK 3
#define __NV_THREAD_SCOPE_THREAD 4

// The scope is at least as wide as asked for: LLVM 19's NVPTX orders at device scope, and fences at system
// scope are added for the widest.
namespace __strata {
STRATA_DEVICE void fenceBefore(int order, int scope) {
  if (scope == __NV_THREAD_SCOPE_THREAD || order == __ATOMIC_RELAXED || order == __ATOMIC_ACQUIRE ||
      order == __ATOMIC_CONSUME)
    return;
  if (scope == __NV_THREAD_SCOPE_SYSTEM) __nvvm_membar_sys();
  else if (scope == __NV_THREAD_SCOPE_BLOCK) __nvvm_membar_cta();
  else __nvvm_membar_gl();
}
STRATA_DEVICE void fenceAfter(int order, int scope) {
  if (scope == __NV_THREAD_SCOPE_THREAD || order == __ATOMIC_RELAXED || order == __ATOMIC_RELEASE) return;
  if (scope == __NV_THREAD_SCOPE_SYSTEM) __nvvm_membar_sys();
  else if (scope == __NV_THREAD_SCOPE_BLOCK) __nvvm_membar_cta();
  else __nvvm_membar_gl();
}
}  // namespace __strata

STRATA_DEVICE void __nv_atomic_thread_fence(int order, int scope) {
  if (order != __ATOMIC_RELAXED) __strata::fenceAfter(__ATOMIC_SEQ_CST, scope);
}

template <typename Type>
STRATA_DEVICE Type __nv_atomic_load_n(const Type *address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order == __ATOMIC_SEQ_CST) __strata::fenceBefore(order, scope);
  Type value;
  __atomic_load(const_cast<Type *>(address), &value, __ATOMIC_RELAXED);
  __strata::fenceAfter(order, scope);
  return value;
}
template <typename Type>
STRATA_DEVICE void __nv_atomic_load(const Type *address, Type *result, int order,
                                    int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order == __ATOMIC_SEQ_CST) __strata::fenceBefore(order, scope);
  __atomic_load(const_cast<Type *>(address), result, __ATOMIC_RELAXED);
  __strata::fenceAfter(order, scope);
}
template <typename Type, typename Value>
STRATA_DEVICE void __nv_atomic_store_n(Type *address, Value value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __strata::fenceBefore(order, scope);
  Type wanted = static_cast<Type>(value);
  __atomic_store(address, &wanted, __ATOMIC_RELAXED);
  if (order == __ATOMIC_SEQ_CST) __strata::fenceAfter(order, scope);
}
template <typename Type>
STRATA_DEVICE void __nv_atomic_store(Type *address, Type *value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __strata::fenceBefore(order, scope);
  __atomic_store(address, value, __ATOMIC_RELAXED);
  if (order == __ATOMIC_SEQ_CST) __strata::fenceAfter(order, scope);
}
template <typename Type, typename Value>
STRATA_DEVICE Type __nv_atomic_exchange_n(Type *address, Value value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __strata::fenceBefore(order, scope);
  Type wanted = static_cast<Type>(value), old;
  __atomic_exchange(address, &wanted, &old, __ATOMIC_RELAXED);
  __strata::fenceAfter(order, scope);
  return old;
}
template <typename Type>
STRATA_DEVICE void __nv_atomic_exchange(Type *address, Type *value, Type *result, int order,
                                        int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __strata::fenceBefore(order, scope);
  __atomic_exchange(address, value, result, __ATOMIC_RELAXED);
  __strata::fenceAfter(order, scope);
}
// The weak form does not fail spuriously here.
template <typename Type>
STRATA_DEVICE bool __nv_atomic_compare_exchange(Type *address, Type *expected, Type *desired, bool, int success,
                                                int failure, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __strata::fenceBefore(success, scope);
  bool done = __atomic_compare_exchange(address, expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  __strata::fenceAfter(done ? success : failure, scope);
  return done;
}
template <typename Type, typename Value>
STRATA_DEVICE bool __nv_atomic_compare_exchange_n(Type *address, Type *expected, Value desired, bool weak, int success,
                                                  int failure, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  Type wanted = static_cast<Type>(desired);
  return __nv_atomic_compare_exchange(address, expected, &wanted, weak, success, failure, scope);
}

#define STRATA_NV_ATOMIC(name, builtin)                                                                            \
  template <typename Type, typename Value>                                                                         \
  STRATA_DEVICE Type __nv_atomic_fetch_##name(Type *address, Value value, int order,                               \
                                              int scope = __NV_THREAD_SCOPE_SYSTEM) {                              \
    __strata::fenceBefore(order, scope);                                                                           \
    Type old = builtin(address, static_cast<Type>(value), __ATOMIC_RELAXED);                                       \
    __strata::fenceAfter(order, scope);                                                                            \
    return old;                                                                                                    \
  }                                                                                                                \
  template <typename Type, typename Value>                                                                         \
  STRATA_DEVICE void __nv_atomic_##name(Type *address, Value value, int order,                                     \
                                        int scope = __NV_THREAD_SCOPE_SYSTEM) {                                    \
    __nv_atomic_fetch_##name(address, value, order, scope);                                                        \
  }
STRATA_NV_ATOMIC(add, __atomic_fetch_add)
STRATA_NV_ATOMIC(sub, __atomic_fetch_sub)
STRATA_NV_ATOMIC(and, __atomic_fetch_and)
STRATA_NV_ATOMIC(or, __atomic_fetch_or)
STRATA_NV_ATOMIC(xor, __atomic_fetch_xor)
STRATA_NV_ATOMIC(min, __atomic_fetch_min)
STRATA_NV_ATOMIC(max, __atomic_fetch_max)
#undef STRATA_NV_ATOMIC
