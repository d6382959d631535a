// SPDX-License-Identifier: Apache-2.0
// Device code of two objects, linked by the driver: a variable and a function of the other one.
#include <cstdio>

extern __device__ int part;
__device__ int addPart(int value);

__global__ void compute(int *out) { *out = addPart(part); }

int main() {
  int *device = nullptr, host = 0;
  if (cudaMalloc(&device, sizeof host) != cudaSuccess) return 2;
  int value = 40;
  if (cudaMemcpyToSymbol(part, &value, sizeof value) != cudaSuccess) return 3;
  compute<<<1, 1>>>(device);
  if (cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 4;
  std::printf("%d\n", host);
  return host != 80;
}
