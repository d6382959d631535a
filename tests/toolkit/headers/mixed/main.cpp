// SPDX-License-Identifier: Apache-2.0
// The runtime API from C++ without CUDA: kernels by their addresses, typed allocation, vectors, symbols.
#include <cstdio>

#include "kernels.h"

namespace {

int failures = 0;
void check(bool holds, const char *what) {
  if (!holds) std::printf("%s\n", what), ++failures;
}
#define CHECK(condition) check(condition, #condition)
#define RUN(call) check((call) == cudaSuccess, #call)

void launches() {
  const int count = 1000;
  float4 *values = nullptr;
  double *numbers = nullptr;
  RUN(cudaMallocManaged(&values, count * sizeof *values));
  RUN(cudaMallocHost(&numbers, count * sizeof *numbers));
  for (int i = 0; i < count; ++i) values[i] = make_float4(static_cast<float>(i), 1.0f, -1.0f, 5.0f);

  float factor = 3.0f;
  int size = count;
  void *arguments[] = {&values, &factor, &size};
  RUN(cudaLaunchKernel(reinterpret_cast<const void *>(&v2::scale), dim3((count + 255) / 256), dim3(256), arguments, 0,
                       nullptr));
  RUN(cudaLaunchKernel(v2::scale, (count + 127) / 128, 128, arguments));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(4);
  config.blockDim = 256;
  RUN(cudaLaunchKernelEx(&config, fill<double>, numbers, 2, count));
  RUN(cudaDeviceSynchronize());
  CHECK(values[7].x == 63.0f && values[999].y == 9.0f && values[0].z == -9.0f && values[500].w == 5.0f);
  CHECK(numbers[0] == 2.0 && numbers[999] == 2.0);
  RUN(cudaFree(values));
  RUN(cudaFreeHost(numbers));
}

void questions() {
  cudaFuncAttributes attributes;
  RUN(cudaFuncGetAttributes(&attributes, v2::scale));
  CHECK(attributes.maxThreadsPerBlock >= 256);
  int grid = 0, block = 0, resident = 0;
  RUN(cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill<double>));
  RUN(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, v2::scale, 128, 0));
  CHECK(grid > 0 && block > 0 && resident > 0);
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
  CHECK(format.x == 32 && format.w == 32 && format.f == cudaChannelFormatKindFloat);
  dim3 shape = make_uint3(2, 3, 4);
  CHECK(shape.z == 4 && dim3(5).y == 1 && sizeof(double4) == 32 && alignof(float4) == 16);
  cudaEvent_t event;
  RUN(cudaEventCreate(&event, cudaEventDisableTiming));
  RUN(cudaEventDestroy(event));
}

// The host's side of a device variable is another file's only with -rdc=true.
#ifdef SYMBOLS
void symbols() {
  const int twos[4] = {2, 2, 2, 2};
  int back[4] = {}, *address = nullptr;
  size_t size = 0;
  RUN(cudaMemcpyToSymbol(table, twos, sizeof twos));
  RUN(cudaMemcpyFromSymbol(back, table, sizeof back));
  RUN(cudaGetSymbolSize(&size, table));
  RUN(cudaGetSymbolAddress(&address, table));
  CHECK(back[0] == 2 && back[3] == 2 && size == sizeof table && address);
  const int ones[4] = {1, 1, 1, 1};
  RUN(cudaMemcpy(address, ones, sizeof ones, cudaMemcpyDefault));
}
#endif

}  // namespace

int main() {
#ifdef SYMBOLS
  symbols();
#endif
  launches();
  questions();
  check(runFromC() == 0, "runFromC()");
  std::printf("%s\n", failures ? "FAILED" : "PASSED");
  return failures != 0;
}
