// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void triple(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 3 * x[i];
}
