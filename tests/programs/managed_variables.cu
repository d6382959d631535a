// SPDX-License-Identifier: Apache-2.0
// __managed__ variables: read and written by name on both sides, whole, by element and by address.
#include "check.h"

__device__ __managed__ int counter = 7;
__managed__ float values[64];
static __managed__ struct {
  int count;
  double sum;
} total;

__global__ void work() {
  atomicAdd(&counter, 1);
  values[threadIdx.x] = 2.0f * threadIdx.x;
  if (threadIdx.x == 0) total.sum = total.count * 0.5;
}

int *addressOf(bool first) { return first ? &counter : &total.count; }

int main() {
  CHECK(counter == 7);
  counter = 100;
  *addressOf(false) = 3;
  work<<<1, 64>>>();
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(counter == 164 && *addressOf(true) == 164);
  CHECK(total.sum == 1.5);
  const float *begin = values;
  for (int i = 0; i < 64; ++i) CHECK(begin[i] == 2.0f * i);
  return 0;
}
