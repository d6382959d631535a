/* SPDX-License-Identifier: Apache-2.0 */
#include <cuComplex.h>
#include <cuda.h>
#include <cuda_fp16.h>

#include "kernels.h"

int runFromC(void) {
  int *where, value = 42, result = 0;
  dim3 one = {1, 1, 1};
  void *arguments[2];
  struct cudaDeviceProp properties;
  float4 v = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
  cuFloatComplex product = cuCmulf(make_cuFloatComplex(v.x, v.y), make_cuFloatComplex(v.z, v.w));
  __half_raw half = {0x3c00};
  arguments[0] = &where;
  arguments[1] = &value;
  if (cudaGetDeviceProperties(&properties, 0) || properties.warpSize != 32) return 1;
  if (cudaMalloc((void **)&where, sizeof *where)) return 2;
  if (cudaLaunchKernel((const void *)store, one, one, arguments, 0, 0)) return 3;
  if (cudaMemcpy(&result, where, sizeof result, cudaMemcpyDeviceToHost) || result != 42) return 4;
  if (cudaFree(where)) return 5;
  return cuCrealf(product) != -5.0f || cuCimagf(product) != 10.0f || half.x != 0x3c00 || CUDA_VERSION < 13000;
}
