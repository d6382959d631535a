/* SPDX-License-Identifier: Apache-2.0 */
/* __pipeline_*: copies from global to shared memory that are complete once waited for: cp.async from sm_80 on,
   ordinary loads and stores before. */
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_
#pragma GCC system_header

#if defined(__cplusplus) && defined(__CUDA__)

#include "cuda_runtime.h"

namespace __strata {
template <typename Unit>
STRATA_DEVICE void copyUnit(void *to, const void *from, size_t real) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
      "l"(__cvta_generic_to_global(from)), "n"(sizeof(Unit)), "r"(static_cast<unsigned>(real))
      : "memory");
#else
  // the last bytes may be asked for as zeros
  Unit value = {};
  if (real == sizeof(Unit)) value = *static_cast<const Unit *>(from);
  else
    for (size_t i = 0; i < real; ++i) reinterpret_cast<char *>(&value)[i] = static_cast<const char *>(from)[i];
  *static_cast<Unit *>(to) = value;
#endif
}

// Waits until at most `pending` groups of copies are under way.
template <int pending>
STRATA_DEVICE void waitForGroups() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}
}  // namespace __strata

// `bytes` (4, 8 or 16, both addresses aligned to it) are written; the last `zeroFill` of them as zeros.
STRATA_DEVICE void __pipeline_memcpy_async(void *__restrict__ shared, const void *__restrict__ global, size_t bytes,
                                           size_t zeroFill = 0) {
  if (bytes == 16) __strata::copyUnit<uint4>(shared, global, bytes - zeroFill);
  else if (bytes == 8) __strata::copyUnit<uint2>(shared, global, bytes - zeroFill);
  else if (bytes == 4) __strata::copyUnit<unsigned>(shared, global, bytes - zeroFill);
  else __trap();
}
STRATA_DEVICE void __pipeline_commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Waits for all but the last `groups` committed groups; more than seven are waited for as if seven.
STRATA_DEVICE void __pipeline_wait_prior(size_t groups) {
  switch (groups) {
    case 0: return __strata::waitForGroups<0>();
    case 1: return __strata::waitForGroups<1>();
    case 2: return __strata::waitForGroups<2>();
    case 3: return __strata::waitForGroups<3>();
    case 4: return __strata::waitForGroups<4>();
    case 5: return __strata::waitForGroups<5>();
    case 6: return __strata::waitForGroups<6>();
    default: return __strata::waitForGroups<7>();
  }
}

#endif

#endif
