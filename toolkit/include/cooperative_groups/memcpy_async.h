/* SPDX-License-Identifier: Apache-2.0 */
/* cooperative_groups::memcpy_async: the group's threads copy global memory to shared memory together, in units as wide
   as the addresses allow. */
#ifndef _COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_
#define _COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_
#pragma GCC system_header

#if defined(__cplusplus) && defined(__CUDA__)

#include "cooperative_groups.h"
#include "cuda_pipeline_primitives.h"

namespace cooperative_groups {
namespace details {

template <int bytes, typename Group>
__device__ void copyUnits(const Group &group, char *to, const char *from, size_t total) {
  size_t step = static_cast<size_t>(group.size()) * bytes;
  for (size_t at = static_cast<size_t>(group.thread_rank()) * bytes; at < total; at += step)
    __pipeline_memcpy_async(to + at, from + at, bytes);
}

template <typename Group>
__device__ void copyBytes(const Group &group, void *destination, const void *source, size_t total) {
  char *to = static_cast<char *>(destination);
  const char *from = static_cast<const char *>(source);
  size_t alignment = reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from) | total;
  if (__isShared(to) && __isGlobal(from) && alignment % 4 == 0) {
    if (alignment % 16 == 0) copyUnits<16>(group, to, from, total);
    else if (alignment % 8 == 0) copyUnits<8>(group, to, from, total);
    else copyUnits<4>(group, to, from, total);
  } else {
    size_t step = static_cast<size_t>(group.size());
    for (size_t at = static_cast<size_t>(group.thread_rank()); at < total; at += step) to[at] = from[at];
  }
  __pipeline_commit();
}

}  // namespace details

// bytes: any type that converts to size_t, cuda::aligned_size_t among them.
template <typename Group, typename Element, typename Shape>
__device__ inline void memcpy_async(const Group &group, Element *destination, const Element *source,
                                    const Shape &bytes) {
  details::copyBytes(group, destination, source, static_cast<size_t>(bytes));
}
template <typename Group, typename Shape>
__device__ inline void memcpy_async(const Group &group, void *destination, const void *source, const Shape &bytes) {
  details::copyBytes(group, destination, source, static_cast<size_t>(bytes));
}
// Counts of elements: as many as both sides have.
template <typename Group, typename Element, typename DestinationShape, typename SourceShape>
__device__ inline void memcpy_async(const Group &group, Element *destination, const DestinationShape &room,
                                    const Element *source, const SourceShape &count) {
  size_t n =
      static_cast<size_t>(room) < static_cast<size_t>(count) ? static_cast<size_t>(room) : static_cast<size_t>(count);
  details::copyBytes(group, destination, source, n * sizeof(Element));
}

// Waits for all but the last `stages` copies of this thread, then for the group.
template <unsigned stages, typename Group>
__device__ inline void wait_prior(const Group &group) {
  __pipeline_wait_prior(stages);
  group.sync();
}
template <typename Group>
__device__ inline void wait(const Group &group) {
  wait_prior<0>(group);
}

}  // namespace cooperative_groups

#endif

#endif
