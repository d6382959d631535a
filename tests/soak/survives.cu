// SPDX-License-Identifier: Apache-2.0
// A program that goes on after errors: for fail_nth.cpp, which makes one happen. Everything that it does may end with
// an error that CUDA documents for want of something; it is then done again, from the start, and must succeed, with the
// right results. A right answer or an error, never a wrong answer.
// Ends with 0 where no call failed, 10 where one did and what was done again was right, 11 where the device had to be
// reset before; anything else is a fault.
#include <cuda.h>
#include <cuda_runtime.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define TRY(call)                                                                         \
  do {                                                                                    \
    if (cudaError_t error = (call); error != cudaSuccess) return failed(error, #call, __LINE__); \
  } while (0)
#define TRY_CU(call) TRY(static_cast<cudaError_t>(call))

// `what` is wrong although no call failed.
#define RIGHT(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "wrong: line %d: %s does not hold\n", __LINE__, #condition); \
      _exit(3);                                                                    \
    }                                                                              \
  } while (0)

namespace {

bool documented(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
    case cudaErrorOperatingSystem:
    case cudaErrorInitializationError:
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
    case cudaErrorSharedObjectInitFailed:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorLaunchOutOfResources: return true;
    default: return false;
  }
}

cudaError_t failed(cudaError_t error, const char *call, int line) {
  std::fprintf(stderr, "line %d: %s: %s\n", line, call, cudaGetErrorName(error));
  if (!documented(error)) _exit(4);
  return error;
}

constexpr unsigned kWords = 1000, kMany = 600000;

__device__ unsigned total;

__global__ void fill(unsigned *p, unsigned n, unsigned value) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] = value + i;
}
__global__ void reverse(unsigned *p) {
  __shared__ unsigned words[128];
  words[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = words[127 - threadIdx.x];
}
// Lanes that wait for one another: each is a fiber.
__global__ void chain(unsigned *p) {
  while (atomicAdd(p, 0u) != threadIdx.x) {}
  atomicAdd(p, 1u);
}
__global__ void add(unsigned n) { atomicAdd(&total, n); }
__global__ void print(int n) { printf("thread %d of %d\n", threadIdx.x, n); }

void count(void *data) { ++*static_cast<volatile int *>(data); }

unsigned host[kMany];  // of the program: it makes no memory of its own
volatile int calls;

// What a part has made, and what of it is still there after an error.
struct Made {
  void *device = nullptr, *pinned = nullptr, *managed = nullptr, *ordered = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  CUmodule module = nullptr;
  void release() {
    if (exec) cudaGraphExecDestroy(exec);
    if (graph) cudaGraphDestroy(graph);
    if (stream) {
      cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
      if (cudaStreamIsCapturing(stream, &status) == cudaSuccess && status != cudaStreamCaptureStatusNone) {
        cudaGraph_t graph = nullptr;
        if (cudaStreamEndCapture(stream, &graph) == cudaSuccess) cudaGraphDestroy(graph);
      }
      if (ordered) cudaFreeAsync(ordered, stream);
      cudaStreamSynchronize(stream);
      cudaStreamDestroy(stream);
    }
    if (event) cudaEventDestroy(event);
    if (module) cuModuleUnload(module);
    if (device) cudaFree(device);
    if (managed) cudaFree(managed);
    if (pinned) cudaFreeHost(pinned);
    *this = {};
  }
};
Made made;

cudaError_t launch(void (*kernel)(unsigned *, unsigned, unsigned), unsigned *p, unsigned n, unsigned value,
                   cudaStream_t stream) {
  kernel<<<4, 64, 0, stream>>>(p, n, value);
  return cudaGetLastError();
}

bool counts(const unsigned *words, unsigned n, unsigned value) {
  for (unsigned i = 0; i < n; ++i)
    if (words[i] != value + i) return false;
  return true;
}

cudaError_t memory() {
  TRY(cudaMalloc(&made.device, kMany * 4));
  TRY(cudaMallocHost(&made.pinned, kMany * 4));
  TRY(cudaMallocManaged(&made.managed, kWords * 4));
  auto *device = static_cast<unsigned *>(made.device), *pinned = static_cast<unsigned *>(made.pinned);
  TRY(launch(fill, device, kMany, 7, nullptr));
  TRY(cudaMemcpy(host, device, kMany * 4, cudaMemcpyDeviceToHost));
  RIGHT(counts(host, kMany, 7));
  std::memset(host, 1, sizeof host);
  TRY(cudaMemcpy(device, host, kMany * 4, cudaMemcpyHostToDevice));
  TRY(cudaMemcpy(pinned, device, kMany * 4, cudaMemcpyDeviceToHost));
  RIGHT(pinned[0] == 0x01010101 && pinned[kMany - 1] == 0x01010101);
  TRY(launch(fill, static_cast<unsigned *>(made.managed), kWords, 3, nullptr));
  TRY(cudaDeviceSynchronize());
  RIGHT(counts(static_cast<unsigned *>(made.managed), kWords, 3));
  TRY(cudaMemset(device, 0, kMany * 4));
  TRY(cudaMemcpy(host, device, kMany * 4, cudaMemcpyDeviceToHost));
  RIGHT(host[0] == 0 && host[kMany - 1] == 0);
  return cudaSuccess;
}

cudaError_t streams() {
  TRY(cudaStreamCreate(&made.stream));
  TRY(cudaEventCreate(&made.event));
  TRY(cudaMallocAsync(&made.ordered, kWords * 4, made.stream));
  auto *ordered = static_cast<unsigned *>(made.ordered);
  calls = 0;
  for (unsigned round = 0; round < 3; ++round) {
    TRY(launch(fill, ordered, kWords, round, made.stream));
    TRY(cudaEventRecord(made.event, made.stream));
    TRY(cudaStreamWaitEvent(cudaStreamPerThread, made.event, 0));
    for (unsigned &word : host) word = 0;
    TRY(cudaMemcpyAsync(host, ordered, kWords * 4, cudaMemcpyDeviceToHost, cudaStreamPerThread));
    RIGHT(counts(host, kWords, round));
    TRY(cudaLaunchHostFunc(made.stream, count, const_cast<int *>(&calls)));
    TRY(cudaMemcpyAsync(ordered, host, kWords * 4, cudaMemcpyHostToDevice, made.stream));
  }
  TRY(cudaStreamSynchronize(made.stream));
  RIGHT(calls == 3);
  return cudaSuccess;
}

cudaError_t kernels() {
  TRY(cudaMalloc(&made.device, 4096));
  auto *device = static_cast<unsigned *>(made.device);
  TRY(launch(fill, device, 128, 0, nullptr));
  reverse<<<1, 128>>>(device);
  TRY(cudaGetLastError());
  TRY(cudaMemcpy(host, device, 128 * 4, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < 128; ++i) RIGHT(host[i] == 127 - i);
  TRY(cudaMemset(device, 0, 4));
  chain<<<1, 32>>>(device);
  TRY(cudaGetLastError());
  TRY(cudaMemcpy(host, device, 4, cudaMemcpyDeviceToHost));
  RIGHT(host[0] == 32);
  unsigned zero = 0, sum = 1;
  TRY(cudaMemcpyToSymbol(total, &zero, 4));
  add<<<8, 32>>>(3);
  TRY(cudaGetLastError());
  TRY(cudaMemcpyFromSymbol(&sum, total, 4));
  RIGHT(sum == 8 * 32 * 3);
  print<<<1, 2>>>(2);
  TRY(cudaGetLastError());
  TRY(cudaDeviceSynchronize());
  return cudaSuccess;
}

cudaError_t graphs() {
  TRY(cudaMalloc(&made.device, kWords * 4));
  TRY(cudaMallocHost(&made.pinned, kWords * 4));
  auto *device = static_cast<unsigned *>(made.device), *pinned = static_cast<unsigned *>(made.pinned);
  TRY(cudaStreamCreate(&made.stream));
  TRY(cudaStreamBeginCapture(made.stream, cudaStreamCaptureModeThreadLocal));
  TRY(cudaMemsetAsync(device, 0, kWords * 4, made.stream));
  TRY(launch(fill, device, kWords, 9, made.stream));
  TRY(cudaMemcpyAsync(pinned, device, kWords * 4, cudaMemcpyDeviceToHost, made.stream));
  TRY(cudaMemcpyAsync(host, device, kWords * 4, cudaMemcpyDeviceToHost, made.stream));
  TRY(cudaStreamEndCapture(made.stream, &made.graph));
  TRY(cudaGraphInstantiate(&made.exec, made.graph, 0));
  for (int round = 0; round < 2; ++round) {
    std::memset(pinned, 0, kWords * 4);
    std::memset(host, 0, kWords * 4);
    TRY(cudaGraphLaunch(made.exec, made.stream));
    TRY(cudaStreamSynchronize(made.stream));
    RIGHT(counts(pinned, kWords, 9));
    RIGHT(counts(host, kWords, 9));
  }
  return cudaSuccess;
}

const char kPtx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .u32 word = 5;\n"
    ".visible .entry twice() { .reg .b32 %v; ld.global.u32 %v, [word]; shl.b32 %v, %v, 1; "
    "st.global.u32 [word], %v; ret; }\n";

cudaError_t modules() {
  CUfunction function;
  CUdeviceptr word;
  std::size_t bytes;
  unsigned value = 0;
  TRY(cudaFree(nullptr));
  TRY_CU(cuModuleLoadData(&made.module, kPtx));
  TRY_CU(cuModuleGetFunction(&function, made.module, "twice"));
  TRY_CU(cuModuleGetGlobal(&word, &bytes, made.module, "word"));
  TRY_CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  TRY_CU(cuMemcpyDtoH(&value, word, 4));
  RIGHT(value == 10);
  return cudaSuccess;
}

cudaError_t everything() {
  for (auto part : {memory, streams, kernels, graphs, modules}) {
    cudaError_t error = part();
    made.release();
    if (error) return error;
  }
  return cudaSuccess;
}

}  // namespace

extern "C" __attribute__((weak)) void failFromHere();

int main() {
  if (failFromHere) failFromHere();
  alarm(10);
  if (everything() == cudaSuccess) {
    const cudaError_t last = cudaGetLastError();  // giving things back may have failed
    return last == cudaSuccess ? 0 : documented(last) ? 10 : 5;
  }
  cudaGetLastError();
  if (everything() == cudaSuccess) return 10;
  std::fprintf(stderr, "again after a reset\n");
  cudaGetLastError();
  cudaDeviceReset();
  cudaGetLastError();
  return everything() == cudaSuccess ? 11 : 6;
}
