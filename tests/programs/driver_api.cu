// SPDX-License-Identifier: Apache-2.0
// A program linked with -lcuda: the driver API directly and beside the runtime, found when the program runs.
#include <cuda.h>

#include <string>
#include <thread>
#include <vector>

#include "check.h"

__global__ void scale(float *data, float factor, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= factor;
}

#define CHECK_CU(call) CHECK((call) == CUDA_SUCCESS)

int main() {
  // The first call of all, from several threads at once.
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([] { CHECK_CU(cuInit(0)); });
  for (std::thread &thread : threads) thread.join();
  int count = 0;
  CHECK_CU(cuDeviceGetCount(&count));
  CHECK(count > 0);
  const char *name = nullptr;
  CHECK_CU(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &name));
  CHECK(std::string(name) == "CUDA_ERROR_INVALID_VALUE");

  CHECK_CUDA(cudaFree(nullptr));
  CUcontext context = nullptr;
  CHECK_CU(cuCtxGetCurrent(&context));
  CHECK(context != nullptr);
  std::vector<float> host(1000, 3.0f);
  CUdeviceptr data = 0;
  CHECK_CU(cuMemAlloc(&data, host.size() * sizeof(float)));
  CHECK_CU(cuMemcpyHtoD(data, host.data(), host.size() * sizeof(float)));
  cudaFunction_t kernel;
  CHECK_CUDA(cudaGetFuncBySymbol(&kernel, reinterpret_cast<const void *>(scale)));
  float factor = 2.5f;
  int size = 1000;
  void *arguments[] = {&data, &factor, &size};
  CHECK_CU(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK_CU(cuMemcpyDtoH(host.data(), data, host.size() * sizeof(float)));
  for (float value : host) CHECK(value == 7.5f);
  CHECK_CU(cuMemFree(data));
  CHECK(cuMemFree(data) == CUDA_ERROR_INVALID_VALUE);
  return 0;
}
