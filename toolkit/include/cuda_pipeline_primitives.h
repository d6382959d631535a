// SPDX-License-Identifier: Apache-2.0
// __pipeline_*: copies from global to shared memory that run beside the thread (cp.async, sm_80), or at once
// on older targets.
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_
#pragma GCC system_header

#include "cuda_runtime.h"

// `bytes` (4, 8 or 16) are written; the last `zeroFill` of them as zeros.
STRATA_DEVICE void __pipeline_memcpy_async(void *__restrict__ shared, const void *__restrict__ global, size_t bytes,
                                           size_t zeroFill = 0) {
#if STRATA_DEVICE_ARCH >= 800
  unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  size_t from = __cvta_generic_to_global(global);
  unsigned real = static_cast<unsigned>(bytes - zeroFill);
  if (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(real) : "memory");
  else if (bytes == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(real) : "memory");
  else if (bytes == 4)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(real) : "memory");
  else
    __trap();
#else
  char *to = static_cast<char *>(shared);
  const char *from = static_cast<const char *>(global);
  for (size_t i = 0; i < bytes; ++i) to[i] = i < bytes - zeroFill ? from[i] : 0;
#endif
}

STRATA_DEVICE void __pipeline_commit() {
#if STRATA_DEVICE_ARCH >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// All but the last `stages` (a constant, up to 8) committed batches are complete.
STRATA_DEVICE void __pipeline_wait_prior(size_t stages) {
#if STRATA_DEVICE_ARCH >= 800
  switch (stages) {
    case 0: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
    case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
    case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
    case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
    case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); break;
    case 7: asm volatile("cp.async.wait_group 7;" ::: "memory"); break;
    default: asm volatile("cp.async.wait_group 8;" ::: "memory"); break;
  }
#endif
}

#if STRATA_DEVICE_ARCH >= 800
typedef unsigned long long __mbarrier_t;
STRATA_DEVICE void __pipeline_arrive_on(__mbarrier_t *barrier) {
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier)))
               : "memory");
}
#endif

#endif
