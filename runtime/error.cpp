// SPDX-License-Identifier: Apache-2.0
#include "runtime/error.h"

#include <string>
#include <utility>

#include "base/log.h"
#include "runtime/body.h"

namespace strata::runtime {
namespace {

[[gnu::tls_model("initial-exec")]] constinit thread_local cudaError_t gLast = cudaSuccess;

const char *nameOf(int code) {
  switch (code) {
#define ERROR(name, sentence) \
  case name:                  \
    return #name;
#include "runtime/errors.def"
#undef ERROR
  }
  return nullptr;
}

const char *sentenceOf(int code) {
  switch (code) {
#define ERROR(name, sentence) \
  case name:                  \
    return sentence;
#include "runtime/errors.def"
#undef ERROR
  }
  return nullptr;
}

}  // namespace

cudaError_t toError(CUresult result) {
  if (result == CUDA_SUCCESS) return cudaSuccess;
  return nameOf(result) ? static_cast<cudaError_t>(result) : cudaErrorUnknown;
}

cudaError_t record(cudaError_t error) {
  if (error != cudaSuccess) [[unlikely]]
    gLast = error;
  return error;
}

cudaError_t notSupported(const char *name) {
  log::once(log::Level::warn, name, std::string(name) + " is not supported");
  return cudaErrorNotSupported;
}

cudaError_t body::cudaPeekAtLastError() { return gLast; }

cudaError_t body::cudaGetLastError() { return std::exchange(gLast, cudaSuccess); }

const char *body::cudaGetErrorName(cudaError_t error) {
  const char *name = nameOf(error);
  return name ? name : "unrecognized error code";
}

const char *body::cudaGetErrorString(cudaError_t error) {
  const char *sentence = sentenceOf(error);
  return sentence ? sentence : "unrecognized error code";
}

}  // namespace strata::runtime
