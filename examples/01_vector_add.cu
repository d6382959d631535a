// SPDX-License-Identifier: Apache-2.0
// The first CUDA program: one thread per element.
#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char **argv) {
  int n = argument(argc, argv, 1, 1000003);
  auto a = randomFloats(n), b = randomFloats(n);
  float *da = toDevice(a), *db = toDevice(b), *dc = poisonedDevice<float>(n);

  add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
  CHECK(cudaGetLastError());

  auto c = toHost(dc, n);
  Verdict verdict;
  for (int i = 0; i < n; ++i) verdict.expect(c[i] == a[i] + b[i], "c", i, c[i], a[i] + b[i]);
  for (float *p : {da, db, dc}) CHECK(cudaFree(p));
  return verdict.report("vector add");
}
