// SPDX-License-Identifier: Apache-2.0
#include "runtime/error.h"

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
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

cudaError_t caught(const char *name) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc &) {
    return cudaErrorMemoryAllocation;
  } catch (const std::system_error &e) {  // no threads, no descriptors
    log::error(std::string(name) + ": " + e.what());
    return cudaErrorOperatingSystem;
  } catch (const std::length_error &) {  // a count that no memory could hold
    return cudaErrorInvalidValue;
  } catch (const std::exception &e) {
    log::error(std::string(name) + ": internal error: " + e.what());
    return cudaErrorUnknown;
  }
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
