// SPDX-License-Identifier: Apache-2.0
// Loads and stores with a cache policy (__ldg, __ldcg, __stcs, …), conversions between generic and
// window addresses, and questions about an address.
#pragma once
#pragma GCC system_header

#include <stddef.h>

#include "strata/device/define.h"
#include "vector_types.h"

namespace __strata {
// A value travels as raw words of its size: 1, 2, 4, 8 or 16 bytes.
struct alignas(16) Words4 {
  unsigned x, y, z, w;
};
template <int bytes>
struct Bytes {};

// __strata::name(Bytes<n>, address) for one ld instruction.
#define STRATA_CACHED_LOAD(name, suffix, ...)                                                          \
  STRATA_DEVICE unsigned char name(Bytes<1>, const void *from) {                                       \
    unsigned short value;                                                                              \
    asm volatile("ld" suffix ".u8 %0, [%1];" : "=h"(value) : "l"(from)__VA_ARGS__);                    \
    return static_cast<unsigned char>(value);                                                          \
  }                                                                                                    \
  STRATA_DEVICE unsigned short name(Bytes<2>, const void *from) {                                      \
    unsigned short value;                                                                              \
    asm volatile("ld" suffix ".u16 %0, [%1];" : "=h"(value) : "l"(from)__VA_ARGS__);                   \
    return value;                                                                                      \
  }                                                                                                    \
  STRATA_DEVICE unsigned name(Bytes<4>, const void *from) {                                            \
    unsigned value;                                                                                    \
    asm volatile("ld" suffix ".u32 %0, [%1];" : "=r"(value) : "l"(from)__VA_ARGS__);                   \
    return value;                                                                                      \
  }                                                                                                    \
  STRATA_DEVICE unsigned long long name(Bytes<8>, const void *from) {                                  \
    unsigned long long value;                                                                          \
    asm volatile("ld" suffix ".u64 %0, [%1];" : "=l"(value) : "l"(from)__VA_ARGS__);                   \
    return value;                                                                                      \
  }                                                                                                    \
  STRATA_DEVICE Words4 name(Bytes<16>, const void *from) {                                             \
    Words4 v;                                                                                          \
    asm volatile("ld" suffix ".v4.u32 {%0, %1, %2, %3}, [%4];"                                         \
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)                                          \
                 : "l"(from)__VA_ARGS__);                                                              \
    return v;                                                                                          \
  }
STRATA_CACHED_LOAD(loadCg, ".global.cg")
STRATA_CACHED_LOAD(loadCa, ".global.ca")
STRATA_CACHED_LOAD(loadCs, ".global.cs")
STRATA_CACHED_LOAD(loadLu, ".global.lu", : "memory")
STRATA_CACHED_LOAD(loadCv, ".global.cv", : "memory")
#undef STRATA_CACHED_LOAD

// Loads of memory that nobody writes during the launch: clang's builtins, so that LLVM may merge them.
STRATA_DEVICE unsigned char loadReadOnly(Bytes<1>, const void *from) {
  return __nvvm_ldg_uc(static_cast<const unsigned char *>(from));
}
STRATA_DEVICE unsigned short loadReadOnly(Bytes<2>, const void *from) {
  return __nvvm_ldg_us(static_cast<const unsigned short *>(from));
}
STRATA_DEVICE unsigned loadReadOnly(Bytes<4>, const void *from) {
  return __nvvm_ldg_ui(static_cast<const unsigned *>(from));
}
STRATA_DEVICE unsigned long long loadReadOnly(Bytes<8>, const void *from) {
  return __nvvm_ldg_ull(static_cast<const unsigned long long *>(from));
}
STRATA_DEVICE Words4 loadReadOnly(Bytes<16>, const void *from) {
  typedef unsigned Vector4 __attribute__((ext_vector_type(4)));
  return __builtin_bit_cast(Words4, __nvvm_ldg_ui4(static_cast<const Vector4 *>(from)));
}

#define STRATA_CACHED_STORE(name, suffix)                                                      \
  STRATA_DEVICE void name(void *to, unsigned char value) {                                     \
    asm volatile("st" suffix ".u8 [%0], %1;" ::"l"(to), "h"(static_cast<unsigned short>(value)) : "memory"); \
  }                                                                                            \
  STRATA_DEVICE void name(void *to, unsigned short value) {                                    \
    asm volatile("st" suffix ".u16 [%0], %1;" ::"l"(to), "h"(value) : "memory");               \
  }                                                                                            \
  STRATA_DEVICE void name(void *to, unsigned value) {                                          \
    asm volatile("st" suffix ".u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");               \
  }                                                                                            \
  STRATA_DEVICE void name(void *to, unsigned long long value) {                                \
    asm volatile("st" suffix ".u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");               \
  }                                                                                            \
  STRATA_DEVICE void name(void *to, Words4 v) {                                                \
    asm volatile("st" suffix ".v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) \
                 : "memory");                                                                  \
  }
STRATA_CACHED_STORE(storeWb, ".global.wb")
STRATA_CACHED_STORE(storeCg, ".global.cg")
STRATA_CACHED_STORE(storeCs, ".global.cs")
STRATA_CACHED_STORE(storeWt, ".global.wt")
#undef STRATA_CACHED_STORE
}  // namespace __strata

namespace __strata {
template <int bytes>
struct WordsOf;
template <>
struct WordsOf<1> {
  typedef unsigned char Type;
};
template <>
struct WordsOf<2> {
  typedef unsigned short Type;
};
template <>
struct WordsOf<4> {
  typedef unsigned Type;
};
template <>
struct WordsOf<8> {
  typedef unsigned long long Type;
};
template <>
struct WordsOf<16> {
  typedef Words4 Type;
};
template <typename Value>
STRATA_DEVICE typename WordsOf<sizeof(Value)>::Type words(Value value) {
  return __builtin_bit_cast(typename WordsOf<sizeof(Value)>::Type, value);
}
}  // namespace __strata

// Every type the functions take; cuda_fp16.h and cuda_bf16.h add theirs.
#define STRATA_CACHED_TYPE(Type)                                                                                     \
  STRATA_DEVICE Type __ldg(const Type *from) {                                                                       \
    return __builtin_bit_cast(Type, __strata::loadReadOnly(__strata::Bytes<sizeof(Type)>(), from));                  \
  }                                                                                                                  \
  STRATA_DEVICE Type __ldcg(const Type *from) {                                                                      \
    return __builtin_bit_cast(Type, __strata::loadCg(__strata::Bytes<sizeof(Type)>(), from));                        \
  }                                                                                                                  \
  STRATA_DEVICE Type __ldca(const Type *from) {                                                                      \
    return __builtin_bit_cast(Type, __strata::loadCa(__strata::Bytes<sizeof(Type)>(), from));                        \
  }                                                                                                                  \
  STRATA_DEVICE Type __ldcs(const Type *from) {                                                                      \
    return __builtin_bit_cast(Type, __strata::loadCs(__strata::Bytes<sizeof(Type)>(), from));                        \
  }                                                                                                                  \
  STRATA_DEVICE Type __ldlu(const Type *from) {                                                                      \
    return __builtin_bit_cast(Type, __strata::loadLu(__strata::Bytes<sizeof(Type)>(), from));                        \
  }                                                                                                                  \
  STRATA_DEVICE Type __ldcv(const Type *from) {                                                                      \
    return __builtin_bit_cast(Type, __strata::loadCv(__strata::Bytes<sizeof(Type)>(), from));                        \
  }                                                                                                                  \
  STRATA_DEVICE void __stwb(Type *to, Type value) { __strata::storeWb(to, __strata::words(value)); }                 \
  STRATA_DEVICE void __stcg(Type *to, Type value) { __strata::storeCg(to, __strata::words(value)); }                 \
  STRATA_DEVICE void __stcs(Type *to, Type value) { __strata::storeCs(to, __strata::words(value)); }                 \
  STRATA_DEVICE void __stwt(Type *to, Type value) { __strata::storeWt(to, __strata::words(value)); }

STRATA_CACHED_TYPE(char)
STRATA_CACHED_TYPE(signed char)
STRATA_CACHED_TYPE(unsigned char)
STRATA_CACHED_TYPE(short)
STRATA_CACHED_TYPE(unsigned short)
STRATA_CACHED_TYPE(int)
STRATA_CACHED_TYPE(unsigned)
STRATA_CACHED_TYPE(long)
STRATA_CACHED_TYPE(unsigned long)
STRATA_CACHED_TYPE(long long)
STRATA_CACHED_TYPE(unsigned long long)
STRATA_CACHED_TYPE(float)
STRATA_CACHED_TYPE(double)
STRATA_CACHED_TYPE(char2)
STRATA_CACHED_TYPE(char4)
STRATA_CACHED_TYPE(uchar2)
STRATA_CACHED_TYPE(uchar4)
STRATA_CACHED_TYPE(short2)
STRATA_CACHED_TYPE(short4)
STRATA_CACHED_TYPE(ushort2)
STRATA_CACHED_TYPE(ushort4)
STRATA_CACHED_TYPE(int2)
STRATA_CACHED_TYPE(int4)
STRATA_CACHED_TYPE(uint2)
STRATA_CACHED_TYPE(uint4)
STRATA_CACHED_TYPE(longlong2)
STRATA_CACHED_TYPE(ulonglong2)
STRATA_CACHED_TYPE(float2)
STRATA_CACHED_TYPE(float4)
STRATA_CACHED_TYPE(double2)

// Addresses. A window address is an offset within its space; a generic one may point into any space.
STRATA_DEVICE size_t __cvta_generic_to_global(const void *generic) {
  size_t address;
  asm("cvta.to.global.u64 %0, %1;" : "=l"(address) : "l"(generic));
  return address;
}
STRATA_DEVICE size_t __cvta_generic_to_shared(const void *generic) {
  size_t address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(generic));
  return address;
}
STRATA_DEVICE size_t __cvta_generic_to_constant(const void *generic) {
  size_t address;
  asm("cvta.to.const.u64 %0, %1;" : "=l"(address) : "l"(generic));
  return address;
}
STRATA_DEVICE size_t __cvta_generic_to_local(const void *generic) {
  size_t address;
  asm("cvta.to.local.u64 %0, %1;" : "=l"(address) : "l"(generic));
  return address;
}
STRATA_DEVICE void *__cvta_global_to_generic(size_t address) {
  void *generic;
  asm("cvta.global.u64 %0, %1;" : "=l"(generic) : "l"(address));
  return generic;
}
STRATA_DEVICE void *__cvta_shared_to_generic(size_t address) {
  void *generic;
  asm("cvta.shared.u64 %0, %1;" : "=l"(generic) : "l"(address));
  return generic;
}
STRATA_DEVICE void *__cvta_constant_to_generic(size_t address) {
  void *generic;
  asm("cvta.const.u64 %0, %1;" : "=l"(generic) : "l"(address));
  return generic;
}
STRATA_DEVICE void *__cvta_local_to_generic(size_t address) {
  void *generic;
  asm("cvta.local.u64 %0, %1;" : "=l"(generic) : "l"(address));
  return generic;
}
STRATA_DEVICE unsigned __isGlobal(const void *pointer) { return __nvvm_isspacep_global(pointer); }
STRATA_DEVICE unsigned __isShared(const void *pointer) { return __nvvm_isspacep_shared(pointer); }
STRATA_DEVICE unsigned __isConstant(const void *pointer) { return __nvvm_isspacep_const(pointer); }
STRATA_DEVICE unsigned __isLocal(const void *pointer) { return __nvvm_isspacep_local(pointer); }
STRATA_DEVICE unsigned __isClusterShared(const void *pointer) { return __nvvm_isspacep_shared_cluster(pointer); }
