// SPDX-License-Identifier: Apache-2.0
// Error codes: the driver's as the runtime's, and each thread's last error.
#pragma once

#include "toolkit/include/cuda.h"
#include "toolkit/include/driver_types.h"

namespace strata::runtime {

// The runtime's code for the driver's. The numbers are the same; a code that the runtime does not have is
// cudaErrorUnknown.
cudaError_t toError(CUresult result);

// Keeps `error` as the calling thread's last error unless it is success, and returns it. A fault that has
// destroyed the context is no exception: cudaGetLastError takes it away, and the next call finds it in the
// driver again.
cudaError_t record(cudaError_t error);

// Calls `body`, which returns an error, for the export `name`: no exception leaves the runtime.
template <class Body>
cudaError_t guarded(const char *name, Body body) noexcept;

// The error that the exception in flight means, with a line in the log where its kind does not say all.
cudaError_t caught(const char *name) noexcept;

// cudaErrorNotSupported, with one line in the log per name.
cudaError_t notSupported(const char *name);

template <class Body>
cudaError_t guarded(const char *name, Body body) noexcept {
  try {
    return body();
  } catch (...) { return caught(name); }
}

}  // namespace strata::runtime
