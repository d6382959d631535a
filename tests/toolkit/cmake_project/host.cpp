// SPDX-License-Identifier: Apache-2.0
// Compiled by the project's C++ compiler, not by nvcc.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

bool fillOnDevice(float *device, float *host, int count);

int main() {
  float *device = nullptr, host[64];
  nvtxRangePush("fill");
  if (cudaMalloc(reinterpret_cast<void **>(&device), sizeof host) != cudaSuccess) return 1;
  if (!fillOnDevice(device, host, 64)) return 2;
  for (int i = 0; i < 64; ++i)
    if (host[i] != static_cast<float>(i)) return 3;
  if (nvtxRangePop() != NVTX_NO_PUSH_POP_TRACKING) return 5;
  return cudaFree(device) == cudaSuccess ? 0 : 4;
}
