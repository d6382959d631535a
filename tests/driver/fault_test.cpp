// SPDX-License-Identifier: Apache-2.0
// A kernel's fault poisons its context, and nothing else. Which calls still answer was seen on an H200.
#include <thread>

#include "tests/driver/support.h"

namespace strata::test {
namespace {

class FaultTest : public Driver {
protected:
  void expectPoisoned(CUresult error) {
    CUdeviceptr d = 0;
    std::size_t size = 0;
    CUstream s = nullptr;
    CUevent e = nullptr;
    CUfunction f = nullptr;
    CUmodule m = nullptr;
    CUcontext c = nullptr;
    std::uint32_t word = 0;
    EXPECT_CU(error, cuCtxSynchronize());
    EXPECT_CU(error, cuCtxSynchronize());
    EXPECT_CU(error, cuMemGetInfo(&size, &size));
    EXPECT_CU(error, cuMemAlloc(&d, 10));
    EXPECT_CU(error, cuMemFree(memory));
    EXPECT_CU(error, cuMemcpyDtoH(&word, memory, 4));
    EXPECT_CU(error, cuStreamQuery(stream));
    EXPECT_CU(error, cuStreamSynchronize(stream));
    EXPECT_CU(error, cuEventQuery(event));
    EXPECT_CU(error, cuEventRecord(event, stream));
    EXPECT_CU(error, cuEventDestroy(event));
    EXPECT_CU(error, cuStreamDestroy(stream));
    EXPECT_CU(error, cuModuleGetFunction(&f, module, "none"));
    EXPECT_CU(error, cuModuleLoadData(&m, kPtx));
    EXPECT_CU(error, cuModuleUnload(module));
    EXPECT_CU(error, cuLaunchKernel(none, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    EXPECT_CU(error, cuStreamCreate(&s, 0));
    EXPECT_CU(error, cuEventCreate(&e, 0));
    EXPECT_CU(error, cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048));
    EXPECT_CU(error, cuCtxCreate_v2(&c, 0, 0));
  }
  void expectStillAnswering() {
    CUdevice d = 9;
    unsigned flags = 0, type = 0;
    int value = 0;
    CUgraph graph = nullptr;
    EXPECT_OK(cuCtxGetDevice(&d));
    EXPECT_OK(cuCtxGetFlags(&flags));
    EXPECT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    EXPECT_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    EXPECT_OK(cuGraphCreate(&graph, 0));
    EXPECT_OK(cuGraphDestroy(graph));
  }
  void prepare() {
    memory = words({1});
    none = function("none");
    EXPECT_OK(cuStreamCreate(&stream, 0));
    EXPECT_OK(cuEventCreate(&event, 0));
  }
  CUdeviceptr memory = 0;
  CUfunction none = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
};

TEST_F(FaultTest, IllegalAddress) {
  prepare();
  CUdeviceptr null = 0;
  EXPECT_OK(launch("store", stream, 1, 1, {&null}));
  expectPoisoned(CUDA_ERROR_ILLEGAL_ADDRESS);
  expectStillAnswering();
}

TEST_F(FaultTest, Trap) {
  prepare();
  EXPECT_OK(launch("stop", stream, 1, 1, {}));
  expectPoisoned(CUDA_ERROR_LAUNCH_FAILED);
  expectStillAnswering();
}

TEST_F(FaultTest, LaterWorkIsDroppedAndWaitersReturn) {
  prepare();
  std::atomic<CUresult> status{CUDA_SUCCESS};
  close(stream);
  EXPECT_OK(launch("stop", stream, 1, 1, {}));
  EXPECT_OK(add(memory, 1, 1, stream));
  EXPECT_OK(cuStreamAddCallback(
      stream, [](CUstream, CUresult result, void *p) { *static_cast<std::atomic<CUresult> *>(p) = result; }, &status,
      0));
  EXPECT_OK(cuEventRecord(event, stream));
  open();
  EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuEventSynchronize(event));
  EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(stream));
  if (onCpuDevice()) EXPECT_EQ(*reinterpret_cast<std::uint32_t *>(memory), 1u);
  for (int i = 0; i < 1000 && status == CUDA_SUCCESS; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(status, CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(FaultTest, OtherContextsGoOn) {
  CUcontext other = nullptr;
  ASSERT_OK(cuCtxCreate_v2(&other, 0, 0));
  CUmodule otherModule = nullptr;
  EXPECT_OK(cuModuleLoadData(&otherModule, kPtx));
  EXPECT_OK(cuCtxPopCurrent(nullptr));
  EXPECT_OK(launch("stop", nullptr, 1, 1, {}));
  EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
  EXPECT_OK(cuCtxPushCurrent(other));
  CUfunction f = nullptr;
  CUdeviceptr m = 0;
  unsigned n = 4;
  EXPECT_OK(cuMemAlloc(&m, 4));
  EXPECT_OK(cuMemsetD32(m, 1, 1));
  EXPECT_OK(cuModuleGetFunction(&f, otherModule, "add"));
  void *params[] = {&m, &n};
  EXPECT_OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_EQ(read(m, 1)[0], 5u);
  EXPECT_OK(cuCtxDestroy(other));
}

}  // namespace
}  // namespace strata::test
