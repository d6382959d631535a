// SPDX-License-Identifier: Apache-2.0
// Compiled by the project's C++ compiler, not by nvcc.
#include <cuda_runtime.h>

bool fillOnDevice(float *device, float *host, int count);

int main() {
  float *device = nullptr, host[64];
  if (cudaMalloc(reinterpret_cast<void **>(&device), sizeof host) != cudaSuccess) return 1;
  if (!fillOnDevice(device, host, 64)) return 2;
  for (int i = 0; i < 64; ++i)
    if (host[i] != static_cast<float>(i)) return 3;
  return cudaFree(device) == cudaSuccess ? 0 : 4;
}
