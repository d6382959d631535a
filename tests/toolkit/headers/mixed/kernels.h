/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels.cu defines and files of other compilers use. */
#include <cuda_runtime.h>

#if defined(__cplusplus)
namespace v2 {
__global__ void scale(float4 *values, float factor, int count);
}
template <typename Value>
__global__ void fill(Value *values, Value value, int count);
extern __constant__ int table[4];
extern "C" {
#endif
__global__ void store(int *where, int value);
#if defined(__cplusplus)
}
#endif

/* main.c: runs a kernel by the C interface; 0 if all is well */
#if defined(__cplusplus)
extern "C"
#endif
    int
    runFromC(void);
