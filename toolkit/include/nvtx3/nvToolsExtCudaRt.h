// SPDX-License-Identifier: Apache-2.0
// NVTX's names for CUDA's objects; see nvToolsExt.h.
#ifndef STRATA_NVTX3_NVTOOLSEXTCUDART_H
#define STRATA_NVTX3_NVTOOLSEXTCUDART_H
#pragma GCC system_header

#include "cuda_runtime_api.h"
#include "nvtx3/nvToolsExt.h"

NVTX_DECLSPEC void nvtxNameCudaDeviceA(int device, const char *name) { (void)device, (void)name; }
NVTX_DECLSPEC void nvtxNameCudaDeviceW(int device, const wchar_t *name) { (void)device, (void)name; }
NVTX_DECLSPEC void nvtxNameCudaStreamA(cudaStream_t stream, const char *name) { (void)stream, (void)name; }
NVTX_DECLSPEC void nvtxNameCudaStreamW(cudaStream_t stream, const wchar_t *name) { (void)stream, (void)name; }
NVTX_DECLSPEC void nvtxNameCudaEventA(cudaEvent_t event, const char *name) { (void)event, (void)name; }
NVTX_DECLSPEC void nvtxNameCudaEventW(cudaEvent_t event, const wchar_t *name) { (void)event, (void)name; }

#ifdef UNICODE
#define nvtxNameCudaDevice nvtxNameCudaDeviceW
#define nvtxNameCudaStream nvtxNameCudaStreamW
#define nvtxNameCudaEvent nvtxNameCudaEventW
#else
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA
#endif

#endif
