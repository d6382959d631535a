// SPDX-License-Identifier: Apache-2.0
// C++ over the C runtime API: typed pointers, symbols by reference, kernels as typed functions.
#pragma once
#pragma GCC system_header

#include "cuda_runtime_api.h"

namespace __strata {
// Keeps a parameter out of template argument deduction.
template <typename Value>
struct Same {
  typedef Value Type;
};
template <typename Pointer>
inline void **asVoid(Pointer **pointer) {
  return reinterpret_cast<void **>(pointer);
}
template <typename Function>
inline const void *asKernel(Function *function) {
  return reinterpret_cast<const void *>(function);
}
// The shadow of a __device__ variable stands for it in the API.
template <typename Variable>
inline const void *asSymbol(const Variable &symbol) {
  return reinterpret_cast<const void *>(&const_cast<char &>(reinterpret_cast<const volatile char &>(symbol)));
}
}  // namespace __strata

// ---- Memory ----------------------------------------------------------------------------------------
template <typename Type>
inline cudaError_t cudaMalloc(Type **devPtr, size_t size) {
  return ::cudaMalloc(__strata::asVoid(devPtr), size);
}
template <typename Type>
inline cudaError_t cudaMallocHost(Type **ptr, size_t size, unsigned int flags = cudaHostAllocDefault) {
  return ::cudaHostAlloc(__strata::asVoid(ptr), size, flags);
}
inline cudaError_t cudaMallocHost(void **ptr, size_t size, unsigned int flags) {
  return ::cudaHostAlloc(ptr, size, flags);
}
template <typename Type>
inline cudaError_t cudaHostAlloc(Type **ptr, size_t size, unsigned int flags) {
  return ::cudaHostAlloc(__strata::asVoid(ptr), size, flags);
}
template <typename Type>
inline cudaError_t cudaHostGetDevicePointer(Type **pDevice, void *pHost, unsigned int flags) {
  return ::cudaHostGetDevicePointer(__strata::asVoid(pDevice), pHost, flags);
}
template <typename Type>
inline cudaError_t cudaMallocManaged(Type **devPtr, size_t size, unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged(__strata::asVoid(devPtr), size, flags);
}
template <typename Type>
inline cudaError_t cudaMallocPitch(Type **devPtr, size_t *pitch, size_t width, size_t height) {
  return ::cudaMallocPitch(__strata::asVoid(devPtr), pitch, width, height);
}
template <typename Type>
inline cudaError_t cudaMallocAsync(Type **devPtr, size_t size, cudaStream_t stream) {
  return ::cudaMallocAsync(__strata::asVoid(devPtr), size, stream);
}
template <typename Type>
inline cudaError_t cudaMallocAsync(Type **devPtr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(__strata::asVoid(devPtr), size, memPool, stream);
}
template <typename Type>
inline cudaError_t cudaMallocFromPoolAsync(Type **devPtr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(__strata::asVoid(devPtr), size, memPool, stream);
}
template <typename Type>
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, Type *devPtr, size_t length = 0,
                                            unsigned int flags = cudaMemAttachSingle) {
  return ::cudaStreamAttachMemAsync(stream, static_cast<void *>(devPtr), length, flags);
}

// ---- Symbols ---------------------------------------------------------------------------------------
template <typename Type>
inline cudaError_t cudaMemcpyToSymbol(const Type &symbol, const void *src, size_t count, size_t offset = 0,
                                      enum cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol(__strata::asSymbol(symbol), src, count, offset, kind);
}
template <typename Type>
inline cudaError_t cudaMemcpyToSymbolAsync(const Type &symbol, const void *src, size_t count, size_t offset = 0,
                                           enum cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0) {
  return ::cudaMemcpyToSymbolAsync(__strata::asSymbol(symbol), src, count, offset, kind, stream);
}
template <typename Type>
inline cudaError_t cudaMemcpyFromSymbol(void *dst, const Type &symbol, size_t count, size_t offset = 0,
                                        enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(dst, __strata::asSymbol(symbol), count, offset, kind);
}
template <typename Type>
inline cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const Type &symbol, size_t count, size_t offset = 0,
                                             enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                             cudaStream_t stream = 0) {
  return ::cudaMemcpyFromSymbolAsync(dst, __strata::asSymbol(symbol), count, offset, kind, stream);
}
template <typename Type>
inline cudaError_t cudaGetSymbolAddress(void **devPtr, const Type &symbol) {
  return ::cudaGetSymbolAddress(devPtr, __strata::asSymbol(symbol));
}
template <typename Pointer, typename Type>
inline cudaError_t cudaGetSymbolAddress(Pointer **devPtr, const Type &symbol) {
  return ::cudaGetSymbolAddress(__strata::asVoid(devPtr), __strata::asSymbol(symbol));
}
template <typename Type>
inline cudaError_t cudaGetSymbolSize(size_t *size, const Type &symbol) {
  return ::cudaGetSymbolSize(size, __strata::asSymbol(symbol));
}
template <typename Type>
inline cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                  const cudaGraphNode_t *dependencies, size_t numDependencies,
                                                  const Type &symbol, const void *src, size_t count, size_t offset,
                                                  enum cudaMemcpyKind kind) {
  return ::cudaGraphAddMemcpyNodeToSymbol(node, graph, dependencies, numDependencies, __strata::asSymbol(symbol), src,
                                          count, offset, kind);
}
template <typename Type>
inline cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                    const cudaGraphNode_t *dependencies, size_t numDependencies,
                                                    void *dst, const Type &symbol, size_t count, size_t offset,
                                                    enum cudaMemcpyKind kind) {
  return ::cudaGraphAddMemcpyNodeFromSymbol(node, graph, dependencies, numDependencies, dst, __strata::asSymbol(symbol),
                                            count, offset, kind);
}

// ---- Kernels ---------------------------------------------------------------------------------------
template <typename Function>
inline cudaError_t cudaLaunchKernel(Function *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem = 0,
                                    cudaStream_t stream = 0) {
  return ::cudaLaunchKernel(__strata::asKernel(func), gridDim, blockDim, args, sharedMem, stream);
}
template <typename Function>
inline cudaError_t cudaLaunchCooperativeKernel(Function *func, dim3 gridDim, dim3 blockDim, void **args,
                                               size_t sharedMem = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel(__strata::asKernel(func), gridDim, blockDim, args, sharedMem, stream);
}
// The arguments are converted to the kernel's parameter types first, as a call would.
template <typename... Params, typename... Args>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Params...), Args &&...args) {
  return [&](typename __strata::Same<Params>::Type... converted) {
    void *addresses[sizeof...(Params) + 1] = {
        const_cast<void *>(static_cast<const volatile void *>(__builtin_addressof(converted)))..., nullptr};
    return ::cudaLaunchKernelExC(config, __strata::asKernel(kernel), addresses);
  }(static_cast<Args &&>(args)...);
}
template <typename Function>
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, Function *func, void **args) {
  return ::cudaLaunchKernelExC(config, __strata::asKernel(func), args);
}
template <typename Function>
inline cudaError_t cudaFuncSetCacheConfig(Function *func, enum cudaFuncCache cacheConfig) {
  return ::cudaFuncSetCacheConfig(__strata::asKernel(func), cacheConfig);
}
template <typename Function>
inline cudaError_t cudaFuncSetSharedMemConfig(Function *func, enum cudaSharedMemConfig config) {
  return ::cudaFuncSetSharedMemConfig(__strata::asKernel(func), config);
}
template <typename Function>
inline cudaError_t cudaFuncSetAttribute(Function *func, enum cudaFuncAttribute attr, int value) {
  return ::cudaFuncSetAttribute(__strata::asKernel(func), attr, value);
}
template <typename Function>
inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, Function *func) {
  return ::cudaFuncGetAttributes(attr, __strata::asKernel(func));
}
template <typename Function>
inline cudaError_t cudaFuncGetName(const char **name, Function *func) {
  return ::cudaFuncGetName(name, __strata::asKernel(func));
}
template <typename Function>
inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, Function *func) {
  return ::cudaGetFuncBySymbol(functionPtr, __strata::asKernel(func));
}
template <typename Function>
inline cudaError_t cudaGetKernel(cudaKernel_t *kernelPtr, Function *func) {
  return ::cudaGetKernel(kernelPtr, __strata::asKernel(func));
}

// ---- Occupancy -------------------------------------------------------------------------------------
template <typename Function>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, Function *func, int blockSize,
                                                                 size_t dynamicSMemSize) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, __strata::asKernel(func), blockSize,
                                                         dynamicSMemSize);
}
template <typename Function>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, Function *func, int blockSize,
                                                                          size_t dynamicSMemSize, unsigned int flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, __strata::asKernel(func), blockSize,
                                                                  dynamicSMemSize, flags);
}
template <typename Function>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, Function *func, int numBlocks,
                                                             int blockSize) {
  return ::cudaOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, __strata::asKernel(func), numBlocks, blockSize);
}
template <typename Function>
inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int *clusterSize, Function *func,
                                                        const cudaLaunchConfig_t *config) {
  return ::cudaOccupancyMaxPotentialClusterSize(clusterSize, __strata::asKernel(func), config);
}
template <typename Function>
inline cudaError_t cudaOccupancyMaxActiveClusters(int *numClusters, Function *func, const cudaLaunchConfig_t *config) {
  return ::cudaOccupancyMaxActiveClusters(numClusters, __strata::asKernel(func), config);
}

// Tries block sizes from the largest multiple of a warp downwards and keeps the one with most resident
// threads; the first of equals is the largest. sharedBytes(blockSize) is the dynamic shared memory it needs.
template <typename SharedBytes, typename Function>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *minGridSize, int *blockSize,
                                                                           Function *func, SharedBytes sharedBytes,
                                                                           int blockSizeLimit = 0,
                                                                           unsigned int flags = 0) {
  if (!minGridSize || !blockSize || !func) return cudaErrorInvalidValue;
  int device = 0, processors = 0, threadsPerProcessor = 0, warp = 0, largest = 0;
  cudaFuncAttributes attributes;
  cudaError_t error = cudaGetDevice(&device);
  if (!error) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (!error) error = cudaDeviceGetAttribute(&threadsPerProcessor, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  if (!error) error = cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
  if (!error) error = cudaDeviceGetAttribute(&largest, cudaDevAttrMaxThreadsPerBlock, device);
  if (!error) error = ::cudaFuncGetAttributes(&attributes, __strata::asKernel(func));
  if (error) return error;
  if (attributes.maxThreadsPerBlock < largest) largest = attributes.maxThreadsPerBlock;
  if (blockSizeLimit > 0 && blockSizeLimit < largest) largest = blockSizeLimit;

  int bestBlocks = 0, bestSize = 0;
  for (int aligned = (largest + warp - 1) / warp * warp; aligned > 0; aligned -= warp) {
    int size = aligned < largest ? aligned : largest, blocks = 0;
    error = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, __strata::asKernel(func), size,
                                                                     sharedBytes(size), flags);
    if (error) return error;
    if (size * blocks > bestSize * bestBlocks) {
      bestSize = size;
      bestBlocks = blocks;
    }
    if (bestSize * bestBlocks == threadsPerProcessor) break;
  }
  *minGridSize = bestBlocks * processors;
  *blockSize = bestSize;
  return cudaSuccess;
}
template <typename SharedBytes, typename Function>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *minGridSize, int *blockSize, Function *func,
                                                                  SharedBytes sharedBytes, int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func, sharedBytes,
                                                                 blockSizeLimit);
}
template <typename Function>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, Function *func,
                                                               size_t dynamicSMemSize = 0, int blockSizeLimit = 0,
                                                               unsigned int flags = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
      minGridSize, blockSize, func, [=](int) { return dynamicSMemSize; }, blockSizeLimit, flags);
}
template <typename Function>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, Function *func,
                                                      size_t dynamicSMemSize = 0, int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, dynamicSMemSize, blockSizeLimit);
}

// ---- Events, capture -------------------------------------------------------------------------------
inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags) {
  return ::cudaEventCreateWithFlags(event, flags);
}
