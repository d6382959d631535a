// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "runtime/body.h"

namespace strata::runtime {
namespace {

struct Callback {
  cudaStreamCallback_t function;
  void *userData;
  bool isDefault;  // the program knows its default stream as 0
};

void call(CUstream stream, CUresult status, void *data) {
  std::unique_ptr<Callback> callback(static_cast<Callback *>(data));
  callback->function(callback->isDefault ? nullptr : stream, toError(status), callback->userData);
}

}  // namespace

cudaError_t body::cudaStreamAddCallback(DefaultStream none, cudaStream_t stream, cudaStreamCallback_t callback,
                                        void *userData, unsigned int flags) {
  if (!callback || flags) return cudaErrorInvalidValue;
  if (cudaError_t error = bindContext()) return error;
  auto data = std::make_unique<Callback>(Callback{callback, userData, !stream});
  CUresult result = driver().cuStreamAddCallback(resolve(none, stream), call, data.get(), 0);
  if (result == CUDA_SUCCESS) data.release();
  return toError(result);
}

cudaError_t body::cudaStreamGetAttribute(DefaultStream none, cudaStream_t hStream, cudaLaunchAttributeID attr,
                                         cudaLaunchAttributeValue *value_out) {
  return inContext([&](const Driver &driver) {
    return driver.cuStreamGetAttribute(resolve(none, hStream), static_cast<CUstreamAttrID>(attr),
                                       as<CUstreamAttrValue>(value_out));
  });
}

cudaError_t body::cudaStreamSetAttribute(DefaultStream none, cudaStream_t hStream, cudaLaunchAttributeID attr,
                                         const cudaLaunchAttributeValue *value) {
  return inContext([&](const Driver &driver) {
    return driver.cuStreamSetAttribute(resolve(none, hStream), static_cast<CUstreamAttrID>(attr),
                                       as<CUstreamAttrValue>(value));
  });
}

}  // namespace strata::runtime
