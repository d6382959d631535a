// SPDX-License-Identifier: Apache-2.0
// The bodies of the runtime's entries, declared from api.def, and what they share. A body returns its error;
// the export around it records the error for the calling thread.
#pragma once

#include "runtime/context.h"
#include "runtime/error.h"
#include "toolkit/include/cuda_runtime_api.h"

namespace strata::runtime {

// What stream 0 means to the caller.
enum class DefaultStream { legacy, perThread };

inline CUstream resolve(DefaultStream none, cudaStream_t stream) {
  return stream || none == DefaultStream::legacy ? stream : CU_STREAM_PER_THREAD;
}

// A structure of the runtime API as the driver's of the same layout; layouts.cpp checks that they agree.
template <class T>
T *as(const void *pointer) {
  return static_cast<T *>(const_cast<void *>(pointer));
}

inline CUdeviceptr address(const void *pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

// Binds the calling thread to a context, then calls `function`, which returns a CUresult.
template <class Function>
cudaError_t inContext(Function function) {
  if (cudaError_t error = bindContext()) return error;
  return toError(function(driver()));
}

namespace body {
#define RT_TOPIC(title)
#define RT_UNPACK(...) __VA_ARGS__
#define RT(name, parameters, arguments) cudaError_t name parameters;
#define RT_STREAM(name, suffix, parameters, arguments) \
  cudaError_t name(DefaultStream none, RT_UNPACK parameters);
#define RT_FORWARD(name, parameters, entry, arguments)
#define RT_FORWARD_STREAM(name, suffix, parameters, entry, arguments)
#define RT_PLAIN(result, name, parameters, arguments) result name parameters;
#define RT_ABSENT(name, parameters)
#define RT_ABSENT_STREAM(name, suffix, parameters)
#include "runtime/api.def"
#include "runtime/api_undef.h"
}  // namespace body

}  // namespace strata::runtime
