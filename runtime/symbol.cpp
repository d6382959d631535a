// SPDX-License-Identifier: Apache-2.0
#include "runtime/symbol.h"

#include "runtime/body.h"
#include "runtime/registry.h"

namespace strata::runtime {

cudaError_t symbolRange(const void *symbol, std::size_t offset, std::size_t count, void *&pointer) {
  CUdeviceptr at;
  std::size_t size;
  if (cudaError_t error = symbolFor(symbol, at, size)) return error;
  if (offset > size || count > size - offset) return cudaErrorInvalidValue;
  pointer = reinterpret_cast<void *>(at + offset);
  return cudaSuccess;
}

namespace {

bool leadsTo(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}
bool leadsFrom(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

}  // namespace

cudaError_t body::cudaGetSymbolAddress(void **devPtr, const void *symbol) {
  if (!devPtr) return cudaErrorInvalidValue;
  return symbolRange(symbol, 0, 0, *devPtr);
}

cudaError_t body::cudaGetSymbolSize(std::size_t *size, const void *symbol) {
  if (!size) return cudaErrorInvalidValue;
  CUdeviceptr ignored;
  return symbolFor(symbol, ignored, *size);
}

cudaError_t body::cudaMemcpyToSymbol(DefaultStream none, const void *symbol, const void *src, std::size_t count,
                                     std::size_t offset, cudaMemcpyKind kind) {
  if (!leadsTo(kind)) return cudaErrorInvalidMemcpyDirection;
  void *dst;
  if (cudaError_t error = symbolRange(symbol, offset, count, dst)) return error;
  return cudaMemcpy(none, dst, src, count, kind);
}

cudaError_t body::cudaMemcpyFromSymbol(DefaultStream none, void *dst, const void *symbol, std::size_t count,
                                       std::size_t offset, cudaMemcpyKind kind) {
  if (!leadsFrom(kind)) return cudaErrorInvalidMemcpyDirection;
  void *src;
  if (cudaError_t error = symbolRange(symbol, offset, count, src)) return error;
  return cudaMemcpy(none, dst, src, count, kind);
}

cudaError_t body::cudaMemcpyToSymbolAsync(DefaultStream none, const void *symbol, const void *src, std::size_t count,
                                          std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  if (!leadsTo(kind)) return cudaErrorInvalidMemcpyDirection;
  void *dst;
  if (cudaError_t error = symbolRange(symbol, offset, count, dst)) return error;
  return cudaMemcpyAsync(none, dst, src, count, kind, stream);
}

cudaError_t body::cudaMemcpyFromSymbolAsync(DefaultStream none, void *dst, const void *symbol, std::size_t count,
                                            std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  if (!leadsFrom(kind)) return cudaErrorInvalidMemcpyDirection;
  void *src;
  if (cudaError_t error = symbolRange(symbol, offset, count, src)) return error;
  return cudaMemcpyAsync(none, dst, src, count, kind, stream);
}

}  // namespace strata::runtime
