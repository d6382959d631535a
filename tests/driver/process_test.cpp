// SPDX-License-Identifier: Apache-2.0
// Processes: fork, sharing memory, ending in the middle of work. Children end with _exit or exit as the test says;
// the test itself runs in a child that is made by exec, so that it starts without the parent's driver.
#include <sys/mman.h>
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

// The handle goes to the other process as text.
void publish(const CUipcMemHandle &handle) {
  std::string text;
  for (unsigned char c : handle.reserved) {
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", c);
    text += hex;
  }
  setenv("STRATA_TEST_IPC", text.c_str(), 1);
}

CUipcMemHandle published() {
  const char *text = std::getenv("STRATA_TEST_IPC");
  CUipcMemHandle handle{};
  for (std::size_t i = 0; text && i < sizeof handle.reserved; ++i)
    handle.reserved[i] = static_cast<char>(std::stoi(std::string(text + 2 * i, 2), nullptr, 16));
  return handle;
}

// Parts of a handle (driver/ipc.cpp).
enum Part : std::size_t { process = 4, file = 8, offset = 16, size = 24, pages = 32 };
template <class T>
T part(const CUipcMemHandle &handle, Part at) {
  T value;
  std::memcpy(&value, handle.reserved + at, sizeof value);
  return value;
}
template <class T>
CUipcMemHandle with(CUipcMemHandle handle, Part at, T value) {
  std::memcpy(handle.reserved + at, &value, sizeof value);
  return handle;
}

CUresult openHandle(const CUipcMemHandle &handle) {
  CUdeviceptr d = 0;
  return cuIpcOpenMemHandle(&d, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
}

TEST_F(ProcessWork, DISABLED_SharesMemory) {
  alarm(30);
  CUdeviceptr d = words({11, 22});
  CUipcMemHandle handle{};
  EXPECT_OK(cuIpcGetMemHandle(&handle, d));
  EXPECT_EQ(read(d, 2), (std::vector<std::uint32_t>{11, 22}));
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, openHandle(handle));
  EXPECT_NE(ftruncate(part<int>(handle, file), 0), 0);  // no one can take away what others have mapped
  publish(handle);
  EXPECT_EQ(runAgain("ProcessWork.DISABLED_OpensMemory"), 0);
  EXPECT_EQ(read(d, 2), (std::vector<std::uint32_t>{34, 22}));
  EXPECT_OK(cuMemFree(d));
  EXPECT_EQ(runAgain("ProcessWork.DISABLED_IsRefusedMemory"), 0);  // a stale handle
}

TEST_F(ProcessWork, DISABLED_OpensMemory) {
  const CUipcMemHandle handle = published();
  CUdeviceptr d = 0, again = 0;
  ASSERT_OK(cuIpcOpenMemHandle(&d, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  EXPECT_OK(cuIpcOpenMemHandle(&again, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  EXPECT_EQ(d, again);
  EXPECT_EQ(read(d, 2), (std::vector<std::uint32_t>{11, 22}));
  EXPECT_OK(scale(d, 1));
  EXPECT_OK(cuCtxSynchronize());
  for (std::size_t byte = 0; byte < sizeof handle.reserved; ++byte)
    for (unsigned char flip : {0x01, 0x55, 0x80}) {
      CUipcMemHandle bad = handle;
      bad.reserved[byte] ^= static_cast<char>(flip);
      EXPECT_NE(openHandle(bad), CUDA_SUCCESS) << "byte " << byte << " with " << int{flip};
    }
  for (std::uint64_t value : {std::uint64_t{1} << 40, ~std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{1} << 63}) {
    if (value) EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, openHandle(with(handle, offset, value)));
    EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, openHandle(with(handle, size, value)));
    EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, openHandle(with(handle, pages, value)));
  }
  EXPECT_OK(cuIpcCloseMemHandle(d));
  EXPECT_OK(cuIpcCloseMemHandle(d));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(d));
}

TEST_F(ProcessWork, DISABLED_IsRefusedMemory) { EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, openHandle(published())); }

// Handles that name another file which this process holds open, or one that belongs to another user.
TEST_F(ProcessWork, DISABLED_SharesWhatItShouldNot) {
  alarm(60);
  CUdeviceptr d = words({11, 22});
  CUipcMemHandle handle{};
  if (geteuid() == 0) ASSERT_EQ(seteuid(65534), 0);
  EXPECT_OK(cuIpcGetMemHandle(&handle, d));
  if (geteuid() == 65534) {
    ASSERT_EQ(seteuid(0), 0);
    publish(handle);
    EXPECT_EQ(runAgain("ProcessWork.DISABLED_IsRefusedMemory"), 0);
  }
  const auto bytes = static_cast<off_t>(part<std::uint64_t>(handle, pages));
  std::FILE *ordinary = std::tmpfile();
  const int unsealed = memfd_create("strata-ipc", 0);
  int ends[2] = {-1, -1};
  ASSERT_TRUE(ordinary && unsealed >= 0 && pipe(ends) == 0);
  ASSERT_EQ(ftruncate(fileno(ordinary), bytes) | ftruncate(unsealed, bytes), 0);
  for (int other : {fileno(ordinary), unsealed, ends[0]}) {
    publish(with(handle, file, other));
    EXPECT_EQ(runAgain("ProcessWork.DISABLED_IsRefusedMemory"), 0) << other;
  }
}

TEST(Process, IsRefusedWhatIsNoSharedMemory) { EXPECT_EQ(runAgain("ProcessWork.DISABLED_SharesWhatItShouldNot"), 0); }

TEST(Process, SharesMemoryWithAnother) { EXPECT_EQ(runAgain("ProcessWork.DISABLED_SharesMemory"), 0); }

}  // namespace
}  // namespace strata::test
