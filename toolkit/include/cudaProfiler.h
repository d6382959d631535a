/* SPDX-License-Identifier: Apache-2.0 */
/* Profiler control of the CUDA driver API, level 13.0. */
#ifndef __cuda_profiler_h__
#define __cuda_profiler_h__
#pragma GCC system_header

#include "cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CUoutput_mode_enum {
  CU_OUT_KEY_VALUE_PAIR = 0x00,
  CU_OUT_CSV = 0x01,
} CUoutput_mode;

CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);
/* Removed in CUDA 12; the entry remains in the library and answers CUDA_ERROR_NOT_SUPPORTED. */
CUresult CUDAAPI cuProfilerInitialize(const char *configFile, const char *outputFile, CUoutput_mode outputMode);

#ifdef __cplusplus
}
#endif

#endif
