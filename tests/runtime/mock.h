// SPDX-License-Identifier: Apache-2.0
// Tests of the runtime over the mock driver, which is opened before the runtime first looks for one.
#pragma once

#include <gtest/gtest.h>

#include "tests/runtime/mock_driver.h"
#include "toolkit/include/cuda_runtime_api.h"

using Calls = std::vector<std::string>;

MockDriver &mock();

// Starts each test on device 0 with a fresh context, no last error and no recorded calls.
class RuntimeTest : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;
};

// Writes a fat binary whose entries are PTX of these architectures; the text names what tests look for.
struct Image {
  unsigned arch;
  std::string text;
  std::string name;
  bool relocatable;
};
std::vector<std::uint8_t> fatBinary(const std::vector<Image> &images);

// The entries that generated host code calls.
extern "C" {
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *hostFun, char *deviceFun, const char *deviceName,
                            int threadLimit, uint3 *, uint3 *, dim3 *, dim3 *, int *);
void __cudaRegisterVar(void **handle, char *hostVar, char *deviceAddress, const char *deviceName, int ext, size_t size,
                       int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **hostVarPtrAddress, char *deviceAddress, const char *deviceName,
                              int ext, size_t size, int constant, int global);
void __cudaRegisterTexture(void **handle, const void *hostVar, const void **deviceAddress, const char *deviceName,
                           int dim, int norm, int ext);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t cudaLaunchKernel_ptsz(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t cudaMemcpy_ptds(void *, const void *, size_t, cudaMemcpyKind);
cudaError_t cudaMemset_ptds(void *, int, size_t);
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t);
cudaError_t cudaEventRecord_ptsz(cudaEvent_t, cudaStream_t);
}

// A registered fat binary with one kernel, "kernel", and one variable of 16 bytes, "variable".
class Program {
public:
  explicit Program(const std::vector<Image> &images);
  ~Program();
  const void *kernel() const { return &stub_; }
  const void *variable() const { return &shadow_; }
  cudaError_t launch(int argument = 0);

private:
  std::vector<std::uint8_t> bytes_;
  struct {
    unsigned magic, version;
    const void *data;
    void *unused;
  } wrapper_;
  void **handle_;
  char stub_ = 0, shadow_ = 0;
};
inline Program plainProgram() { return Program({{90, "kernel variable", "", false}}); }
