// SPDX-License-Identifier: Apache-2.0
// The runtime on a real device, by programs that check their own results: the same binary runs on the CPU
// device and on an NVIDIA GPU. usage: device_test [NAME…]; without names all checks run, each from a fresh
// context.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cuda_runtime.h"

static int gFailures = 0;

static void fail(int line, const std::string &what) {
  std::printf("  line %d: %s\n", line, what.c_str());
  ++gFailures;
}

#define EXPECT(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))
#define RETURNS(call, expected)                                                                              \
  do {                                                                                                       \
    cudaError_t got = (call), wanted = (expected);                                                           \
    if (wanted != cudaSuccess) cudaGetLastError();                                                           \
    if (got != wanted)                                                                                       \
      fail(__LINE__,                                                                                         \
           std::string(#call) + " returned " + cudaGetErrorName(got) + ", not " + cudaGetErrorName(wanted)); \
  } while (0)
#define OK(call) RETURNS(call, cudaSuccess)

__device__ int gCounter = 5;
__constant__ float gCoefficients[4];
__managed__ int gManaged = 3;

__global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void fill(int *out, int value) { out[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void count() { atomicAdd(&gCounter, 1); }
__global__ void applyCoefficients(float *out) { out[threadIdx.x] = gCoefficients[threadIdx.x] * 2; }
__global__ void touchManaged(int *plain) {
  gManaged += 10;
  *plain *= 2;
}
__global__ void trap() { __trap(); }
__global__ void sharedSum(int *out) {
  extern __shared__ int values[];
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) sum += values[i];
    *out = sum;
  }
}
__global__ void allBlocks(int *data) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  if (threadIdx.x == 0) data[blockIdx.x] = blockIdx.x + 1;
  grid.sync();
  if (blockIdx.x || threadIdx.x) return;
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += data[i];
  data[gridDim.x] = sum;
}

// Device memory of `count` elements, freed at the end of the check.
template <class T>
struct Device {
  explicit Device(size_t count) { OK(cudaMalloc(&data, count * sizeof(T))); }
  ~Device() { cudaFree(data); }
  T *data = nullptr;
};

template <class T>
std::vector<T> download(const T *data, size_t count) {
  std::vector<T> host(count);
  OK(cudaMemcpy(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

static void properties() {
  cudaDeviceProp prop;
  OK(cudaGetDeviceProperties(&prop, 0));
  EXPECT(prop.warpSize == 32 && prop.major >= 5 && prop.totalGlobalMem > 0 && prop.multiProcessorCount > 0);
  EXPECT(std::strlen(prop.name) > 0);
  int value = 0;
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
  EXPECT(value == prop.maxThreadsPerBlock);
  int driver = 0, runtime = 0;
  OK(cudaDriverGetVersion(&driver));
  OK(cudaRuntimeGetVersion(&runtime));
  EXPECT(driver >= 12000 && runtime == 13000);
  size_t free = 0, total = 0;
  OK(cudaMemGetInfo(&free, &total));
  EXPECT(free > 0 && free <= total);
  RETURNS(cudaSetDevice(1000), cudaErrorInvalidDevice);
}

static void launches() {
  const int n = 1000;
  std::mt19937 random(std::random_device{}());
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i) a[i] = random() % 1000, b[i] = random() % 1000;
  Device<float> da(n), db(n), dc(n);
  OK(cudaMemcpy(da.data, a.data(), n * 4, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(db.data, b.data(), n * 4, cudaMemcpyDefault));
  OK(cudaMemset(dc.data, 0xff, n * 4));
  add<<<(n + 127) / 128, 128>>>(da.data, db.data, dc.data, n);
  OK(cudaGetLastError());
  std::vector<float> c = download(dc.data, n);
  for (int i = 0; i < n; ++i)
    if (c[i] != a[i] + b[i]) return fail(__LINE__, "wrong sum");
  Device<int> sum(1);
  sharedSum<<<1, 64, 64 * sizeof(int)>>>(sum.data);
  EXPECT(download(sum.data, 1)[0] == 63 * 64 / 2);
}

static void badLaunches() {
  Device<int> out(2048);
  fill<<<1, 2048>>>(out.data, 1);
  RETURNS(cudaGetLastError(), cudaErrorInvalidConfiguration);
  fill<<<0, 32>>>(out.data, 1);
  RETURNS(cudaGetLastError(), cudaErrorInvalidConfiguration);
  fill<<<1, 32, 1 << 28>>>(out.data, 1);
  RETURNS(cudaGetLastError(), cudaErrorInvalidValue);
  int notAKernel;
  RETURNS(cudaLaunchKernel(&notAKernel, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  RETURNS(cudaMemcpy(out.data, nullptr, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  cudaGetLastError();
  fill<<<1, 32>>>(out.data, 9);  // none of it was sticky
  EXPECT(download(out.data, 32)[31] == 9);
}

static void symbols() {
  int value = 0;
  OK(cudaMemcpyFromSymbol(&value, gCounter, sizeof value));
  EXPECT(value == 5);
  count<<<4, 32>>>();
  OK(cudaMemcpyFromSymbol(&value, gCounter, sizeof value));
  EXPECT(value == 5 + 128);
  float coefficients[4] = {1, 2, 3, 4};
  OK(cudaMemcpyToSymbol(gCoefficients, coefficients, sizeof coefficients));
  Device<float> out(4);
  applyCoefficients<<<1, 4>>>(out.data);
  EXPECT(download(out.data, 4)[3] == 8);
  size_t size = 0;
  OK(cudaGetSymbolSize(&size, gCoefficients));
  EXPECT(size == 16);
  void *address = nullptr;
  OK(cudaGetSymbolAddress(&address, gCounter));
  EXPECT(download(static_cast<int *>(address), 1)[0] == 133);
  RETURNS(cudaMemcpyToSymbol(gCoefficients, coefficients, 16, 8), cudaErrorInvalidValue);
}

static void managed() {
  int *plain = nullptr;
  OK(cudaMallocManaged(&plain, 64));
  *plain = 21;
  gManaged += 4;
  touchManaged<<<1, 1>>>(plain);
  OK(cudaDeviceSynchronize());
  EXPECT(*plain == 42);
  EXPECT(gManaged == 17);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, plain));
  EXPECT(attributes.type == cudaMemoryTypeManaged);
  OK(cudaFree(plain));
}

static void pointers() {
  Device<int> device(4);
  int *host = nullptr, *mapped = nullptr, local = 0;
  OK(cudaHostAlloc(&host, 64, cudaHostAllocMapped));
  OK(cudaHostGetDevicePointer(&mapped, host, 0));
  fill<<<1, 16>>>(mapped, 6);
  OK(cudaDeviceSynchronize());
  EXPECT(host[15] == 6);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, device.data));
  EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == device.data &&
         attributes.device == 0);
  OK(cudaPointerGetAttributes(&attributes, host));
  EXPECT(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == host);
  OK(cudaPointerGetAttributes(&attributes, &local));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);
  OK(cudaFreeHost(host));
}

static void regions() {
  unsigned char *data = nullptr;
  size_t pitch = 0;
  OK(cudaMallocPitch(&data, &pitch, 100, 7));
  EXPECT(pitch >= 100);
  OK(cudaMemset2D(data, pitch, 7, 100, 7));
  unsigned char host[7 * 100], back[7 * 100] = {};
  for (int i = 0; i < 700; ++i) host[i] = static_cast<unsigned char>(i * 3);
  OK(cudaMemcpy2D(data, pitch, host, 100, 100, 7, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2D(back, 100, data, pitch, 100, 7, cudaMemcpyDeviceToHost));
  EXPECT(std::memcmp(host, back, 700) == 0);
  RETURNS(cudaMemcpy2D(back, 50, data, pitch, 100, 7, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);
  OK(cudaFree(data));

  cudaExtent extent = {10, 4, 7};
  cudaPitchedPtr volume;
  OK(cudaMalloc3D(&volume, extent));
  OK(cudaMemset3D(volume, 1, extent));
  cudaMemcpy3DParms params = {};
  params.srcPtr = {host, 10, 10, 4};
  params.dstPtr = volume;
  params.extent = extent;
  params.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&params));
  std::memset(back, 0, sizeof back);
  params.srcPtr = volume;
  params.dstPtr = {back, 10, 10, 4};
  params.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&params));
  EXPECT(std::memcmp(host, back, 280) == 0);
  OK(cudaFree(volume.ptr));
}

static void streams() {
  cudaStream_t stream;
  cudaEvent_t start, stop;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&stop));
  Device<int> out(64);
  OK(cudaEventRecord(start, stream));
  fill<<<2, 32, 0, stream>>>(out.data, 4);
  OK(cudaEventRecord(stop, stream));
  OK(cudaStreamWaitEvent(cudaStreamPerThread, stop, 0));
  static int called;
  called = 0;
  OK(cudaLaunchHostFunc(stream, [](void *data) { *static_cast<int *>(data) += 1; }, &called));
  OK(cudaStreamAddCallback(
      stream,
      [](cudaStream_t, cudaError_t status, void *data) {
        *static_cast<int *>(data) += status == cudaSuccess ? 10 : 0;
      },
      &called, 0));
  OK(cudaStreamSynchronize(stream));
  EXPECT(called == 11);
  OK(cudaEventSynchronize(stop));
  OK(cudaEventQuery(stop));
  float ms = -1;
  OK(cudaEventElapsedTime(&ms, start, stop));
  EXPECT(ms >= 0 && ms < 10000);
  unsigned flags = 77;
  OK(cudaStreamGetFlags(stream, &flags));
  EXPECT(flags == cudaStreamNonBlocking);
  int least = 0, greatest = 0;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(greatest <= least);
  EXPECT(download(out.data, 64)[63] == 4);
  OK(cudaStreamDestroy(stream));
  OK(cudaEventDestroy(start));
  OK(cudaEventDestroy(stop));
}

static void threads() {
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; ++w)
    workers.emplace_back([w] {
      Device<int> out(32);
      fill<<<1, 32, 0, cudaStreamPerThread>>>(out.data, w);
      OK(cudaStreamSynchronize(cudaStreamPerThread));
      EXPECT(download(out.data, 32)[7] == w);
    });
  for (std::thread &worker : workers) worker.join();
}

static void functions() {
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, add));
  EXPECT(attributes.maxThreadsPerBlock >= 128 && attributes.binaryVersion > 0 && attributes.ptxVersion > 0);
  int blocks = 0, grid = 0, block = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 128, 0));
  EXPECT(blocks > 0);
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add));
  EXPECT(grid > 0 && block > 0);
  OK(cudaFuncSetAttribute(sharedSum, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  Device<int> sum(1);
  sharedSum<<<1, 32, 60 << 10>>>(sum.data);
  OK(cudaGetLastError());
  EXPECT(download(sum.data, 1)[0] == 31 * 32 / 2);
  const char *name = nullptr;
  OK(cudaFuncGetName(&name, add));
  EXPECT(name && std::string(name).find("add") != std::string::npos);
}

static void cooperative() {
  const int blocks = 4;
  Device<int> data(blocks + 1);
  void *arguments[] = {&data.data};
  OK(cudaMemset(data.data, 0, 4 * (blocks + 1)));
  OK(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(allBlocks), dim3(blocks), dim3(32), arguments,
                                 0, nullptr));
  EXPECT(download(data.data, blocks + 1)[blocks] == 10);
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = 32;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  OK(cudaMemset(data.data, 0, 4 * (blocks + 1)));
  OK(cudaLaunchKernelExC(&config, reinterpret_cast<const void *>(allBlocks), arguments));
  EXPECT(download(data.data, blocks + 1)[blocks] == 10);
}

static void graphs() {
  Device<int> data(32);
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaMemsetAsync(data.data, 0, 128, stream));
  fill<<<1, 32, 0, stream>>>(data.data, 8);
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(download(data.data, 32)[31] == 8);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));

  OK(cudaGraphCreate(&graph, 0));
  int value = 12, source[32], *pointer = data.data;
  for (int &each : source) each = 3;
  void *arguments[] = {&pointer, &value};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void *>(fill);
  kernel.gridDim = 1;
  kernel.blockDim = 16;
  kernel.kernelParams = arguments;
  cudaGraphNode_t copyNode, kernelNode;
  OK(cudaGraphAddMemcpyNode1D(&copyNode, graph, nullptr, 0, data.data, source, sizeof source,
                              cudaMemcpyHostToDevice));
  OK(cudaGraphAddKernelNode(&kernelNode, graph, &copyNode, 1, &kernel));
  cudaKernelNodeParams read = {};
  OK(cudaGraphKernelNodeGetParams(kernelNode, &read));
  EXPECT(read.func == kernel.func && read.blockDim.x == 16);
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  std::vector<int> result = download(data.data, 32);
  EXPECT(result[15] == 12 && result[16] == 3);
  value = 99;
  OK(cudaGraphExecKernelNodeSetParams(exec, kernelNode, &kernel));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(download(data.data, 32)[0] == 99);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamDestroy(stream));
}

static void pools() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  int *data = nullptr;
  OK(cudaMallocAsync(&data, 128, stream));
  fill<<<1, 32, 0, stream>>>(data, 5);
  int host[32] = {};
  OK(cudaMemcpyAsync(host, data, 128, cudaMemcpyDeviceToHost, stream));
  OK(cudaFreeAsync(data, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(host[31] == 5);
  cudaMemPool_t pool;
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long threshold = 1 << 20, read = 0;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
  EXPECT(read == threshold);
  OK(cudaStreamDestroy(stream));
}

static void libraries() {
  const char *ptx =
      ".version 7.0\n.target sm_70\n.address_size 64\n"
      ".visible .entry setSeven(.param .u64 out) {\n"
      "  .reg .b64 %rd<2>;\n  .reg .b32 %r<2>;\n"
      "  ld.param.u64 %rd1, [out];\n  mov.u32 %r1, 7;\n  st.global.u32 [%rd1], %r1;\n  ret;\n}\n";
  cudaLibrary_t library;
  cudaKernel_t kernel;
  OK(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  OK(cudaLibraryGetKernel(&kernel, library, "setSeven"));
  Device<int> out(1);
  void *arguments[] = {&out.data};
  OK(cudaLaunchKernel(reinterpret_cast<const void *>(kernel), 1, 1, arguments, 0, nullptr));
  EXPECT(download(out.data, 1)[0] == 7);
  RETURNS(cudaLibraryGetKernel(&kernel, library, "none"), cudaErrorSymbolNotFound);
  OK(cudaLibraryUnload(library));
}

// With several devices: each has its own memory, modules and variables.
static void peers() {
  int devices = 0;
  OK(cudaGetDeviceCount(&devices));
  if (devices < 2) return;
  int host[32], value = 50, access = -1;
  for (int i = 0; i < 32; ++i) host[i] = i * i;
  Device<int> here(32);
  OK(cudaMemcpy(here.data, host, sizeof host, cudaMemcpyHostToDevice));
  OK(cudaSetDevice(1));
  {
    Device<int> there(32);
    OK(cudaMemcpyPeer(there.data, 1, here.data, 0, sizeof host));
    EXPECT(download(there.data, 32)[31] == 31 * 31);
    fill<<<1, 32>>>(there.data, 6);
    OK(cudaMemcpy(here.data, there.data, 64, cudaMemcpyDefault));
    OK(cudaMemcpyToSymbol(gCounter, &value, sizeof value));
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, there.data));
    EXPECT(attributes.device == 1);
  }
  OK(cudaSetDevice(0));
  EXPECT(download(here.data, 32)[15] == 6 && download(here.data, 32)[16] == 256);
  OK(cudaMemcpyFromSymbol(&value, gCounter, sizeof value));
  EXPECT(value == 5);
  OK(cudaDeviceCanAccessPeer(&access, 0, 1));
  EXPECT(access == 0 || access == 1);
  if (!access) return;
  OK(cudaDeviceEnablePeerAccess(1, 0));
  RETURNS(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  OK(cudaDeviceDisablePeerAccess(1));
}

// Last: it destroys the context.
static void faults() {
  trap<<<1, 1>>>();
  OK(cudaGetLastError());
  cudaError_t error = cudaDeviceSynchronize();
  EXPECT(error == cudaErrorLaunchFailure || error == cudaErrorIllegalInstruction);
  RETURNS(cudaDeviceSynchronize(), error);
  void *memory;
  EXPECT(cudaMalloc(&memory, 4) == error);
  EXPECT(cudaPeekAtLastError() == error);
  EXPECT(cudaGetLastError() == error);
  EXPECT(cudaGetLastError() == cudaSuccess);
  OK(cudaDeviceReset());
  OK(cudaGetLastError());
  // The CPU device works again; NVIDIA's driver wants a new process.
  cudaError_t after = cudaFree(nullptr);
  const char *device = std::getenv("STRATA_DEVICE");
  if (after != cudaSuccess && !(device && std::string(device) == "cpu")) {
    cudaGetLastError();
    return;
  }
  OK(after);
  Device<int> out(32);
  fill<<<1, 32>>>(out.data, 3);
  EXPECT(download(out.data, 32)[0] == 3);
}

int main(int argc, char **argv) {
  const std::vector<std::pair<std::string, void (*)()>> checks = {
      {"properties", properties}, {"launches", launches},       {"badLaunches", badLaunches},
      {"symbols", symbols},       {"managed", managed},         {"pointers", pointers},
      {"regions", regions},       {"streams", streams},         {"threads", threads},
      {"functions", functions},   {"cooperative", cooperative}, {"graphs", graphs},
      {"pools", pools},           {"libraries", libraries},     {"peers", peers},
      {"faults", faults}};
  int ran = 0;
  for (auto &[name, check] : checks) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i) wanted |= name == argv[i];
    if (!wanted) continue;
    int before = gFailures;
    check();
    cudaError_t left = cudaGetLastError();
    if (left != cudaSuccess && gFailures == before)
      fail(__LINE__, std::string("left ") + cudaGetErrorName(left));
    std::printf("%s %s\n", gFailures == before ? "ok    " : "FAILED", name.c_str());
    std::fflush(stdout);
    ++ran;
    if (name != "faults") OK(cudaDeviceReset());
  }
  return gFailures || !ran;
}
