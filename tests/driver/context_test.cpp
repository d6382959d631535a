// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <thread>

#include "tests/driver/support.h"

namespace strata::test {
namespace {

class ContextTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_OK(cuInit(0));
    ASSERT_OK(cuCtxSetCurrent(nullptr));
  }
  CUcontext current() {
    CUcontext found = nullptr;
    EXPECT_OK(cuCtxGetCurrent(&found));
    return found;
  }
};

TEST_F(ContextTest, Stack) {
  CUcontext a = nullptr, b = nullptr, popped = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&popped));
  EXPECT_OK(cuCtxCreate_v2(&a, 0, 0));
  EXPECT_OK(cuCtxCreate_v2(&b, CU_CTX_MAP_HOST, 0));
  EXPECT_EQ(current(), b);
  unsigned flags = 0;
  EXPECT_OK(cuCtxGetFlags(&flags));
  EXPECT_EQ(flags, unsigned{CU_CTX_MAP_HOST});
  EXPECT_OK(cuCtxPopCurrent(&popped));
  EXPECT_EQ(popped, b);
  EXPECT_EQ(current(), a);
  EXPECT_OK(cuCtxPushCurrent(b));
  EXPECT_OK(cuCtxDestroy(b));
  EXPECT_EQ(current(), a);
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(b));
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(b));
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(b));
  EXPECT_OK(cuCtxDestroy(a));
  EXPECT_EQ(current(), nullptr);
}

TEST_F(ContextTest, DestroyedInAnotherThread) {
  CUcontext context = nullptr;
  EXPECT_OK(cuCtxCreate_v2(&context, 0, 0));
  std::thread([&] { EXPECT_OK(cuCtxDestroy(context)); }).join();
  EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
  CUdeviceptr memory = 0;
  EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&memory, 10));
  EXPECT_OK(cuCtxSetCurrent(nullptr));
}

TEST_F(ContextTest, DestroyEndsWhatTheContextOwns) {
  CUcontext context = nullptr;
  EXPECT_OK(cuCtxCreate_v2(&context, 0, 0));
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUmodule module = nullptr;
  CUdeviceptr memory = 0;
  EXPECT_OK(cuStreamCreate(&stream, 0));
  EXPECT_OK(cuEventCreate(&event, 0));
  EXPECT_OK(cuModuleLoadData(&module, kPtx));
  EXPECT_OK(cuMemAlloc(&memory, 100));
  EXPECT_OK(cuCtxDestroy(context));
  CUcontext other = nullptr;
  EXPECT_OK(cuCtxCreate_v2(&other, 0, 0));
  CUfunction f = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(stream));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(event));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&f, module, "add"));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
  EXPECT_OK(cuCtxDestroy(other));
}

TEST_F(ContextTest, Primary) {
  CUcontext context = nullptr, again = nullptr;
  unsigned flags = 9;
  int active = 9;
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
  EXPECT_OK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_SPIN));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuDevicePrimaryCtxSetFlags(0, 0x1000));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
  EXPECT_OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(flags, unsigned{CU_CTX_SCHED_SPIN});
  EXPECT_EQ(active, 1);
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(context));
  EXPECT_OK(cuCtxSetCurrent(context));
  EXPECT_OK(cuCtxGetFlags(&flags));
  EXPECT_EQ(flags, unsigned{CU_CTX_SCHED_SPIN | CU_CTX_MAP_HOST});
  CUdeviceptr memory = 0;
  EXPECT_OK(cuMemAlloc(&memory, 10));
  EXPECT_OK(cuDevicePrimaryCtxReset(0));
  EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
  EXPECT_OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(active, 0);
  EXPECT_OK(cuDevicePrimaryCtxRelease(0));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&again, 0));
  EXPECT_EQ(again, context);
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
  EXPECT_OK(cuDevicePrimaryCtxRelease(0));
}

TEST_F(ContextTest, BadArguments) {
  CUcontext context = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuInit(1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuCtxCreate_v2(&context, 0x1000, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuCtxCreate_v2(&context, 7, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuCtxCreate_v2(&context, 3, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate_v2(&context, 0, 99));
  int foreign = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(reinterpret_cast<CUcontext>(&foreign)));
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(reinterpret_cast<CUcontext>(&foreign)));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuCtxPushCurrent(nullptr));
}

TEST_F(ContextTest, LimitsAndSettings) {
  CUcontext context = nullptr;
  ASSERT_OK(cuCtxCreate_v2(&context, 0, 0));
  std::size_t value = 0;
  EXPECT_OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(value, 1024u);
  EXPECT_OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  EXPECT_OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(value, 4096u);
  EXPECT_OK(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
  EXPECT_EQ(value, 8388608u);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuCtxSetLimit(CU_LIMIT_STACK_SIZE, std::size_t{1} << 45));
  EXPECT_CU(CUDA_ERROR_UNSUPPORTED_LIMIT, cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH));
  int least = 9, greatest = 9;
  EXPECT_OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_EQ(greatest, -5);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuCtxSetCacheConfig(static_cast<CUfunc_cache>(9)));
  unsigned version = 0;
  EXPECT_OK(cuCtxGetApiVersion(context, &version));
  EXPECT_EQ(version, 3020u);
  EXPECT_OK(cuCtxDestroy(context));
}

TEST_F(ContextTest, Devices) {
  int count = 0;
  EXPECT_OK(cuDeviceGetCount(&count));
  EXPECT_GE(count, 1);
  CUdevice device = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
  EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, count));
  char name[100] = {};
  EXPECT_OK(cuDeviceGetName(name, sizeof name, 0));
  EXPECT_GT(std::strlen(name), 3u);
  char shortName[4] = {};
  EXPECT_OK(cuDeviceGetName(shortName, 4, 0));
  EXPECT_EQ(std::string(shortName), std::string(name, 3));
  int value = 0;
  for (int attribute = 1; attribute < CU_DEVICE_ATTRIBUTE_MAX; ++attribute)
    EXPECT_OK(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(0), 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0));
  EXPECT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  EXPECT_EQ(value, 9);
  char bus[20] = {};
  EXPECT_OK(cuDeviceGetPCIBusId(bus, sizeof bus, 0));
  device = 99;
  EXPECT_OK(cuDeviceGetByPCIBusId(&device, bus));
  EXPECT_EQ(device, 0);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuDeviceGetPCIBusId(bus, 5, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuDeviceGetByPCIBusId(&device, "zzz"));
  EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId(&device, "0000:7f:00.0"));
  CUuuid a{}, b{};
  EXPECT_OK(cuDeviceGetUuid(&a, 0));
  EXPECT_OK(cuDeviceGetUuid(&b, 0));
  EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0);
}

TEST_F(ContextTest, WorkOnSeveralDevices) {
  int count = 0;
  EXPECT_OK(cuDeviceGetCount(&count));
  if (count < 2) GTEST_SKIP() << "one device; ctest runs this with STRATA_DEVICE_COUNT=2";
  CUcontext a = nullptr, b = nullptr;
  CUdeviceptr onA = 0, onB = 0;
  int can = 0;
  EXPECT_OK(cuDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  EXPECT_OK(cuCtxCreate_v2(&a, 0, 0));
  EXPECT_OK(cuMemAlloc(&onA, 4));
  EXPECT_OK(cuMemsetD32(onA, 7, 1));
  EXPECT_OK(cuCtxCreate_v2(&b, 0, 1));
  EXPECT_OK(cuMemAlloc(&onB, 4));
  EXPECT_OK(cuMemcpyPeer(onB, b, onA, a, 4));
  std::uint32_t word = 0;
  EXPECT_OK(cuMemcpyDtoH(&word, onB, 4));
  EXPECT_EQ(word, 7u);
  EXPECT_OK(cuCtxEnablePeerAccess(a, 0));
  EXPECT_CU(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(a, 0));
  EXPECT_OK(cuCtxDisablePeerAccess(a));
  EXPECT_CU(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(a));
  EXPECT_CU(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(b, 0));
  EXPECT_OK(cuCtxDestroy(b));
  EXPECT_OK(cuCtxDestroy(a));
}

}  // namespace
}  // namespace strata::test
