// SPDX-License-Identifier: Apache-2.0
// A context with the test module, for tests of the driver through its public interface.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/driver/ptx.h"
#include "toolkit/include/cuda.h"

namespace strata::test {

inline const char *nameOf(CUresult result) {
  const char *name = nullptr;
  return cuGetErrorName(result, &name) == CUDA_SUCCESS ? name : "(unknown)";
}

#define EXPECT_CU(expected, call)                                                            \
  do {                                                                                       \
    CUresult result_ = (call);                                                               \
    EXPECT_EQ(result_, expected) << #call " gave " << ::strata::test::nameOf(result_);       \
  } while (0)
#define EXPECT_OK(call) EXPECT_CU(CUDA_SUCCESS, call)
#define ASSERT_OK(call)                                                                      \
  do {                                                                                       \
    CUresult result_ = (call);                                                               \
    ASSERT_EQ(result_, CUDA_SUCCESS) << #call " gave " << ::strata::test::nameOf(result_);   \
  } while (0)

// A fresh generator; its seed is printed with a failure.
inline std::mt19937_64 fresh() {
  static std::uint64_t seed = std::random_device{}();
  ::testing::Test::RecordProperty("seed", std::to_string(seed));
  return std::mt19937_64(seed);
}

class Driver : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_OK(cuInit(0));
    ASSERT_OK(cuDeviceGet(&device, 0));
    ASSERT_OK(cuCtxCreate_v2(&context, 0, device));
    ASSERT_OK(cuModuleLoadData(&module, kPtx));
  }
  void TearDown() override {
    CUcontext current = nullptr;
    EXPECT_OK(cuCtxGetCurrent(&current));
    EXPECT_EQ(current, context);
    EXPECT_OK(cuCtxDestroy(context));
  }

  CUfunction function(const char *name) {
    CUfunction found = nullptr;
    EXPECT_OK(cuModuleGetFunction(&found, module, name));
    return found;
  }
  CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr memory = 0;
    EXPECT_OK(cuMemAlloc(&memory, bytes));
    return memory;
  }
  // Device words with this content.
  CUdeviceptr words(const std::vector<std::uint32_t> &content) {
    CUdeviceptr memory = allocate(content.size() * 4);
    EXPECT_OK(cuMemcpyHtoD(memory, content.data(), content.size() * 4));
    return memory;
  }
  std::vector<std::uint32_t> read(CUdeviceptr memory, std::size_t count) {
    std::vector<std::uint32_t> content(count, 0xdeadbeef);
    EXPECT_OK(cuMemcpyDtoH(content.data(), memory, count * 4));
    return content;
  }
  CUresult launch(const char *name, CUstream stream, unsigned grid, unsigned block, std::vector<void *> params) {
    return cuLaunchKernel(function(name), grid, 1, 1, block, 1, 1, 0, stream, params.empty() ? nullptr : params.data(),
                          nullptr);
  }
  CUresult add(CUdeviceptr memory, unsigned n, unsigned count, CUstream stream = nullptr) {
    return launch("add", stream, 1, count, {&memory, &n});
  }
  CUresult scale(CUdeviceptr memory, unsigned count, CUstream stream = nullptr) {
    return launch("scale", stream, 1, count, {&memory});
  }
  // Starts a kernel that runs until open().
  void close(CUstream stream) {
    EXPECT_OK(cuMemHostAlloc(reinterpret_cast<void **>(&gate), 4, 0));
    std::atomic_ref(*gate).store(0);
    CUdeviceptr address = reinterpret_cast<CUdeviceptr>(gate);
    EXPECT_OK(launch("spin", stream, 1, 1, {&address}));
  }
  void open() { std::atomic_ref(*gate).store(1); }

  // False when the test binary was given NVIDIA's driver (LD_LIBRARY_PATH), which it then checks itself against.
  bool onCpuDevice() {
    char name[64] = {};
    EXPECT_OK(cuDeviceGetName(name, sizeof name, device));
    return std::string(name).starts_with("Strata");
  }

  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  std::uint32_t *gate = nullptr;
};

}  // namespace strata::test
