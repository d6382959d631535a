// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include "tests/runtime/mock.h"

class Launch : public RuntimeTest {};

TEST_F(Launch, PassesEverythingToTheDriver) {
  Program program({{90, "kernel", "", false}});
  EXPECT_EQ(program.launch(42), cudaSuccess);
  EXPECT_EQ(mock().take(), (Calls{"cuDevicePrimaryCtxRetain(0)", "cuModuleLoadDataEx()", "cuModuleGetFunction(kernel)",
                                  "cuLaunchKernel(kernel, 0, 2, 3, 4, 32, 1, 1, 64, 0, 42)"}));
  // The second launch finds the kernel loaded.
  EXPECT_EQ(program.launch(43), cudaSuccess);
  EXPECT_EQ(mock().take(), (Calls{"cuLaunchKernel(kernel, 0, 2, 3, 4, 32, 1, 1, 64, 0, 43)"}));
}

TEST_F(Launch, StreamZeroIsTheThreadsOwnForPerThreadPrograms) {
  Program program({{90, "kernel", "", false}});
  EXPECT_EQ(program.launch(), cudaSuccess);
  mock().take();
  EXPECT_EQ(cudaLaunchKernel_ptsz(program.kernel(), 1, 1, nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel_ptsz(program.kernel(), 1, 1, nullptr, 0, cudaStreamLegacy), cudaSuccess);
  EXPECT_EQ(mock().take(), (Calls{"cuLaunchKernel(kernel, 0, 1, 1, 1, 1, 1, 1, 0, perThread, 0)",
                                  "cuLaunchKernel(kernel, 0, 1, 1, 1, 1, 1, 1, 0, legacy, 0)"}));
}

TEST_F(Launch, EachDeviceLoadsItsOwnModule) {
  Program program({{90, "kernel", "", false}});
  EXPECT_EQ(program.launch(), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(program.launch(), cudaSuccess);
  EXPECT_EQ(mock().modulesLoaded, 2);
  EXPECT_EQ(mock().take().back(), "cuLaunchKernel(kernel, 1, 2, 3, 4, 32, 1, 1, 64, 0, 0)");
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(program.launch(), cudaSuccess);
  EXPECT_EQ(mock().modulesLoaded, 2);
}

// A program may make a context current through the driver API.
TEST_F(Launch, FollowsTheDriversCurrentContext) {
  Program program({{90, "kernel", "", false}});
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  CUcontext first, second;
  ASSERT_EQ(mock().getCurrent(&second), CUDA_SUCCESS);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  ASSERT_EQ(mock().getCurrent(&first), CUDA_SUCCESS);
  EXPECT_EQ(program.launch(), cudaSuccess);
  ASSERT_EQ(mock().setCurrent(second), CUDA_SUCCESS);
  EXPECT_EQ(program.launch(), cudaSuccess);
  EXPECT_EQ(mock().take().back(), "cuLaunchKernel(kernel, 1, 2, 3, 4, 32, 1, 1, 64, 0, 0)");
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
  ASSERT_EQ(mock().setCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(program.launch(), cudaSuccess);
  EXPECT_EQ(mock().take().back(), "cuLaunchKernel(kernel, 1, 2, 3, 4, 32, 1, 1, 64, 0, 0)");
}

TEST_F(Launch, ResetUnloadsAndTheNextLaunchLoadsAgain) {
  Program program({{90, "kernel", "", false}});
  EXPECT_EQ(program.launch(), cudaSuccess);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  mock().take();
  EXPECT_EQ(program.launch(), cudaSuccess);
  EXPECT_EQ(mock().take(), (Calls{"cuDevicePrimaryCtxRetain(0)", "cuModuleLoadDataEx()", "cuModuleGetFunction(kernel)",
                                  "cuLaunchKernel(kernel, 0, 2, 3, 4, 32, 1, 1, 64, 0, 0)"}));
}

TEST_F(Launch, ThreadsThatLaunchFirstTogetherLoadOnce) {
  for (int round = 0; round < 20; ++round) {
    Program program({{90, "kernel", "", false}});
    mock().modulesLoaded = 0;
    mock().take();
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([&, i] { EXPECT_EQ(program.launch(i), cudaSuccess); });
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(mock().modulesLoaded, 1);
    Calls calls = mock().take();
    EXPECT_EQ(std::count_if(calls.begin(), calls.end(), [](auto &c) { return c.starts_with("cuLaunchKernel"); }), 8);
  }
}

TEST_F(Launch, UnknownStubIsAnInvalidDeviceFunction) {
  int notAKernel;
  EXPECT_EQ(cudaLaunchKernel(&notAKernel, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernel(nullptr, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  Program gone({{90, "kernel", "", false}});
  const void *stub = gone.kernel();
  gone.~Program();
  EXPECT_EQ(cudaLaunchKernel(stub, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  new (&gone) Program({{90, "kernel", "", false}});
}

TEST_F(Launch, ImageWithoutTheKernelIsAnInvalidDeviceFunction) {
  Program program({{90, "something else", "", false}});
  EXPECT_EQ(program.launch(), cudaErrorInvalidDeviceFunction);
}

TEST_F(Launch, BadShapeIsAnInvalidConfiguration) {
  Program program({{90, "kernel", "", false}});
  mock().failing = "cuLaunchKernel";
  mock().failure = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(cudaLaunchKernel(program.kernel(), dim3(0, 1, 1), 32, nullptr, 0, nullptr), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(program.kernel(), 1, dim3(4000, 1, 1), nullptr, 0, nullptr),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(program.kernel(), 1, dim3(900, 900, 1), nullptr, 0, nullptr),
            cudaErrorInvalidConfiguration);
  // The shape is good; it is something else.
  EXPECT_EQ(cudaLaunchKernel(program.kernel(), 1, 32, nullptr, 1 << 30, nullptr), cudaErrorInvalidValue);
  mock().failing.clear();
  EXPECT_EQ(cudaLaunchKernel(program.kernel(), 1, 32, nullptr, size_t{1} << 32, nullptr), cudaErrorInvalidValue);
}

TEST_F(Launch, ConfigurationIsAStackPerThread) {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
  EXPECT_EQ(__cudaPushCallConfiguration(dim3(1, 2, 3), dim3(4, 5, 6), 7, cudaStreamPerThread), 0u);
  EXPECT_EQ(__cudaPushCallConfiguration(8, 9, 10, nullptr), 0u);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(grid.x, 8u);
  EXPECT_EQ(stream, nullptr);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(grid.z, 3u);
  EXPECT_EQ(block.y, 5u);
  EXPECT_EQ(shared, 7u);
  EXPECT_EQ(stream, cudaStreamPerThread);
}
