// SPDX-License-Identifier: Apache-2.0
// __pipeline_*: copies from global to shared memory that are complete once waited for. They are done at once, by
// ordinary loads and stores: cp.async is not executed by the CPU device yet, and one PTX text serves both devices.
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_
#pragma GCC system_header

#include "cuda_runtime.h"

namespace __strata {
template <typename Unit>
STRATA_DEVICE void copyUnit(void *to, const void *from, size_t real) {
  // the last bytes may be asked for as zeros
  Unit value = {};
  if (real == sizeof(Unit)) value = *static_cast<const Unit *>(from);
  else
    for (size_t i = 0; i < real; ++i) reinterpret_cast<char *>(&value)[i] = static_cast<const char *>(from)[i];
  *static_cast<Unit *>(to) = value;
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
STRATA_DEVICE void __pipeline_commit() {}
STRATA_DEVICE void __pipeline_wait_prior(size_t) {}

#endif
