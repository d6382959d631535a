// SPDX-License-Identifier: Apache-2.0
// operator new and delete in kernels, over the device's malloc and free. clang's own wrapper of <new>
// defines them where it is in use.
#pragma once
#pragma GCC system_header

#include <new>

#include "strata/device/libc.h"

#ifndef __CLANG_CUDA_WRAPPERS_NEW
__device__ inline void *operator new(size_t bytes) { return ::malloc(bytes ? bytes : 1); }
__device__ inline void *operator new[](size_t bytes) { return ::malloc(bytes ? bytes : 1); }
__device__ inline void operator delete(void *pointer) noexcept { ::free(pointer); }
__device__ inline void operator delete[](void *pointer) noexcept { ::free(pointer); }
__device__ inline void operator delete(void *pointer, size_t) noexcept { ::free(pointer); }
__device__ inline void operator delete[](void *pointer, size_t) noexcept { ::free(pointer); }
__device__ inline void *operator new(size_t, void *place) noexcept { return place; }
__device__ inline void *operator new[](size_t, void *place) noexcept { return place; }
#endif
