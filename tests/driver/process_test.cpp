// SPDX-License-Identifier: Apache-2.0
// Processes: fork, sharing memory, ending in the middle of work. Children end with _exit or exit as the test says;
// the test itself runs in a child that is made by exec, so that it starts without the parent's driver.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/driver/support.h"

namespace strata::test {
namespace {

#if defined(__has_feature) && (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
constexpr bool kLeaksAreSought = true;
#else
constexpr bool kLeaksAreSought = false;
#endif

// Runs `body` in a forked child; its exit status.
template <class Body>
int inChild(Body body) {
  pid_t child = fork();
  if (child == 0) {
    alarm(30);
    body();
    // The parent's threads, and what only their stacks know, are not here: for the leak sanitizer all that is lost.
    if (kLeaksAreSought) _exit(::testing::Test::HasFailure() ? 1 : 0);
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(Process, AForkedChildIsToldToInitialise) {
  ASSERT_OK(cuInit(0));
  CUcontext context = nullptr;
  ASSERT_OK(cuCtxCreate_v2(&context, 0, 0));
  EXPECT_EQ(inChild([] {
              int count = 0;
              CUcontext current = nullptr;
              EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
              EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuInit(0));
              EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&current));
              EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuCtxSynchronize());
            }),
            0);
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuCtxDestroy(context));
}

// Re-runs this binary with the named test below.
int runAgain(const char *filter) {
  pid_t child = fork();
  if (child == 0) {
    std::string argument = std::string("--gtest_filter=") + filter;
    execl("/proc/self/exe", "driver_test", argument.c_str(), "--gtest_also_run_disabled_tests", nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

class ProcessWork : public Driver {};

TEST_F(ProcessWork, DISABLED_ExitsWithWorkInFlight) {
  alarm(20);
  CUstream stream = nullptr;
  EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr d = words({1});
  close(stream);
  EXPECT_OK(add(d, 1, 1, stream));
  std::exit(::testing::Test::HasFailure() ? 1 : 0);
}

TEST(Process, EndsCleanlyWithWorkInFlight) { EXPECT_EQ(runAgain("ProcessWork.DISABLED_ExitsWithWorkInFlight"), 0); }

TEST_F(ProcessWork, DISABLED_SharesMemory) {
  alarm(30);
  CUdeviceptr d = words({11, 22});
  CUipcMemHandle handle{};
  EXPECT_OK(cuIpcGetMemHandle(&handle, d));
  EXPECT_EQ(read(d, 2), (std::vector<std::uint32_t>{11, 22}));
  CUdeviceptr mapped = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle(&mapped, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  std::string text;
  for (unsigned char c : handle.reserved) {
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", c);
    text += hex;
  }
  setenv("STRATA_TEST_IPC", text.c_str(), 1);
  EXPECT_EQ(runAgain("ProcessWork.DISABLED_OpensMemory"), 0);
  EXPECT_EQ(read(d, 2), (std::vector<std::uint32_t>{34, 22}));
  EXPECT_OK(cuMemFree(d));
}

TEST_F(ProcessWork, DISABLED_OpensMemory) {
  const char *text = std::getenv("STRATA_TEST_IPC");
  ASSERT_NE(text, nullptr);
  CUipcMemHandle handle{};
  for (std::size_t i = 0; i < sizeof handle.reserved; ++i)
    handle.reserved[i] = static_cast<char>(std::stoi(std::string(text + 2 * i, 2), nullptr, 16));
  CUdeviceptr d = 0;
  ASSERT_OK(cuIpcOpenMemHandle(&d, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  EXPECT_EQ(read(d, 2), (std::vector<std::uint32_t>{11, 22}));
  EXPECT_OK(scale(d, 1));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuIpcCloseMemHandle(d));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(d));
  handle.reserved[8] ^= 0x55;
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuIpcOpenMemHandle(&d, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
}

TEST(Process, SharesMemoryWithAnother) { EXPECT_EQ(runAgain("ProcessWork.DISABLED_SharesMemory"), 0); }

}  // namespace
}  // namespace strata::test
