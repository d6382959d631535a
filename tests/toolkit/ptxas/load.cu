// SPDX-License-Identifier: Apache-2.0
// load FILE: loads what ptxas wrote, by each call that takes machine code, and runs its kernel `triple`.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#define CHECK(call)                                                     \
  do {                                                                  \
    CUresult result = call;                                             \
    if (result != CUDA_SUCCESS) {                                       \
      std::fprintf(stderr, "%s: error %d\n", #call, (int)result);       \
      std::exit(1);                                                     \
    }                                                                   \
  } while (0)

static int run(CUfunction function) {
  const int n = 1000;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i - 7.5f;
  CUdeviceptr device;
  CHECK(cuMemAlloc(&device, n * sizeof(float)));
  CHECK(cuMemcpyHtoD(device, host.data(), n * sizeof(float)));
  int count = n - 1;
  void *arguments[] = {&device, &count};
  CHECK(cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuMemcpyDtoH(host.data(), device, n * sizeof(float)));
  CHECK(cuMemFree(device));
  for (int i = 0; i < n; ++i)
    if (host[i] != (i < count ? 3 : 1) * (i - 7.5f)) return std::fprintf(stderr, "element %d: %g\n", i, host[i]), 1;
  return 0;
}

int main(int, char **argv) {
  std::ifstream file(argv[1], std::ios::binary);
  std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
  CUdevice device;
  CUcontext context;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CUmodule modules[3];
  CHECK(cuModuleLoadData(&modules[0], image.data()));
  CHECK(cuModuleLoadDataEx(&modules[1], image.data(), 0, nullptr, nullptr));
  CHECK(cuModuleLoad(&modules[2], argv[1]));
  int bad = 0;
  for (CUmodule module : modules) {
    CUfunction function;
    CHECK(cuModuleGetFunction(&function, module, "triple"));
    bad |= run(function);
  }
  CUlibrary library;
  CUkernel kernel;
  CUfunction function;
  CHECK(cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cuLibraryGetKernel(&kernel, library, "triple"));
  CHECK(cuKernelGetFunction(&function, kernel));
  bad |= run(function);
  std::puts(bad ? "FAILED" : "PASSED");
  return bad;
}
