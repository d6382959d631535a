// SPDX-License-Identifier: Apache-2.0
// cuProfilerStart and cuProfilerStop bound the part of a program that a profiler watches. No profiler attaches to
// this process, so there is nothing to switch; they wait for the context's work, as their callers expect.
#include "driver/entries.h"
#include "driver/scheduler.h"
#include "driver/stream.h"

namespace strata::driver {

CUresult entry::cuProfilerStart(void) {
  Context *context = currentContext();
  return context && context->alive() ? synchronize(*context) : CUDA_SUCCESS;
}

CUresult entry::cuProfilerStop(void) { return cuProfilerStart(); }

}  // namespace strata::driver
