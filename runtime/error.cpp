// SPDX-License-Identifier: Apache-2.0
#include "runtime/error.h"

#include <atomic>
#include <string>

#include "base/log.h"
#include "runtime/body.h"

namespace strata::runtime {
namespace {

std::atomic<unsigned> gResets{0};

// The last error of a thread; a sticky one holds until the device is reset by whatever thread.
struct LastError {
  cudaError_t error = cudaSuccess;
  unsigned resets = 0;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local LastError gLast;

cudaError_t last() {
  if (isSticky(gLast.error) && gLast.resets != gResets.load()) gLast.error = cudaSuccess;
  return gLast.error;
}

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
  if (error != cudaSuccess) [[unlikely]] {
    // A sticky error is not covered by the errors that follow from it.
    if (!isSticky(last())) gLast = {error, gResets.load()};
  }
  return error;
}

cudaError_t notSupported(const char *name) {
  log::once(log::Level::warn, name, std::string(name) + " is not supported");
  return cudaErrorNotSupported;
}

bool isSticky(cudaError_t error) {
  switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorExternalDevice:
      return true;
    default:
      return false;
  }
}

void forgetStickyErrors() { ++gResets; }

cudaError_t body::cudaPeekAtLastError() { return last(); }

cudaError_t body::cudaGetLastError() {
  cudaError_t error = last();
  if (!isSticky(error)) gLast.error = cudaSuccess;
  return error;
}

const char *body::cudaGetErrorName(cudaError_t error) {
  const char *name = nameOf(error);
  return name ? name : "unrecognized error code";
}

const char *body::cudaGetErrorString(cudaError_t error) {
  const char *sentence = sentenceOf(error);
  return sentence ? sentence : "unrecognized error code";
}

}  // namespace strata::runtime
