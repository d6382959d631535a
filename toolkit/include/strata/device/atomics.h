// SPDX-License-Identifier: Apache-2.0
// Atomic functions: relaxed, at device scope; _block and _system narrow and widen the scope. Each row is
// one function; clang's builtins give PTX's atom instructions.
#pragma once
#pragma GCC system_header

#include "strata/device/define.h"

// The three scopes of one operation on one type: name(Type*, Type) by builtin __nvvm_atom_[…]op_gen_suffix.
// Bits is the type that the builtin takes.
#define STRATA_ATOMIC(name, op, suffix, Type, Bits)                                                             \
  STRATA_DEVICE Type name(Type *address, Type value) {                                                          \
    return static_cast<Type>(__nvvm_atom_##op##_gen_##suffix(reinterpret_cast<Bits *>(address), value));        \
  }                                                                                                             \
  STRATA_DEVICE Type name##_block(Type *address, Type value) {                                                  \
    return static_cast<Type>(__nvvm_atom_cta_##op##_gen_##suffix(reinterpret_cast<Bits *>(address), value));    \
  }                                                                                                             \
  STRATA_DEVICE Type name##_system(Type *address, Type value) {                                                 \
    return static_cast<Type>(__nvvm_atom_sys_##op##_gen_##suffix(reinterpret_cast<Bits *>(address), value));    \
  }

STRATA_ATOMIC(atomicAdd, add, i, int, int)
STRATA_ATOMIC(atomicAdd, add, i, unsigned, int)
STRATA_ATOMIC(atomicAdd, add, ll, unsigned long long, long long)
STRATA_ATOMIC(atomicAdd, add, f, float, float)
#if STRATA_DEVICE_ARCH >= 600
STRATA_ATOMIC(atomicAdd, add, d, double, double)
#endif

STRATA_ATOMIC(atomicExch, xchg, i, int, int)
STRATA_ATOMIC(atomicExch, xchg, i, unsigned, int)
STRATA_ATOMIC(atomicExch, xchg, ll, unsigned long long, long long)

// Extremes of the narrower and wider scopes are written as instructions: LLVM 19 makes signed ones of the builtins for
// unsigned values.
#define STRATA_ATOMIC_EXTREME(name, op, suffix, Type, ptx, letter)                                                      \
  STRATA_DEVICE Type name(Type *address, Type value) { return __nvvm_atom_##op##_gen_##suffix(address, value); }        \
  STRATA_ATOMIC_EXTREME_IN(name##_block, "atom.cta." #op ptx, Type, letter)                                         \
  STRATA_ATOMIC_EXTREME_IN(name##_system, "atom.sys." #op ptx, Type, letter)
#define STRATA_ATOMIC_EXTREME_IN(name, instruction, Type, letter)                                                   \
  STRATA_DEVICE Type name(Type *address, Type value) {                                                                  \
    Type old;                                                                                                           \
    asm volatile(instruction " %0, [%1], %2;" : "=" letter(old) : "l"(address), letter(value) : "memory");      \
    return old;                                                                                                         \
  }
STRATA_ATOMIC_EXTREME(atomicMin, min, i, int, ".s32", "r")
STRATA_ATOMIC_EXTREME(atomicMin, min, ui, unsigned, ".u32", "r")
STRATA_ATOMIC_EXTREME(atomicMin, min, ll, long long, ".s64", "l")
STRATA_ATOMIC_EXTREME(atomicMin, min, ull, unsigned long long, ".u64", "l")
STRATA_ATOMIC_EXTREME(atomicMax, max, i, int, ".s32", "r")
STRATA_ATOMIC_EXTREME(atomicMax, max, ui, unsigned, ".u32", "r")
STRATA_ATOMIC_EXTREME(atomicMax, max, ll, long long, ".s64", "l")
STRATA_ATOMIC_EXTREME(atomicMax, max, ull, unsigned long long, ".u64", "l")
#undef STRATA_ATOMIC_EXTREME
#undef STRATA_ATOMIC_EXTREME_IN

STRATA_ATOMIC(atomicAnd, and, i, int, int)
STRATA_ATOMIC(atomicAnd, and, i, unsigned, int)
STRATA_ATOMIC(atomicAnd, and, ll, unsigned long long, long long)
STRATA_ATOMIC(atomicOr, or, i, int, int)
STRATA_ATOMIC(atomicOr, or, i, unsigned, int)
STRATA_ATOMIC(atomicOr, or, ll, unsigned long long, long long)
STRATA_ATOMIC(atomicXor, xor, i, int, int)
STRATA_ATOMIC(atomicXor, xor, i, unsigned, int)
STRATA_ATOMIC(atomicXor, xor, ll, unsigned long long, long long)

STRATA_ATOMIC(atomicInc, inc, ui, unsigned, unsigned)
STRATA_ATOMIC(atomicDec, dec, ui, unsigned, unsigned)
#undef STRATA_ATOMIC

// Subtraction adds the negated value; exchange of floats exchanges their bits.
#define STRATA_ATOMIC_SCOPES(row) row() row(_block) row(_system)
#define STRATA_ATOMIC_SUB(scope)                                                                 \
  STRATA_DEVICE int atomicSub##scope(int *address, int value) {                                  \
    return static_cast<int>(                                                                     \
        atomicAdd##scope(reinterpret_cast<unsigned *>(address), 0u - static_cast<unsigned>(value))); \
  }                                                                                              \
  STRATA_DEVICE unsigned atomicSub##scope(unsigned *address, unsigned value) {                   \
    return atomicAdd##scope(address, 0u - value);                                                \
  }                                                                                              \
  STRATA_DEVICE float atomicExch##scope(float *address, float value) {                           \
    return __builtin_bit_cast(                                                                   \
        float, atomicExch##scope(reinterpret_cast<int *>(address), __builtin_bit_cast(int, value))); \
  }
STRATA_ATOMIC_SCOPES(STRATA_ATOMIC_SUB)
#undef STRATA_ATOMIC_SUB

#define STRATA_ATOMIC_CAS(builtin, scope)                                                        \
  STRATA_DEVICE int atomicCAS##scope(int *address, int compare, int value) {                     \
    return builtin##_gen_i(address, compare, value);                                             \
  }                                                                                              \
  STRATA_DEVICE unsigned atomicCAS##scope(unsigned *address, unsigned compare, unsigned value) { \
    return static_cast<unsigned>(builtin##_gen_i(reinterpret_cast<int *>(address), compare, value)); \
  }                                                                                              \
  STRATA_DEVICE unsigned long long atomicCAS##scope(unsigned long long *address, unsigned long long compare, \
                                                    unsigned long long value) {                  \
    return static_cast<unsigned long long>(                                                      \
        builtin##_gen_ll(reinterpret_cast<long long *>(address), compare, value));               \
  }
STRATA_ATOMIC_CAS(__nvvm_atom_cas, )
STRATA_ATOMIC_CAS(__nvvm_atom_cta_cas, _block)
STRATA_ATOMIC_CAS(__nvvm_atom_sys_cas, _system)
#undef STRATA_ATOMIC_CAS

// 16 bits need sm_70, 128 bits sm_90.
#if STRATA_DEVICE_ARCH >= 700
#define STRATA_ATOMIC_CAS16(scope, ptx)                                                                \
  STRATA_DEVICE unsigned short atomicCAS##scope(unsigned short *address, unsigned short compare,       \
                                                unsigned short value) {                                \
    unsigned short old;                                                                                \
    asm volatile("atom" ptx ".cas.b16 %0, [%1], %2, %3;"                                               \
                 : "=h"(old)                                                                           \
                 : "l"(address), "h"(compare), "h"(value)                                              \
                 : "memory");                                                                          \
    return old;                                                                                        \
  }
STRATA_ATOMIC_CAS16(, ".gpu")
STRATA_ATOMIC_CAS16(_block, ".cta")
STRATA_ATOMIC_CAS16(_system, ".sys")
#undef STRATA_ATOMIC_CAS16
#endif

#if STRATA_DEVICE_ARCH >= 900
namespace __strata {
template <bool condition, typename Type>
struct If;
template <typename Type>
struct If<true, Type> {
  typedef Type type;
};
}  // namespace __strata
#define STRATA_ATOMIC_128(scope, ptx)                                                                     \
  template <typename Type>                                                                                \
  STRATA_DEVICE typename __strata::If<sizeof(Type) == 16 && __is_trivially_copyable(Type) &&              \
                                          alignof(Type) >= 16, Type>::type                                \
      atomicCAS##scope(Type *address, Type compare, Type value) {                                         \
    unsigned long long c[2], v[2], old[2];                                                                \
    __builtin_memcpy(c, &compare, 16);                                                                    \
    __builtin_memcpy(v, &value, 16);                                                                      \
    asm volatile(                                                                                         \
        "{.reg .b128 c, v, d; mov.b128 c, {%3, %4}; mov.b128 v, {%5, %6};"                                \
        " atom" ptx ".cas.b128 d, [%2], c, v; mov.b128 {%0, %1}, d;}"                                     \
        : "=l"(old[0]), "=l"(old[1])                                                                      \
        : "l"(address), "l"(c[0]), "l"(c[1]), "l"(v[0]), "l"(v[1])                                        \
        : "memory");                                                                                      \
    __builtin_memcpy(&value, old, 16);                                                                    \
    return value;                                                                                         \
  }                                                                                                       \
  template <typename Type>                                                                                \
  STRATA_DEVICE typename __strata::If<sizeof(Type) == 16 && __is_trivially_copyable(Type) &&              \
                                          alignof(Type) >= 16, Type>::type                                \
      atomicExch##scope(Type *address, Type value) {                                                      \
    unsigned long long v[2], old[2];                                                                      \
    __builtin_memcpy(v, &value, 16);                                                                      \
    asm volatile(                                                                                         \
        "{.reg .b128 v, d; mov.b128 v, {%3, %4}; atom" ptx ".exch.b128 d, [%2], v; mov.b128 {%0, %1}, d;}" \
        : "=l"(old[0]), "=l"(old[1])                                                                      \
        : "l"(address), "l"(v[0]), "l"(v[1])                                                              \
        : "memory");                                                                                      \
    __builtin_memcpy(&value, old, 16);                                                                    \
    return value;                                                                                         \
  }
STRATA_ATOMIC_128(, ".gpu")
STRATA_ATOMIC_128(_block, ".cta")
STRATA_ATOMIC_128(_system, ".sys")
#undef STRATA_ATOMIC_128

#define STRATA_ATOMIC_VECTOR(scope, ptx)                                                                  \
  STRATA_DEVICE float2 atomicAdd##scope(float2 *address, float2 value) {                                  \
    float2 old;                                                                                           \
    asm volatile("atom" ptx ".global.add.v2.f32 {%0, %1}, [%2], {%3, %4};"                                \
                 : "=f"(old.x), "=f"(old.y)                                                               \
                 : "l"(address), "f"(value.x), "f"(value.y)                                               \
                 : "memory");                                                                             \
    return old;                                                                                           \
  }                                                                                                       \
  STRATA_DEVICE float4 atomicAdd##scope(float4 *address, float4 value) {                                  \
    float4 old;                                                                                           \
    asm volatile("atom" ptx ".global.add.v4.f32 {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"                \
                 : "=f"(old.x), "=f"(old.y), "=f"(old.z), "=f"(old.w)                                     \
                 : "l"(address), "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w)                   \
                 : "memory");                                                                             \
    return old;                                                                                           \
  }
STRATA_ATOMIC_VECTOR(, ".gpu")
STRATA_ATOMIC_VECTOR(_block, ".cta")
STRATA_ATOMIC_VECTOR(_system, ".sys")
#undef STRATA_ATOMIC_VECTOR
#endif
#undef STRATA_ATOMIC_SCOPES
