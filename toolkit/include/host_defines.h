/* SPDX-License-Identifier: Apache-2.0 */
/* The language's declaration specifiers. In CUDA code (clang defines __CUDA__) they are clang's attributes;
   in plain C and C++ they vanish, so that headers which use them stay readable by any host compiler. */
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__
#pragma GCC system_header

#if defined(__cplusplus) && __cplusplus < 201103L
#error "Strata's CUDA headers need C++11 or later (-std=c++11)"
#endif

#if defined(__CUDA__)
#define __strata_attribute(...) __attribute__((__VA_ARGS__))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#else
#define __strata_attribute(...)
#endif

/* The annotation tells __constant__ from what clang makes constant by itself: nvcc's plugin needs to know.
   Programs that compile without CUDA sometimes define these themselves: theirs stay. */
#if defined(__CUDA__) || !defined(__host__)
#undef __host__
#define __host__ __strata_attribute(host)
#endif
#if defined(__CUDA__) || !defined(__device__)
#undef __device__
#define __device__ __strata_attribute(device)
#endif
#if defined(__CUDA__) || !defined(__global__)
#undef __global__
#define __global__ __strata_attribute(global)
#endif
#if defined(__CUDA__) || !defined(__shared__)
#undef __shared__
#define __shared__ __strata_attribute(shared)
#endif
#if defined(__CUDA__) || !defined(__constant__)
#undef __constant__
#define __constant__ __strata_attribute(constant, annotate("strata.constant"))
#endif

/* What clang 19 has no attribute for. A grid constant only forbids a private copy, and maxnreg only limits
   registers: leaving them out keeps the meaning. Managed variables are made by nvcc's plugin, which finds them by
   the annotation. A compile-time cluster shape that went missing would give wrong results: it is refused. */
#if defined(__CUDA__) && __has_attribute(grid_constant)
#define __grid_constant__ __attribute__((grid_constant))
#else
#define __grid_constant__
#endif
#define __maxnreg__(count)
#if defined(__CUDA__)
#define __managed__ __attribute__((device, annotate("strata.managed")))
#define __cluster_dims__(...) \
  _Pragma("GCC error \"Strata: __cluster_dims__ is not supported; use cudaLaunchKernelExC with a cluster dimension\"")
#else
#define __managed__
#define __cluster_dims__(...)
#endif

#undef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __inline_hint__
#define __no_return__ __attribute__((noreturn))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __align__(bytes)
#define __thread__ __thread
#define __nv_pure__ __attribute__((pure))

/* Marks that nvcc's front end reads and clang does not need. */
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __specialization_static
#define CUDARTAPI
#define CUDARTAPI_CDECL
#ifndef CUDART_CB
#define CUDART_CB
#endif

#endif
