// SPDX-License-Identifier: Apache-2.0
// What belongs to the calling thread: its device and its last error.
#include <cstring>
#include <thread>

#include "tests/runtime/mock.h"

class Threads : public RuntimeTest {
protected:
  void failNext(CUresult failure) {
    mock().failing = "cuCtxSynchronize";
    mock().failure = failure;
  }
};

TEST_F(Threads, LastErrorIsReturnedOnceAndPeekedForEver) {
  EXPECT_EQ(cudaMalloc(nullptr, 1), cudaErrorInvalidValue);
  void *memory;
  EXPECT_EQ(cudaMalloc(&memory, 1), cudaSuccess);  // success does not cover it
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  std::thread([] { EXPECT_EQ(cudaGetLastError(), cudaSuccess); }).join();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(Threads, LastErrorIsTheLatest) {
  EXPECT_EQ(cudaMalloc(nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

// As CUDA 13's own runtime does: what sticks is the state of the context, not the last error.
TEST_F(Threads, FaultIsFoundAgainByEveryCall) {
  failNext(CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorIllegalAddress);
}

TEST_F(Threads, NotReadyIsNoFault) {
  mock().failing = "cuStreamQuery";
  mock().failure = CUDA_ERROR_NOT_READY;
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Threads, UnknownDriverCodeIsUnknown) {
  failNext(static_cast<CUresult>(12345));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorUnknown);
}

TEST_F(Threads, EveryCodeHasItsNameAndASentence) {
  EXPECT_STREQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorNoKernelImageForDevice), "cudaErrorNoKernelImageForDevice");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(-1)), "unrecognized error code");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(10)), "unrecognized error code");
}

TEST_F(Threads, DeviceIsSelectedPerThread) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  int device = -1;
  std::thread([&] { EXPECT_EQ(cudaGetDevice(&device), cudaSuccess); }).join();
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
}

TEST_F(Threads, ContextIsRetainedOncePerDevice) {
  Calls expected{"cuDevicePrimaryCtxRetain(0)", "cuDevicePrimaryCtxRetain(1)"};
  for (int i = 0; i < 4; ++i) {
    std::thread([&] {
      EXPECT_EQ(cudaSetDevice(i % 2), cudaSuccess);
      EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
    }).join();
  }
  EXPECT_EQ(mock().take(), expected);
}

TEST_F(Threads, PropertiesComeFromTheAttributes) {
  cudaDeviceProp prop;
  std::memset(&prop, 0x5a, sizeof prop);
  ASSERT_EQ(cudaGetDeviceProperties(&prop, 1), cudaSuccess);
  EXPECT_STREQ(prop.name, "mock");
  EXPECT_EQ(prop.major, 9);
  EXPECT_EQ(prop.minor, 0);
  EXPECT_EQ(prop.uuid.bytes[0], 1);
  EXPECT_EQ(prop.totalGlobalMem, size_t{1} << 30);
  EXPECT_EQ(prop.warpSize, 1010);
  EXPECT_EQ(prop.clockRate, 1013);
  EXPECT_EQ(prop.maxTexture3DAlt[2], 1049);
  EXPECT_EQ(prop.hostNumaId, 0);  // unknown to this driver
  EXPECT_EQ(prop.reserved[47], 0);
  EXPECT_EQ(cudaGetDeviceProperties(&prop, 2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetDeviceProperties(nullptr, 0), cudaErrorInvalidValue);
}

TEST_F(Threads, EntryPointsOfTheDriver) {
  void *found = this;
  cudaDriverEntryPointQueryResult status;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuInit", &found, 12000, cudaEnableDefault, &status), cudaSuccess);
  EXPECT_NE(found, nullptr);
  EXPECT_EQ(status, cudaDriverEntryPointSuccess);
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuNone", &found, 12000, cudaEnableDefault, &status), cudaSuccess);
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuNone", &found, 12000, cudaEnableDefault), cudaErrorSymbolNotFound);
  EXPECT_EQ(cudaGetDriverEntryPoint(nullptr, &found, 0), cudaErrorInvalidValue);
}
