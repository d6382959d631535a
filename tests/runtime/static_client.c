/* SPDX-License-Identifier: Apache-2.0 */
/* usage: static_client COUNT|none: checks the number of devices, or that there is no driver. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolkit/include/cuda_runtime_api.h"

int main(int argc, char **argv) {
  int count = -1, expectNone = argc > 1 && strcmp(argv[1], "none") == 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  printf("%s, %d devices\n", cudaGetErrorName(error), count);
  if (expectNone) {
    /* With NVIDIA's driver installed there is nothing to check here. */
    if (dlopen("libcuda.so.1", RTLD_NOW)) return 0;
    return !(error == cudaErrorInsufficientDriver && count == 0 && cudaGetLastError() == cudaErrorInsufficientDriver);
  }
  return !(argc > 1 && error == cudaSuccess && count == atoi(argv[1]));
}
