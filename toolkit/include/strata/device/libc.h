// SPDX-License-Identifier: Apache-2.0
// The C library in kernels: printf, assert, malloc, free, memcpy, new, delete. The driver supplies
// vprintf, malloc, free and __assertfail.
#pragma once
#pragma GCC system_header

#include <stddef.h>

#include "strata/device/define.h"

extern "C" {
__device__ int vprintf(const char *format, const char *arguments);
__device__ int printf(const char *format, ...);  // clang packs the arguments and calls vprintf
__device__ __attribute__((nothrow, malloc)) void *malloc(size_t bytes);
__device__ __attribute__((nothrow)) void free(void *pointer);
__device__ __attribute__((noreturn, nothrow)) void __assertfail(const char *message, const char *file, unsigned line,
                                                                const char *function, size_t charSize);
// What glibc's assert() calls.
static __inline__ __device__ __attribute__((always_inline, noreturn, nothrow)) void __assert_fail(
    const char *message, const char *file, unsigned line, const char *function) {
  __assertfail(message, file, line, function, sizeof(char));
}
STRATA_DEVICE void *memcpy(void *to, const void *from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
STRATA_DEVICE void *memmove(void *to, const void *from, size_t bytes) { return __builtin_memmove(to, from, bytes); }
STRATA_DEVICE void *memset(void *to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
}
